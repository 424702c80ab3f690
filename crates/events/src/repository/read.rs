//! Reads the event log.

use std::collections::BTreeMap;
use std::ops::Range;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::{Tx, Value, columns};

use super::blocks::BlockTexts;
use super::{facts, json_list};
use crate::event::Event;
use crate::facts::BUCKET_MS;

/// An event of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEvent {
    /// Its number, in order of arrival.
    pub seq: i64,
    /// The number of its actor.
    pub actor: i64,
    /// The client that sent it.
    pub client: String,
    /// When it was received.
    pub received: Timestamp,
    /// When its row was last changed.
    pub changed: Timestamp,
    /// The event, as it was sent.
    pub event: Event,
}

impl LoggedEvent {
    /// Milliseconds from when the event was sent to when it arrived; 0 if the sender's clock is ahead.
    pub fn delay_ms(&self) -> i64 {
        (self.received.milliseconds() - self.event.send_time.milliseconds()).max(0)
    }
}

/// A row of the log. Its text may be in a block.
pub(super) struct StoredEvent {
    pub(super) seq: i64,
    actor: i64,
    client: String,
    sensor: String,
    sent: Timestamp,
    received: Timestamp,
    changed: Timestamp,
    block: Option<i64>,
    body: String,
}

columns!(StoredEvent {
    seq: "l.seq",
    actor: "l.actor",
    client: "s.client",
    sensor: "s.sensor",
    sent: "l.send_ms",
    received: "l.received_ms",
    changed: "l.changed_ms",
    block: "l.block",
    body: "l.body",
});

impl StoredEvent {
    fn logged(self, texts: &BlockTexts) -> Result<LoggedEvent> {
        let body = if self.block.is_some() { texts.of(self.seq)? } else { &self.body };
        Ok(LoggedEvent {
            event: Event::read(body, &self.sensor, self.sent)?,
            seq: self.seq,
            actor: self.actor,
            client: self.client,
            received: self.received,
            changed: self.changed,
        })
    }
}

/// The events of rows, in the order of the rows.
pub(super) fn logged(tx: &mut Tx<'_>, rows: Vec<StoredEvent>) -> Result<Vec<LoggedEvent>> {
    let packed: Vec<(i64, i64)> =
        rows.iter().filter_map(|row| Some((row.seq, row.block?))).collect();
    let texts = BlockTexts::read(tx, &packed)?;
    rows.into_iter().map(|row| row.logged(&texts)).collect()
}

/// The tables of the log from which [`select`] reads.
pub(super) const LOG: &str = "event_log l JOIN event_sources s ON s.id = l.source";

/// The events of a query from the tables `l` and `s`.
pub(super) fn select(
    tx: &mut Tx<'_>,
    from: &str,
    values: &[Value<'_>],
) -> Result<Vec<LoggedEvent>> {
    let rows = tx.rows(&format!("SELECT {} FROM {from}", StoredEvent::COLUMNS), values)?;
    logged(tx, rows)
}

/// The events with these numbers, in the order of the numbers.
pub fn of_numbers(tx: &mut Tx<'_>, seqs: &[i64]) -> Result<Vec<LoggedEvent>> {
    if seqs.is_empty() {
        return Ok(Vec::new());
    }
    let from = format!("{LOG} WHERE {}", is_one_of_numbers(tx.dialect(), "l.seq", "$1"));
    let events = select(tx, &from, &[(&json_list(seqs)?).into()])?;
    let mut events: BTreeMap<i64, LoggedEvent> =
        events.into_iter().map(|event| (event.seq, event)).collect();
    Ok(seqs.iter().filter_map(|seq| events.remove(seq)).collect())
}

/// [`of_numbers`] with a limited number of events in memory at once.
pub(super) fn numbered(
    tx: &mut Tx<'_>,
    seqs: &[i64],
    mut each: impl FnMut(LoggedEvent) -> Result<()>,
) -> Result<()> {
    for seqs in seqs.chunks(NUMBERED_CHUNK) {
        of_numbers(tx, seqs)?.into_iter().try_for_each(&mut each)?;
    }
    Ok(())
}

/// The number of events that [`numbered`] has in memory at once.
const NUMBERED_CHUNK: usize = 64;

/// Calls `each` with at most `limit` events after `after`, in the order of their numbers. Of a corrected event, it is
/// the version that counts. Returns the number to continue from; `None` if there are no more.
pub fn scan(
    tx: &mut Tx<'_>,
    after: i64,
    limit: i64,
    mut each: impl FnMut(LoggedEvent) -> Result<()>,
) -> Result<Option<i64>> {
    let from =
        format!("{LOG} WHERE l.seq > $1 AND l.superseded_by IS NULL ORDER BY l.seq LIMIT $2");
    let (mut last, mut left) = (after, limit);
    while left > 0 {
        let most = left.min(SCAN_CHUNK);
        let events = select(tx, &from, &[last.into(), most.into()])?;
        let Some(end) = events.last() else { return Ok(None) };
        last = end.seq;
        left -= i64::try_from(events.len()).map_err(Problem::internal)?;
        events.into_iter().try_for_each(&mut each)?;
    }
    Ok(Some(last))
}

/// The number of events that a scan has in memory at once.
const SCAN_CHUNK: i64 = 256;

/// Calls `each` with the events of an actor whose times are in the range of milliseconds. Of a corrected event, it is
/// the version that counts.
pub fn of_actor(
    tx: &mut Tx<'_>,
    actor: i64,
    times: Range<i64>,
    each: impl FnMut(LoggedEvent) -> Result<()>,
) -> Result<()> {
    let bucket = |at: i64| at.div_euclid(BUCKET_MS);
    let Range { start, end } = times;
    let seqs = facts::seqs(tx, &[actor], &(bucket(start)..bucket(end) + 1))?;
    let sql = format!(
        "SELECT l.seq FROM event_log l WHERE {} AND l.event_ms >= $2 AND l.event_ms < $3 \
         AND l.superseded_by IS NULL ORDER BY l.event_ms, l.seq",
        is_one_of_numbers(tx.dialect(), "l.seq", "$1")
    );
    let values = [seqs.as_str().into(), start.into(), end.into()];
    let seqs = tx.all(&sql, &values, |row| row.int(0))?;
    numbered(tx, &seqs, each)
}

/// Calls `each` with the versions of an actor's events that do not count, each with the number of the version that
/// replaced it.
pub fn superseded_of_actor(
    tx: &mut Tx<'_>,
    actor: i64,
    mut each: impl FnMut(LoggedEvent, i64) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT l.seq, l.superseded_by FROM event_versions v JOIN event_log l ON l.seq = v.seq \
               WHERE l.actor = $1 ORDER BY l.seq";
    let successors: BTreeMap<i64, i64> =
        tx.rows::<(i64, i64)>(sql, &[actor.into()])?.into_iter().collect();
    let seqs: Vec<i64> = successors.keys().copied().collect();
    numbered(tx, &seqs, |logged| {
        let successor = successors[&logged.seq];
        each(logged, successor)
    })
}
