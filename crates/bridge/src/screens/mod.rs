//! Queries for the console's screens about classes, one function for each page.

pub mod class;
