//! What the console's screens about students show: one query function for each page.

pub mod student;
pub mod students;
pub mod today;
