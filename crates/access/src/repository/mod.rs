//! The only SQL of this crate.

pub(crate) mod clients;
pub(crate) mod keys;
