//! Tests the development server from outside: files are saved, and the served backend changes.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod configs;
mod default_exports;
mod failures;
mod project;
mod reloads;
mod sockets;
mod watching;
