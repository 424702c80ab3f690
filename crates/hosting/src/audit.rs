//! The audit log of projects: who changed what, and when. Entries are never changed.

use std::collections::HashMap;

use lyceum_access::{api_key, client, person};
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

use crate::limits;
use crate::repository::audit as repository;

pub use crate::repository::audit::ProjectChange;

/// Writes an entry in the transaction of the change.
pub fn note(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (slug, who): (&str, &str),
    what: &str,
    details: &Value,
) -> Result<()> {
    repository::insert(tx, now, (slug, who), what, &details.to_string())
}

/// A page of the entries before that number, newest first.
pub fn list(tx: &mut Tx<'_>, slug: &str, before: Option<i64>) -> Result<Vec<ProjectChange>> {
    repository::list(tx, slug, before.unwrap_or(i64::MAX), limits::AUDIT_PAGE_MAX_RECORDS)
}

/// The newest entries of a project, at most so many.
pub fn newest(tx: &mut Tx<'_>, slug: &str, most: i64) -> Result<Vec<ProjectChange>> {
    repository::list(tx, slug, i64::MAX, most)
}

/// The names of people, API keys and clients, by their ids.
pub(crate) struct CallerNames(HashMap<String, Message>);

impl CallerNames {
    pub(crate) fn load(tx: &mut Tx<'_>) -> Result<Self> {
        let people = person::list(tx)?
            .into_iter()
            .map(|person| (person.id, Message::untranslated(person.email)));
        let keys = api_key::list(tx)?.into_iter();
        let keys = keys.map(|key| (key.id, message!("the key '{key.name}'")));
        let clients = client::list(tx)?.into_iter();
        let clients = clients.map(|client| (client.id, message!("the client '{client.name}'")));
        Ok(Self(people.chain(keys).chain(clients).collect()))
    }

    /// The name; the id itself if it belongs to nobody any more.
    pub(crate) fn of(&self, id: &str) -> Message {
        self.0.get(id).cloned().unwrap_or_else(|| Message::untranslated(id))
    }
}
