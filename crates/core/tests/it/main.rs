//! The behaviour on which the other crates rely, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod body;
mod config;
mod text;
