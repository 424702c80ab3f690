//! The data of the console's screens about the roster: one query function for each page.

pub mod classes;
pub mod courses;
pub mod home;
pub mod imports;
pub mod search;
