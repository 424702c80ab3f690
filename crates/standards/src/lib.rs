//! Frameworks of academic standards (CASE 1.0 and 1.1), search in them, and alignments to them.
//!
//! A record is stored as the JSON that was sent. A package is checked before the transaction that stores it, and is
//! stored or replaced completely. An alignment is a pair of names: either end may be deleted without harm.
//!
//! The standard dialect follows the official schemas exactly; platform clients also get `sourcedId` and unknown
//! members. Without a token only public frameworks are visible, and others are answered like those that do not exist.
//! Words of the search are rows of one indexed table, so both stores search alike.
//!
//! | what | where |
//! |---|---|
//! | the classes of CASE, declared once | `class` |
//! | a checked record; a package; records sent one by one | `record`, `package`, `single` |
//! | the tree of a framework; grouped by type | `tree`, `groups` |
//! | answers in each version's format | `shape` |
//! | search words, list parameters, the members that filters can name | `words`, `query`, `filter` |
//! | which records cover which standard | `alignment`, `aligned_kind` |
//! | what the console shows of a course | `screens` |
//! | errors in requests | `fault` |
//! | SQL | `repository` |
//! | limits | `limits` |

mod aligned_kind;
pub mod alignment;
pub mod class;
mod fault;
mod filter;
mod groups;
pub mod limits;
mod package;
mod query;
mod record;
pub mod repository;
pub mod screens;
mod shape;
mod single;
mod tree;
mod words;

use lyceum_store::{Migration, migration};

pub use groups::groups;
pub use package::Package;
pub use query::Query;
pub use record::identifier;
pub use shape::Shape;
pub use single::{SentRecord, read as read_single};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] =
    &[migration!(10, "standards"), migration!(20, "framework_stamps")];
