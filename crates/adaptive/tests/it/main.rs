//! Lessons from outside the crate.
#![allow(clippy::float_cmp, reason = "what is compared is exact: replays, multipliers, XP")]
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod choices;
mod credits;
mod kit;
mod migrating;
mod policies;
mod policy;
mod replays;
mod scores;
mod screens;
mod student_lessons;
