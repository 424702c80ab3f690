//! The bridge on both stores.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]
