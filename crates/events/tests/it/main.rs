//! The log of events from outside, on both stores.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where it fails, and says what it leaves out"
)]

use lyceum_core::time::Timestamp;

mod blocks;
mod claiming;
mod following;
mod listing;
mod log;
mod official;
mod open_writes;
mod partitions;
mod refusals;
mod runs;
mod schemas;
mod screens;
mod summing;
mod validation;

/// A time after all events of these tests: 2100-01-01.
const AFTER_ALL: Timestamp = Timestamp::from_milliseconds(4_102_444_800_000);
