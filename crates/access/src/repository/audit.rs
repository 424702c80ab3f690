//! The log of changes.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, Value};

use crate::audit::{Change, Entry};

/// Which changes a list shows; an empty one shows all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// A part of who, what, or what it was done to; letters A-Z are alike in both cases.
    pub text: String,
    /// Oldest first.
    pub oldest_first: bool,
}

/// A page of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The changes, newest first unless the filter says otherwise.
    pub entries: Vec<Entry>,
    /// How many there are on all pages.
    pub total: i64,
}

/// Adds a change.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    change: &Change<'_>,
    details: &str,
) -> Result<()> {
    tx.execute(
        "INSERT INTO audit_log (at_ms, who, what, subject, details) VALUES ($1, $2, $3, $4, $5)",
        &[
            Value::from(now.milliseconds()),
            Value::from(change.who),
            Value::from(change.what),
            Value::from(change.subject),
            Value::from(details),
        ],
    )?;
    Ok(())
}

/// A page of changes.
pub fn list(tx: &mut Tx<'_>, filter: &Filter, limit: i64, offset: i64) -> Result<Page> {
    let literal =
        filter.text.to_lowercase().replace('!', "!!").replace('%', "!%").replace('_', "!_");
    let pattern = format!("%{literal}%");
    let condition = "lower(who || ' ' || what || ' ' || subject) LIKE $1 ESCAPE '!'";
    let count = format!("SELECT COUNT(*) FROM audit_log WHERE {condition}");
    let total = tx.query_one(&count, &[Value::from(&pattern)], |row| row.int(0))?.unwrap_or(0);
    let order = if filter.oldest_first { "ASC" } else { "DESC" };
    let sql = format!(
        "SELECT seq, at_ms, who, what, subject, details FROM audit_log WHERE {condition} \
         ORDER BY seq {order} LIMIT $2 OFFSET $3"
    );
    let mut entries = Vec::new();
    tx.query(&sql, &[Value::from(&pattern), limit.into(), offset.into()], |row| {
        entries.push(entry(row)?);
        Ok(true)
    })?;
    Ok(Page { entries, total })
}

/// One change.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<Entry>> {
    let sql = "SELECT seq, at_ms, who, what, subject, details FROM audit_log WHERE seq = $1";
    tx.query_one(sql, &[id.into()], entry)
}

fn entry(row: &Row<'_>) -> Result<Entry> {
    Ok(Entry {
        id: row.int(0)?,
        at: Timestamp::from_milliseconds(row.int(1)?),
        who: row.text(2)?.to_owned(),
        what: row.text(3)?.to_owned(),
        subject: row.text(4)?.to_owned(),
        details: serde_json::from_str(row.text(5)?).map_err(Problem::internal)?,
    })
}
