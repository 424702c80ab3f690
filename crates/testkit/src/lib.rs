//! What tests share: a private PostgreSQL cluster, and a body run on both stores.

pub mod postgres;

pub use postgres::{both_stores, fresh_database};
