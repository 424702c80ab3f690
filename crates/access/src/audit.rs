//! The audit log: who changed what, and when. Entries are never changed.
//!
//! An entry is written in the transaction of its change, so that both exist or neither. Calls of clients are only in
//! the request log, except decrypted passwords.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde_json::Value;

use crate::repository::audit as repository;
pub use crate::repository::audit::{
    AuditChange, AuditEntry, AuditFilter, AuditOrder, AuditPage, each, find, list, names,
};

/// The actor of changes that are made on the server's own command line.
pub const COMMAND_LINE: &str = "command line";

impl AuditChange<'_> {
    /// Writes the change into the log, in the transaction that makes it. `details` is JSON, without
    /// secrets; `null` without details.
    pub fn note(&self, tx: &mut Tx<'_>, now: Timestamp, details: &Value) -> Result<()> {
        repository::insert(tx, now, self, &details.to_string())
    }
}
