//! The options of a sandbox, its database file and its demo data.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod database_file;
mod demo;
mod mode;
mod ports;
