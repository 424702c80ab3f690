//! Who changed what, and when. Entries are never changed.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;

use crate::repository::audit as repository;
pub use crate::repository::audit::{By, Filter, Page, each, find, list, names};

/// Who changes something at the server's own command line.
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
    /// What was done, such as `client.create`.
    pub what: String,
    /// What it was done to, such as the client's id.
    pub subject: String,
    /// What changed, as JSON; never a secret.
    pub details: Value,
}

/// A change on its way into the log.
#[derive(Clone, Copy, Debug)]
pub struct AuditChange<'a> {
    /// The e-mail address of the person, the name of the key, or [`COMMAND_LINE`].
    pub who: &'a str,
    /// What is done: the sort of thing, a full stop, a verb in its plain form.
    pub what: &'static str,
    /// What it is done to.
    pub subject: &'a str,
}

impl AuditChange<'_> {
    /// Writes the change into the log, in the transaction that makes it. `details` is JSON, without
    /// secrets; `null` where there are none.
    pub fn note(&self, tx: &mut Tx<'_>, now: Timestamp, details: &Value) -> Result<()> {
        repository::insert(tx, now, self, &details.to_string())
    }
}
