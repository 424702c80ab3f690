//! Caliper 1.2: what an envelope may say, and the log of events.
//!
//! Invariants: no HTTP and no async; knows no roster. The log is append-only: a correction is a new
//! version beside the former one. An event's id counts once, whoever sends it and how often; which
//! version counts does not depend on the order of arrival.

mod envelope;
mod event;
pub mod repository;

use lyceum_store::Migration;

pub use envelope::{Envelope, parse};
pub use event::{Entity, Event};
pub use repository::{Appended, append, scan};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] =
    &[Migration { version: 4, name: "events", sql: include_str!("../migrations/V4__events.sql") }];
