//! The HTTP face: routes, authorisation, errors, OpenAPI.
//!
//! Invariants: the only crate that knows HTTP; a handler parses, calls one domain function and
//! renders; nothing is served that stands in no [`route::Area`].

pub mod answer;
pub mod auth;
pub mod context;
pub mod render;
pub mod request_id;
pub mod route;
pub mod routes;
pub mod state;
