//! The roster engine from outside, on both stores.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test stops where it fails, and reads best with values"
)]

mod filters;
mod fuzz;
mod kit;
mod lists;
mod naive;
mod records;
mod schema;
mod writes;
