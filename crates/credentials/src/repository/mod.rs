//! The only SQL of the crate.

pub(crate) mod definitions;
pub(crate) mod issued;
pub(crate) mod issuers;
pub(crate) mod keys;
pub(crate) mod records;
pub(crate) mod status;
