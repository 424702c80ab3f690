//! Code that the tests and the commands of this crate share.

pub mod simulation;
