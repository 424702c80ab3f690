//! Enrollment by course, subject tracks, and exact reports on the work of students.
//!
//! Facts are computed from the event log only. The roster is consulted when facts are read.
//!
//! | what | where |
//! |---|---|
//! | enrolling in a course and unenrolling, a user's enrollments | `enroll`, `enrollments`, `resolved_enrollments` |
//! | subject tracks; applying tracks and new school years | `tracks`, `settle` |
//! | reports by day, subject and app; time zones | `analytics`, `zone` |
//! | today's work of every student, students who need attention | `today`, `need` |
//! | when organizations have school | `school_hours` |
//! | goals, progress in a course, starting over | `goals`, `progress` |
//! | actors in the event log that a caller sees | `reach` |
//! | lists of users, applications; reports on a student | `users`, `student`, `applications`, `reports` |
//! | queries for the console's screens about classes | `screens` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod analytics;
pub mod applications;
pub mod enroll;
pub mod enrollments;
pub mod goals;
pub mod limits;
pub mod need;

pub mod progress;
pub mod reach;
pub mod reports;
pub mod repository;
mod resolved_enrollments;
pub mod school_hours;
pub mod screens;
pub mod settle;
mod student;
pub mod today;
pub mod tracks;
pub mod users;
pub mod zone;

use lyceum_store::{Migration, migration};

/// The schema of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(5, "bridge")];
