//! The hot paths.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod hot_paths;
