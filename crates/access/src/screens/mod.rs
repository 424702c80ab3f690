//! The data of the console's screens about access and the server: one query function for each page, one function for
//! each form.

pub mod clients;
pub mod keys;
pub mod search;
pub mod system;
