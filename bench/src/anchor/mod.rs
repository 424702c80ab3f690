//! The bare anchor: the least that axum and SQLite need to answer the same requests, with the
//! versions of both that the product uses. Ready JSON text a row, no tokens, no validation.
//!
//! It stands in no product crate, so the rules there (SQL in the store alone, axum in the server
//! alone) do not bind it: it must reach the libraries without code of Lyceum between.

mod database;
mod routes;

pub(crate) use database::{fill, open};
pub(crate) use routes::serve;
