//! The hot paths.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

#[cfg(target_arch = "x86_64")]
mod hot_paths;
