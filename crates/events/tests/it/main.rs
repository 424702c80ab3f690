//! The log of events from outside, on both stores.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod log;
