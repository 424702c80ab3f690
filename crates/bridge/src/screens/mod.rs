//! Queries for the console's screens about classes and school hours, one function for each page.

pub mod class;
pub mod school_hours;
