//! Tests backends from outside, with real workerd processes and files, and unpacks hostile zips.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests panic when they fail, and print what they measured"
)]

mod archive;
mod backup_runs;
mod backups;
mod bucket_blobs;
mod deletions;
mod host;
mod installations;
mod isolation;
mod leftovers;
mod oracle;
mod quotas;
mod records;
mod screens;
mod shares;
mod taken_projects;
mod text_search;
mod uploads;
mod watchdog;
