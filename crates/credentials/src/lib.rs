//! Credentials that anyone can verify: Open Badges 3.0 and Comprehensive Learner Records 2.0.
//!
//! What signs, checks, bakes and reads is pure: no file, no network, no clock. What a check needs
//! from elsewhere, a key document or a status list, is named first and passed in.

pub mod badge_image;
pub mod baking;
mod canonize;
pub mod did;
pub mod json;
mod jsonld;
pub mod jwt;
pub mod key;
pub mod proof;
mod rdf;
pub mod status_list;
pub mod verify;

pub use canonize::canonize;

/// An instant in whole seconds, as credentials write it: `2026-01-15T08:00:00Z`.
pub fn seconds(instant: lyceum_core::time::Timestamp) -> String {
    let text = instant.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}
