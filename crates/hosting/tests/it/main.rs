//! Backends from outside: real workerd processes, real files; and zips as nobody should send them.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod archive;
mod host;
mod isolation;
mod leftovers;
mod oracle;
mod watchdog;
