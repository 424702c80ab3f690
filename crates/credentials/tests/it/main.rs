//! The promises of the crate, tested with the standards' own files and independent implementations.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a failed unwrap is a failed test; what is left out is told"
)]

mod baking;
mod contexts;
mod examples;
mod interop;
mod npm;
mod oracle;
mod rewriting;
mod samples;
mod screens;
mod signing;
mod speed;
mod standards;
mod suites;
mod tokens;
mod vectors;
mod verifying;
