//! Who changed what, and when. Entries are never changed.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;

use crate::repository::audit as repository;
pub use crate::repository::audit::{AuditFilter, AuditOrder, AuditPage, each, find, list, names};

/// The actor of changes that are made on the server's own command line.
pub const COMMAND_LINE: &str = "command line";

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditEntry {
    /// Its number; later changes have greater ones.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// The e-mail address of the person, the name of the key, or [`COMMAND_LINE`].
    pub who: String,
    /// The action, such as `client.create`.
    pub what: String,
    /// The target of the action, such as a client's id.
    pub subject: String,
    /// The change as JSON, without secrets.
    pub details: Value,
}

/// A change on its way into the log.
#[derive(Clone, Copy, Debug)]
pub struct AuditChange<'a> {
    /// The e-mail address of the person, the name of the key, or [`COMMAND_LINE`].
    pub who: &'a str,
    /// The action: a noun, a full stop and a verb, such as `client.create`.
    pub what: &'static str,
    /// The target of the action.
    pub subject: &'a str,
}

impl AuditChange<'_> {
    /// Writes the change into the log, in the transaction that makes it. `details` is JSON, without
    /// secrets; `null` without details.
    pub fn note(&self, tx: &mut Tx<'_>, now: Timestamp, details: &Value) -> Result<()> {
        repository::insert(tx, now, self, &details.to_string())
    }
}
