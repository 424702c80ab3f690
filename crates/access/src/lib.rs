//! Who may call: clients and their secrets, scopes, tokens, signing keys.
//!
//! Invariants: no HTTP and no async; everything works on a [`lyceum_store::Tx`] with the time
//! passed in. A secret leaves this crate once, when it is made; at rest there is its SHA-256 alone.
//! A private key is at rest only under the [`Master`] key.

pub mod client;
mod keyring;
mod master;
mod repository;
mod scope;
mod secret;
mod token;

use lyceum_store::Migration;

pub use client::{Client, NewClient, Refusal};
pub use keyring::{Keyring, Realm};
pub use master::Master;
pub use scope::{Rights, Scope, Scopes, UnknownScope};
pub use token::{Grant, Issued, Player, TokenFault};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] =
    &[Migration { version: 2, name: "access", sql: include_str!("../migrations/V2__access.sql") }];
