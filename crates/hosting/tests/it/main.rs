//! Backends from outside: real workerd processes, real files.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod host;
mod isolation;
mod oracle;
mod watchdog;
