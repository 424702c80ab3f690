//! What the tests of this crate share with its commands.

pub mod simulation;
