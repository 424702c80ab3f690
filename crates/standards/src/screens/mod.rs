//! What the console's screen about courses shows: one query function for each page.

pub mod course;
