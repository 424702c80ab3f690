//! The outbox: changes that webhooks receive, written by the transaction that makes the change.
//!
//! A crate that changes something calls [`announce`] and does not know webhooks. A change of a topic that no active
//! webhook wants is not written, so it costs one look into a table that is nearly always empty, once for each
//! transaction.
//!
//! Numbers of rows are drawn in the order in which the rows are written. Two transactions that change the same object
//! wait for each other before they announce the change. So for one object, the order of numbers is the order of changes.

use std::borrow::Cow;
use std::sync::Arc;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};

pub use crate::pending::WantedTopics;
use crate::{Tx, Value, columns, dialect};

/// A change of one object.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// The kind of object and what happened to it, such as `user.updated`.
    pub topic: Cow<'a, str>,
    /// The id of the object. Changes of one object are delivered in order.
    pub object: &'a str,
    /// The sensor of a Caliper event; empty for other changes.
    pub sensor: &'a str,
    /// When it happened.
    pub at: Timestamp,
    /// The object after the change, as JSON.
    pub data: Cow<'a, str>,
}

/// The topics that are wanted. Reads them once for each transaction.
pub fn wanted(tx: &mut Tx<'_>) -> Result<WantedTopics> {
    if let Some(wanted) = &tx.wanted_topics {
        return Ok(wanted.clone());
    }
    let rows = tx.rows("SELECT topic, sensor FROM outbox_topics", &[])?;
    let wanted = WantedTopics(Arc::new(rows));
    tx.wanted_topics = Some(wanted.clone());
    Ok(wanted)
}

/// Writes a change if a webhook wants it. Call it after the statements that make the change. `data` is called only
/// for a wanted change.
pub fn announce<'a>(
    tx: &mut Tx<'_>,
    topic: &'a str,
    object: &'a str,
    at: Timestamp,
    data: impl FnOnce() -> Result<Cow<'a, str>>,
) -> Result<()> {
    if !wanted(tx)?.contains(topic, "") {
        return Ok(());
    }
    write(tx, &[Change { topic: topic.into(), object, sensor: "", at, data: data()? }])
}

/// Writes changes that are [`wanted`].
pub fn write(tx: &mut Tx<'_>, changes: &[Change<'_>]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut values: Vec<Value<'_>> = Vec::with_capacity(changes.len() * 5);
    for change in changes {
        values.extend([
            Value::Text(&change.topic),
            change.object.into(),
            change.sensor.into(),
            change.at.milliseconds().into(),
            Value::Text(&change.data),
        ]);
    }
    tx.send_rows("outbox", &["topic", "object", "sensor", "at_ms", "data"], &values, "")
}

/// A row of the outbox.
#[derive(Clone, Debug)]
pub struct WrittenChange {
    /// Its number.
    pub seq: i64,
    /// See [`Change::topic`].
    pub topic: String,
    /// See [`Change::object`].
    pub object: String,
    /// See [`Change::sensor`].
    pub sensor: String,
    /// See [`Change::at`].
    pub at: Timestamp,
    /// See [`Change::data`].
    pub data: String,
}

columns!(WrittenChange {
    seq: "seq",
    topic: "topic",
    object: "object",
    sensor: "sensor",
    at: "at_ms",
    data: "data",
});

/// When the oldest change in the outbox was made.
pub fn oldest(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    tx.row("SELECT at_ms FROM outbox ORDER BY seq LIMIT 1", &[])
}

/// Whether the outbox has rows.
pub fn has_rows(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(tx.query_one("SELECT 1 FROM outbox LIMIT 1", &[], |_| Ok(()))?.is_some())
}

/// Removes the first `limit` rows from the outbox and returns them, in order.
///
/// Call it in [`Db::write`](crate::Db::write), where two transactions cannot take the same rows. Then the rows of one
/// object leave the outbox in order, because a transaction that sees a row also sees all earlier rows of its object.
pub fn remove_oldest(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<WrittenChange>> {
    let sql = format!("SELECT {} FROM outbox ORDER BY seq LIMIT $1", WrittenChange::COLUMNS);
    let changes: Vec<WrittenChange> = tx.rows(&sql, &[limit.into()])?;
    if !changes.is_empty() {
        // Exactly these rows: a row with a number between them may be committed later.
        let seqs: Vec<i64> = changes.iter().map(|change| change.seq).collect();
        let list = serde_json::to_string(&seqs).map_err(Problem::internal)?;
        let is_taken = dialect::is_one_of_numbers(tx.dialect(), "seq", "$1");
        tx.execute(&format!("DELETE FROM outbox WHERE {is_taken}"), &[list.as_str().into()])?;
    }
    Ok(changes)
}

/// Replaces the topics that active webhooks want: topic and sensor of each.
pub fn set_wanted_topics(tx: &mut Tx<'_>, topics: &[(&str, &str)]) -> Result<()> {
    tx.wanted_topics = None;
    tx.send("DELETE FROM outbox_topics", &[])?;
    if topics.is_empty() {
        return Ok(());
    }
    let values: Vec<Value<'_>> =
        topics.iter().flat_map(|(topic, sensor)| [(*topic).into(), (*sensor).into()]).collect();
    tx.send_rows("outbox_topics", &["topic", "sensor"], &values, "")
}
