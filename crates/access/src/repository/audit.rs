//! The log of changes.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::contains;
use lyceum_store::{Row, SqlDialect, Tx, Value};
use serde::Serialize;

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
    pub details: serde_json::Value,
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

/// The changes that a list shows. An empty filter shows all, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// A part of who, what, or what it was done to; letters A-Z are alike in both cases.
    pub text: String,
    /// The actor; empty means all.
    pub who: String,
    /// The action; empty means all.
    pub what: String,
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The instant behind the last.
    pub to: Option<Timestamp>,
    /// The order of the list; equal entries are ordered by time.
    pub by: AuditOrder,
    /// From the first to the last; by time: the oldest first.
    pub is_ascending: bool,
}

/// The orders of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditOrder {
    /// When it was done.
    #[default]
    Time,
    /// By actor.
    Who,
    /// By action.
    What,
    /// By target.
    Subject,
}

impl AuditFilter {
    /// The conditions, and what `$1` to `$5` are in them.
    fn conditions(&self, dialect: SqlDialect) -> (String, [Value<'_>; 5]) {
        let bound = |at: Option<Timestamp>, open: i64| at.map_or(open, Timestamp::milliseconds);
        let text = contains(dialect, "who || ' ' || what || ' ' || subject", "$1");
        let sql = format!(
            "($1 = '' OR {text}) AND ($2 = '' OR who = $2) AND ($3 = '' OR what = $3) \
             AND at_ms >= $4 AND at_ms < $5"
        );
        let values = [
            Value::from(&self.text),
            Value::from(&self.who),
            Value::from(&self.what),
            bound(self.from, i64::MIN).into(),
            bound(self.to, i64::MAX).into(),
        ];
        (sql, values)
    }

    /// The same, as its conditions compare it.
    fn folded(&self) -> Self {
        Self { text: self.text.to_ascii_lowercase(), ..self.clone() }
    }

    fn order(&self) -> String {
        let direction = if self.is_ascending { "ASC" } else { "DESC" };
        let by = match self.by {
            AuditOrder::Time => return format!("seq {direction}"),
            AuditOrder::Who => "who",
            AuditOrder::What => "what",
            AuditOrder::Subject => "subject",
        };
        format!("lower({by}) {direction}, seq DESC")
    }
}

/// A page of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditPage {
    /// The changes, as the filter orders them.
    pub entries: Vec<AuditEntry>,
    /// The number of entries on all pages.
    pub total: i64,
}

/// Adds a change.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    change: &AuditChange<'_>,
    details: &str,
) -> Result<()> {
    tx.send(
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
pub fn list(tx: &mut Tx<'_>, filter: &AuditFilter, limit: i64, offset: i64) -> Result<AuditPage> {
    let filter = &filter.folded();
    let (conditions, values) = filter.conditions(tx.dialect());
    let count = format!("SELECT COUNT(*) FROM audit_log WHERE {conditions}");
    let total = tx.query_one(&count, &values, |row| row.int(0))?.unwrap_or(0);
    let mut entries = Vec::new();
    select(tx, filter, limit, offset, |row| {
        entries.push(entry(row)?);
        Ok(())
    })?;
    Ok(AuditPage { entries, total })
}

/// Hands the first changes, `most` of them at most, to `each`, as the filter orders them.
pub fn each(
    tx: &mut Tx<'_>,
    filter: &AuditFilter,
    most: i64,
    mut each: impl FnMut(AuditEntry) -> Result<()>,
) -> Result<()> {
    select(tx, &filter.folded(), most, 0, |row| each(entry(row)?))
}

fn select(
    tx: &mut Tx<'_>,
    filter: &AuditFilter,
    limit: i64,
    offset: i64,
    mut each: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let (conditions, [text, who, what, from, to]) = filter.conditions(tx.dialect());
    let sql = format!(
        "SELECT seq, at_ms, who, what, subject, details FROM audit_log WHERE {conditions} \
         ORDER BY {} LIMIT $6 OFFSET $7",
        filter.order()
    );
    tx.query(&sql, &[text, who, what, from, to, limit.into(), offset.into()], |row| {
        each(row)?;
        Ok(true)
    })
}

/// Everybody who changed something, and everything that was done, each in order.
pub fn names(tx: &mut Tx<'_>) -> Result<(Vec<String>, Vec<String>)> {
    let mut distinct = |column: &str| {
        let sql = format!("SELECT DISTINCT {column} FROM audit_log ORDER BY {column}");
        let mut found = Vec::new();
        tx.query(&sql, &[], |row| {
            found.push(row.text(0)?.to_owned());
            Ok(true)
        })?;
        Ok(found)
    };
    Ok((distinct("who")?, distinct("what")?))
}

/// Reads one change.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<AuditEntry>> {
    let sql = "SELECT seq, at_ms, who, what, subject, details FROM audit_log WHERE seq = $1";
    tx.query_one(sql, &[id.into()], entry)
}

fn entry(row: &Row<'_>) -> Result<AuditEntry> {
    Ok(AuditEntry {
        id: row.int(0)?,
        at: Timestamp::from_milliseconds(row.int(1)?),
        who: row.text(2)?.to_owned(),
        what: row.text(3)?.to_owned(),
        subject: row.text(4)?.to_owned(),
        details: serde_json::from_str(row.text(5)?).map_err(Problem::internal)?,
    })
}
