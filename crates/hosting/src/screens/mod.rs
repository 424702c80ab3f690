//! The content of the console's screens about projects and the whole platform: one query function for each page, one
//! function for each form.

pub mod home;
pub mod new_key;
pub mod project;
pub mod projects;
