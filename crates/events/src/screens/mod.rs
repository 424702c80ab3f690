//! What the console's screen about events shows: one query function for each page.

pub mod log;
pub mod rejected;
