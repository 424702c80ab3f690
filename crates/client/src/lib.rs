//! Typed calls to another Lyceum server, with client credentials.
//!
//! The address is fixed when the client is created, and no request or answer changes it: redirects and proxies are
//! refused, and credentials travel only over `https` or within the machine. Size, time and number of calls are limited.
//!
//! | what | where |
//! |---|---|
//! | allowed addresses | `address` |
//! | one call: token, request, answer, errors | `call` |
//! | records, enrollments, sums and events of the server | `platform` |
//! | limits | `limits` |

mod address;
mod call;
pub mod limits;
mod platform;

pub use address::Addresses;
pub use call::ClientCredentials;
pub use platform::{Client, DayXp, Enrollment, Object};
