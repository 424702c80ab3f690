//! The log of events from outside, on both stores.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where it fails, and says what it leaves out"
)]

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
