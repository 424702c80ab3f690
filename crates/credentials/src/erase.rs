//! Erases a learner from the credentials of this server. Credentials that it signed are revoked first, so that copies
//! no longer verify; their places in the status lists stay.

use lyceum_core::redaction::Redaction;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result};
use lyceum_store::Tx;

use crate::repository::{erase as repository, records};
use crate::{clr, issued};

/// Revokes all credentials and records of a learner and removes their contents. Returns their number.
pub fn learner(tx: &mut Tx<'_>, now: Timestamp, base_url: &str, learner: &str) -> Result<u64> {
    let (credentials, records) = repository::of_learner(tx, learner)?;
    for id in &credentials {
        issued::revoke(tx, now, id, None, &Reach::Everything)?;
    }
    for id in &records {
        match clr::revoke(tx, now, base_url, id, None, &Reach::Everything) {
            // Another server signed it.
            Err(Problem { kind: ProblemKind::Invalid, .. }) => {}
            // It was deleted, or its content was erased.
            Err(Problem { kind: ProblemKind::NotFound, .. }) => records::revoke(tx, id, None, now)?,
            revoked => drop(revoked?),
        }
    }
    repository::contents(tx, learner, now)?;
    Ok((credentials.len() + records.len()) as u64)
}

/// Removes credentials of other issuers, and records, that contain one of a person's strings. Returns their number.
pub fn naming(tx: &mut Tx<'_>, now: Timestamp, redaction: &Redaction) -> Result<u64> {
    repository::naming(tx, redaction, now)
}
