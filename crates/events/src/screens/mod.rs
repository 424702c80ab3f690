//! The data of the console's screen about events: one query function for each page.

pub mod log;
pub mod rejected;
