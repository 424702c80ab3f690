//! The log of changes.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Result};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{json_in, ms};

/// A change to a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectChange {
    /// The entry's number; later changes have higher numbers.
    pub id: i64,
    /// When the change was made.
    pub at: Timestamp,
    /// The actor: the id of a person, an API key or a client, or an email address.
    pub who: Message,
    /// The action, such as `deploy`, `rollback` or `promote`.
    pub what: String,
    /// The change. It contains only the names of secrets.
    #[schemars(with = "Map<String, Value>")]
    pub details: Value,
}

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (slug, who): (&str, &str),
    what: &str,
    details: &str,
) -> Result<()> {
    tx.send(
        "INSERT INTO project_audit (slug, at_ms, who, what, details) VALUES ($1, $2, $3, $4, $5)",
        &[slug.into(), ms(now), who.into(), what.into(), details.into()],
    )
}

pub(crate) fn list(
    tx: &mut Tx<'_>,
    slug: &str,
    before: i64,
    most: i64,
) -> Result<Vec<ProjectChange>> {
    let sql = "SELECT seq, at_ms, who, what, details FROM project_audit \
               WHERE slug = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
    let params = [slug.into(), before.into(), most.into()];
    tx.all(sql, &params, |row| {
        Ok(ProjectChange {
            id: row.int(0)?,
            at: row.time(1)?,
            who: Message::untranslated(row.string(2)?),
            what: row.string(3)?,
            details: json_in(row.text(4)?)?,
        })
    })
}
