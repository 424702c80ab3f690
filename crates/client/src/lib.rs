//! Typed calls to a Lyceum server, with client credentials.
//!
//! Where it connects to is said once, by whoever runs the program, and never follows from a request or
//! an answer: redirects are refused, no proxy is asked, and credentials travel over `https` or within
//! the machine alone. Size, time and number of calls are limited.

mod address;
mod call;
mod platform;

pub use address::Addresses;
pub use call::Credentials;
pub use platform::{Client, Day, Enrollment, Object};
