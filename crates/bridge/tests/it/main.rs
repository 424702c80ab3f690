//! The bridge on both stores.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod attribution;
mod facts;
mod kit;
mod mastered;
mod need;
mod school_hours;
mod settling;
mod weekly;
mod zones;
