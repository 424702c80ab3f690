//! The content of the console's screen about courses: one query function for each page.

pub mod course;
