//! The only SQL of this crate.

pub mod attempts;
pub(crate) mod banks;
pub mod log;
pub(crate) mod policies;
