//! What every other crate of Lyceum stands on: problems, time, randomness, limits, configuration.
//!
//! Invariants: this crate knows no HTTP, no SQL and no file formats but its own configuration.

pub mod config;
mod dialect;
pub mod filter;
pub mod json;
pub mod limits;
pub mod origins;
pub mod problem;
pub mod random;
pub mod text;
pub mod time;

pub use dialect::Dialect;
pub use problem::{Detail, Kind as ProblemKind, Problem, Result};
