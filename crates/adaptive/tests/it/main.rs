//! Lessons from outside the crate.
#![allow(clippy::float_cmp, reason = "what is compared is exact: replays, multipliers, XP")]
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]
#![allow(clippy::needless_pass_by_value, reason = "callers write JSON in place")]

mod assigned;
mod attempts;
mod choices;
mod credits;
mod kit;
mod learning;
mod lesson_plans;
mod new_tests;
mod partial;
mod placement;
mod policies;
mod policy;
mod replays;
mod school;
mod scores;
mod screens;
mod student_lessons;
mod test_outs;
