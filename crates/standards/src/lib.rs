//! Frameworks of academic standards as CASE 1.0 and 1.1 exchange them, search in them, and the
//! alignment of other records to their items (docs/decisions/028).
//!
//! Invariants: no HTTP and no async. A record is its JSON as it was sent; reading a package parses
//! none of it. A package is checked before the transaction that stores it, and stored or replaced
//! whole. An alignment is two names: either end may be gone without harm.

pub mod alignment;
pub mod class;
mod fault;
mod groups;
mod package;
mod query;
mod record;
pub mod repository;
mod shape;
mod single;
mod tree;
mod words;

use lyceum_store::Migration;

pub use groups::groups;
pub use package::Package;
pub use query::Query;
pub use record::identifier;
pub use shape::Shape;
pub use single::{Sent, read as read_single};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 15,
    name: "standards",
    sql: include_str!("../migrations/V15__standards.sql"),
}];
