//! Credentials that anyone can verify: Open Badges 3.0 and Comprehensive Learner Records 2.0.
//!
//! Signing, verifying and baking are pure: no files, no network, no clock. A check first names the documents that it
//! needs from elsewhere; the caller passes them in.
//!
//! | what | where |
//! |---|---|
//! | badge definitions, issuing a badge, stored credentials | `definition`, `award`, `issued` |
//! | learner records | `clr` |
//! | issuers, their keys at rest | `issuer`, `keys` |
//! | ids of parts that have none | `node_ids` |
//! | revocation: the entry of a credential, the lists | `status`, `status_list` |
//! | verifying: one named check at a time | `verify`, `open_badges_2` |
//! | embedded proofs and their suites; JWTs | `proof`, `jwt` |
//! | public keys and DIDs | `key`, `did` |
//! | the canonical text that proofs sign | `canonize`, `jsonld`, `rdf`, `json` |
//! | credentials in PNG and SVG, the default image of a badge | `baking`, `badge_image` |
//! | what the console shows of badges and records | `screens` |
//! | documents that clients send and read, request bodies | `documents`, `body` |
//! | erasing a learner | `erase` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod badge_image;
pub mod baking;
mod canonize;
pub mod did;
pub mod json;
mod jsonld;
pub mod jwt;
pub mod key;
pub mod limits;
mod node_ids;
mod open_badges_2;
pub mod proof;
mod rdf;
pub mod status_list;
pub mod verify;

pub mod award;
pub mod body;
pub mod clr;
pub mod definition;
pub mod documents;
pub mod erase;
pub mod issued;
pub mod issuer;
pub mod keys;
mod repository;
pub mod screens;
pub mod status;

pub use canonize::canonize;
pub(crate) use canonize::canonize_with;
pub use repository::{changed_badges, changed_definitions, changed_learner_records};

use lyceum_store::{Migration, migration};

/// The contexts of the badges that are issued here.
pub const CONTEXTS: [&str; 2] = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
];

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(9, "credentials"), migration!(21, "changes")];

/// An instant in whole seconds, as credentials write it: `2026-01-15T08:00:00Z`.
pub fn seconds(instant: lyceum_core::time::Timestamp) -> String {
    let text = instant.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}
