//! Tools for tests over HTTP, above the server. Those that need no server are in `testkit`.
//!
//! | what | where |
//! |---|---|
//! | a real server in the process, a client for it | `server`, `client` |
//! | a receiver of webhooks | `receiver` |
//! | crashes and durability | `durability` |

pub mod client;
pub mod durability;
pub mod receiver;
pub mod server;

pub use lyceum_api::migrations;
