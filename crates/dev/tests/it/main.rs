//! A backend under development, from outside: files are saved, and what is served changes.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod configs;
mod project;
mod reloads;
mod sockets;
