//! The bridge: enrolling by course, subject tracks, and exact sums of what students did.
//!
//! This crate knows no HTTP and no async; it works on a store transaction. Invariant: facts are a
//! pure fold over the log of events; the roster plays no part in them until they are read.

pub mod analytics;
pub mod applications;
pub mod classes;
pub mod enroll;
pub mod enrollments;
pub mod goals;
pub mod need;
mod places;
pub mod progress;
pub mod reports;
pub mod repository;
pub mod settle;
mod student;
pub mod today;
pub mod tracks;
pub mod users;
pub mod zone;

use lyceum_store::Migration;

/// The schema of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 5, name: "facts", sql: include_str!("../migrations/V5__facts.sql") },
    Migration { version: 6, name: "tracks", sql: include_str!("../migrations/V6__tracks.sql") },
    Migration {
        version: 11,
        name: "facts_of_events",
        sql: include_str!("../migrations/V11__facts_of_events.sql"),
    },
    Migration {
        version: 78,
        name: "tracks_by_value",
        sql: include_str!("../migrations/V78__tracks_by_value.sql"),
    },
];
