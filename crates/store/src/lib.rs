//! One transaction interface over SQLite (embedded) and PostgreSQL (scale-out).
//!
//! Domain code is synchronous over a [`Tx`]; only [`Db`] knows threads and futures. The same SQL
//! text runs on both stores: placeholders are `$1…$n` numbered in order of first use; what cannot
//! be said the same way on both is a function of [`dialect`].
//!
//! Invariants: an answered write is durable; a transaction in which a statement failed is never
//! committed; a read sees one snapshot; no `postgres` client lives on a thread of the runtime.
//!
//! Backup: [`Db::backup_to`] copies an SQLite file while writes go on. PostgreSQL is backed up
//! with its own tools (`pg_dump -Fc`, `pg_restore`), which the command line runs.

mod backup;
mod checkpoint;
mod db;
pub mod dialect;
mod durable;
mod inspect;
pub mod jobs;
pub mod migrate;
mod postgres;
mod probe;
mod problem;
pub mod spool;
mod sql;
mod sqlite;
mod tally;
mod task;
mod tx;
mod value;

pub use backup::{restore, settle};
pub use db::{Db, Options, Target};
pub use dialect::Dialect;
pub use inspect::{Inspection, inspect};
pub use migrate::Migration;
pub use probe::Writes;
pub use problem::is_too_slow;
pub use spool::Spool;
pub use sql::{Param, Sql};
pub use tx::{Horizon, Row, Tx};
pub use value::Value;

/// What the store's tables need beyond their first form, which each database has.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 62,
    name: "job_tries",
    sql: include_str!("../migrations/V62__job_tries.sql"),
}];
