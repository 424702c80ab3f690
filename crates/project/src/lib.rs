//! The project of an app developer: what its config file says.
//!
//! Invariants: nothing is executed; every value knows its place in the file, so that a tool can name
//! it, or write another one there and leave the rest as it is.

mod config;
pub mod literal;

pub use config::{
    Config, Course, Database, FILES, Integrations, Lms, Organization, Strategy, find, slug_of,
};
