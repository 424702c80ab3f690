//! Caliper 1.2 and 1.1: what an envelope may say, and the log of events.
//!
//! Invariants: no HTTP and no async; knows no roster. The log is append-only: a correction is a new
//! version beside the former one. An event's id counts once, whoever sends it and how often; which
//! version counts does not depend on the order of arrival.

mod check;
mod custom;
mod envelope;
mod event;
pub mod facts;
mod faults;
mod profiles;
mod reader;
pub mod repository;
mod tree;
mod vocabulary;
mod words;

use lyceum_store::Migration;

pub use envelope::{Envelope, parse};
pub use event::{Entity, Event, local_id};
pub use repository::{
    Actor, Appended, Known, Learned, Logged, Sent, actors_behind, actors_called, append,
    append_all, last_actor, of_actor, scan,
};

/// The context of Caliper 1.2, which is the version of an envelope, too.
pub const CONTEXT: &str = "http://purl.imsglobal.org/ctx/caliper/v1p2";

/// The contexts that are accepted, all under the rules of Caliper 1.2: the published sensors name 1.1 alone.
pub const CONTEXTS: [&str; 2] = [CONTEXT, "http://purl.imsglobal.org/ctx/caliper/v1p1"];

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 4, name: "events", sql: include_str!("../migrations/V4__events.sql") },
    Migration {
        version: 10,
        name: "event_facts",
        sql: include_str!("../migrations/V10__event_facts.sql"),
    },
    Migration {
        version: 57,
        name: "event_runs",
        sql: include_str!("../migrations/V57__event_runs.sql"),
    },
    Migration {
        version: 59,
        name: "event_blocks",
        sql: include_str!("../migrations/V59__event_blocks.sql"),
    },
    Migration {
        version: 63,
        name: "event_storage",
        sql: include_str!("../migrations/V63__event_storage.sql"),
    },
    Migration {
        version: 64,
        name: "event_spans",
        sql: include_str!("../migrations/V64__event_spans.sql"),
    },
];
