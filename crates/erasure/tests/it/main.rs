//! Exports and erasures of persons, on both stores.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod inventory;
