//! The binary from outside: what it prints, where, and how it exits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod admin;
mod clients;
mod config;
mod serve;
mod transcript;
mod usage;
