//! Adaptive lessons: which question comes next and why, what answers score and earn
//! (docs/decisions/023).
//!
//! Invariants: no HTTP and no async. [`engine`] and [`Policy`] are pure: no I/O, no clock, no
//! randomness that was not passed in, so that the log of an attempt replays to the bit.

pub mod answer;
pub mod attempt;
mod bank;
mod credit;
pub mod engine;
pub mod finalize;
pub mod gradebook;
pub mod lesson;
mod lesson_type;
pub mod past;
pub mod policies;
mod policy;
pub mod progress;
pub mod question;
pub mod repository;

use lyceum_store::Migration;

pub use bank::Banks;
pub use lesson_type::{ByDifficulty, Difficulty, LessonType};
pub use policy::{Band, Gate, Policy, Scoring, Shipped, Step, Strategy};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 8,
    name: "adaptive",
    sql: include_str!("../migrations/V8__adaptive.sql"),
}];
