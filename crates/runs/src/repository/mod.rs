//! The SQL of this crate.

mod keys;
mod runs;

pub use keys::{KeyNumber, UniqueKeys, hold_lists};
pub use runs::{RunTables, Runs};
