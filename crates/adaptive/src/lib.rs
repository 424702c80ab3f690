//! Adaptive lessons: which question comes next and why, what answers score and earn
//! (docs/decisions/023).
//!
//! Invariants: no HTTP and no async. [`engine`] and [`Policy`] are pure: no I/O, no clock, no
//! randomness that was not passed in, so that the log of an attempt replays to the bit.

pub mod answer;
pub mod attempt;
mod bank;
pub mod course_progress;
mod credit;
pub mod engine;
pub mod external;
pub mod finalize;
pub mod gradebook;
mod input;
pub mod lesson;
pub mod lesson_plans;
mod lesson_type;
mod listed;
pub mod logs;
mod memory;
pub mod new_test;
pub mod past;
pub mod placement;
pub mod policies;
mod policy;
pub mod progress;
pub mod question;
pub mod render_config;
pub mod repository;
pub mod screening;
pub mod subject_progress;
pub mod test_assignments;
pub mod test_out;
pub mod today;

use lyceum_store::Migration;

pub use bank::Banks;
pub use lesson_type::{ByDifficulty, Difficulty, LessonType};
pub use memory::Memory;
pub use policy::{Band, Gate, Policy, Scoring, Shipped, Step, Strategy};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 8, name: "adaptive", sql: include_str!("../migrations/V8__adaptive.sql") },
    Migration {
        version: 9,
        name: "around_lessons",
        sql: include_str!("../migrations/V9__around_lessons.sql"),
    },
    Migration {
        version: 12,
        name: "attempts_without_event_time",
        sql: include_str!("../migrations/V12__attempts_without_event_time.sql"),
    },
    Migration {
        version: 19,
        name: "worth_of_attempts",
        sql: include_str!("../migrations/V19__worth_of_attempts.sql"),
    },
    Migration {
        version: 32,
        name: "failed_attempts",
        sql: include_str!("../migrations/V32__failed_attempts.sql"),
    },
    Migration {
        version: 65,
        name: "shares_and_units",
        sql: include_str!("../migrations/V65__shares_and_units.sql"),
    },
    Migration {
        version: 79,
        name: "assignments_by_value",
        sql: include_str!("../migrations/V79__assignments_by_value.sql"),
    },
];
