//! Enrolling students by course, subject tracks, and exact sums of what students did.
//!
//! Facts are computed from the event log alone. The roster is consulted when they are read.
//!
//! | what | where |
//! |---|---|
//! | enrolling in a course and ending it, a user's enrollments | `enroll`, `enrollments`, `places` |
//! | subject tracks; applying tracks and new school years | `tracks`, `settle` |
//! | reports by day, subject and app; time zones | `analytics`, `zone` |
//! | today's work of every student, who needs help and why | `today`, `need` |
//! | goals, progress in a course, starting over | `goals`, `progress` |
//! | lists of users, applications; reports on a student | `users`, `student`, `applications`, `reports` |
//! | what the console shows of a class | `screens` |
//! | SQL | `repository` |

pub mod analytics;
pub mod applications;
pub mod enroll;
pub mod enrollments;
pub mod goals;
pub mod need;
mod places;
pub mod progress;
pub mod reports;
pub mod repository;
pub mod screens;
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
