//! Webhooks from outside the crate, on both stores.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod attempts;
mod kit;
mod owners;
mod receivers;
mod stored;
