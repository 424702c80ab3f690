//! Backends from outside: real workerd processes, real files; and zips as nobody should send them.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where it fails, and says what it measured"
)]

mod archive;
mod backups;
mod host;
mod isolation;
mod leftovers;
mod oracle;
mod quotas;
mod records;
mod shares;
mod uploads;
mod watchdog;
