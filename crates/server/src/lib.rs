//! The HTTP face: routes, authorisation, errors, OpenAPI.
//!
//! Invariants: the only crate that knows HTTP; a handler parses, calls one domain function and
//! renders; nothing is served that stands in no [`route::Area`]; a problem becomes a status code
//! and a body in [`render`] alone.

mod admission;
mod aliases;
pub mod answer;
mod apart;
pub mod auth;
pub mod backup;
mod body;
mod compression;
mod connection;
pub mod context;
mod cors;
mod descriptors;
mod dispatch;
mod etag;
mod fixed;
mod guarded;
mod hosted;
mod imports;
mod intake;
mod learning;
mod listen;
pub mod metrics;
mod multipart;
pub mod openapi;
mod paging;
mod parameters;
mod proxy;
pub mod render;
pub mod request_id;
pub mod route;
pub mod routes;
mod server;
mod sse;
pub mod state;
mod table;
mod tls;

pub use learning::{Elsewhere, Learning};
pub use server::{Server, stop_signal};

/// The migrations of every crate that a server works with, in order.
pub fn migrations() -> Vec<lyceum_store::Migration> {
    [
        lyceum_store::MIGRATIONS,
        lyceum_access::MIGRATIONS,
        lyceum_roster::MIGRATIONS,
        lyceum_events::MIGRATIONS,
        lyceum_bridge::MIGRATIONS,
        lyceum_assessment::MIGRATIONS,
        lyceum_adaptive::MIGRATIONS,
        lyceum_games::MIGRATIONS,
        lyceum_credentials::MIGRATIONS,
        lyceum_standards::MIGRATIONS,
        lyceum_hosting::MIGRATIONS,
    ]
    .concat()
}
