//! Credentials that anyone can verify: Open Badges 3.0 and Comprehensive Learner Records 2.0.
//!
//! What signs, checks, bakes and reads is pure: no file, no network, no clock. What a check needs
//! from elsewhere, a key document or a status list, is named first and passed in.
//!
//! What issues and keeps works on a store transaction: keys and profiles of issuers ([`keys`],
//! [`issuer`]), definitions ([`definition`]), awards ([`award`]), credentials ([`issued`]), revocation
//! ([`status`]), learner records ([`clr`]).

pub mod badge_image;
pub mod baking;
mod canonize;
pub mod did;
pub mod json;
mod jsonld;
pub mod jwt;
pub mod key;
mod open_badges_2;
pub mod proof;
mod rdf;
pub mod status_list;
pub mod verify;

pub mod award;
pub mod body;
pub mod clr;
pub mod definition;
pub mod issued;
pub mod issuer;
pub mod keys;
mod repository;
mod secret;
pub mod status;

pub use canonize::canonize;
pub(crate) use canonize::canonize_with;

use lyceum_store::Migration;

/// The contexts of the badges that are issued here.
pub const CONTEXTS: [&str; 2] = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
];

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 13,
        name: "credentials",
        sql: include_str!("../migrations/V13__credentials.sql"),
    },
    Migration { version: 14, name: "clr", sql: include_str!("../migrations/V14__clr.sql") },
    Migration {
        version: 80,
        name: "credentials_deleted",
        sql: include_str!("../migrations/V80__credentials_deleted.sql"),
    },
];

/// An instant in whole seconds, as credentials write it: `2026-01-15T08:00:00Z`.
pub fn seconds(instant: lyceum_core::time::Timestamp) -> String {
    let text = instant.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}
