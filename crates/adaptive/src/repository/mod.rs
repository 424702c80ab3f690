//! The only SQL of this crate.

pub(crate) mod policies;
