//! What the console's screens about classes show: one query function for each page.

pub mod class;
