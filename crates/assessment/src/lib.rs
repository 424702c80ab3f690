//! Stored assessment content: items, tests and stimuli with their former versions, banks of tests,
//! feedback on lessons and questions (docs/decisions/021).
//!
//! Invariants: no HTTP and no async. The XML is the document; the JSON form beside it is made from it
//! when it is written, so that reading and listing parse no XML. A document is parsed before the
//! transaction that writes it. A version number of an identifier is never given twice.

pub mod banks;
mod body;
mod change;
mod delete;
mod draft;
pub mod feedback;
mod kind;
mod query;
pub mod repository;
mod scoring;
mod stored;
pub mod structure;
pub mod validate;

use lyceum_store::Migration;

pub use body::{Object, parse, text};
pub use change::Change;
pub use delete::delete_any;
pub use draft::{Draft, Metadata, Reference};
pub use kind::Kind;
pub use query::{Page, Parameters, Query};
pub use scoring::{Items, Scored, candidate, full_score, respond, respond_validated};
pub use stored::Stored;

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 7,
    name: "assessment",
    sql: include_str!("../migrations/V7__assessment.sql"),
}];
