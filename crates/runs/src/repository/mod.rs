//! The SQL of this crate.

mod chunks;
mod keys;
mod runs;

pub use keys::{KeyNumber, UniqueKeys, hold_lists};
pub use runs::{RunTables, Runs};
