//! The SQL of this crate.

mod chunks;
mod keys;
mod runs;

pub use keys::{KeyNumber, UniqueKeys, try_lock_lists};
pub use runs::{RunTables, Runs};
