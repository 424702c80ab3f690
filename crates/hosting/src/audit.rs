//! Who changed what of a project, and when. Entries are never changed.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;

use crate::repository::audit as repository;

/// A change that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its number; later changes have greater ones.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// The client that asked for it.
    pub who: String,
    /// `deploy`, `rollback`.
    pub what: String,
    /// What changed; of secrets the names alone.
    pub details: Value,
}

/// Writes an entry, in the transaction of the change itself.
pub fn note(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (slug, who): (&str, &str),
    what: &str,
    details: &Value,
) -> Result<()> {
    repository::insert(tx, now, (slug, who), what, &details.to_string())
}

/// The entries before the one of that number, newest first, one page of them.
pub fn list(tx: &mut Tx<'_>, slug: &str, before: Option<i64>) -> Result<Vec<Entry>> {
    repository::list(tx, slug, before.unwrap_or(i64::MAX))
}
