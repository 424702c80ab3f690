//! The game platform: players, games, inventory, scores, sessions, states, levels, achievements.
//!
//! This crate knows no HTTP and no async; it works on a store transaction. Invariants: a player is
//! a user of the roster or a visitor; what a player earns is written in the transaction that earns it; leader
//! boards are exact, because each score is compared with the best ones as it comes.

pub mod achievements;
pub mod games;
mod input;
pub mod inventory;
pub mod levels;
pub mod lms;
pub mod notifications;
pub mod once;
pub mod players;
pub mod reach;
mod repository;
pub mod scores;
pub mod sessions;
pub mod states;
pub mod visitors;

pub use input::{Metadata, Page, read};

use lyceum_store::Migration;

/// The schema of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 16, name: "games", sql: include_str!("../migrations/V16__games.sql") },
    Migration { version: 17, name: "lms", sql: include_str!("../migrations/V17__lms.sql") },
    Migration {
        version: 73,
        name: "visitors",
        sql: include_str!("../migrations/V73__visitors.sql"),
    },
    Migration {
        version: 82,
        name: "lms_records",
        sql: include_str!("../migrations/V82__lms_records.sql"),
    },
    Migration {
        version: 83,
        name: "request_scopes",
        sql: include_str!("../migrations/V83__request_scopes.sql"),
    },
];
