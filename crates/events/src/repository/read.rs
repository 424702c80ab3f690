//! Reading the log.

use std::ops::Range;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::{Row, Tx};

use super::facts;
use crate::event::Event;
use crate::facts::BUCKET_MS;

/// An event of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// Its number: the order of arrival.
    pub seq: i64,
    /// The number of its actor.
    pub actor: i64,
    /// The client that sent it.
    pub client: String,
    /// When it arrived.
    pub received: Timestamp,
    /// When its row changed last.
    pub changed: Timestamp,
    /// What was sent.
    pub event: Event,
}

/// The columns of a [`Logged`], from `event_log l` and `event_sources s`.
pub(super) const COLUMNS: &str =
    "l.seq, s.client, s.sensor, l.send_ms, l.received_ms, l.changed_ms, l.body, l.actor";

/// Reads [`COLUMNS`].
pub(super) fn logged(row: &Row<'_>) -> Result<Logged> {
    let at = |column| row.int(column).map(Timestamp::from_milliseconds);
    Ok(Logged {
        seq: row.int(0)?,
        actor: row.int(7)?,
        client: row.text(1)?.to_owned(),
        received: at(4)?,
        changed: at(5)?,
        event: Event::read(row.text(6)?, row.text(2)?, at(3)?)?,
    })
}

/// Hands the events behind `after`, `limit` at most, to `each`, in the order of their numbers; of
/// an event that was corrected, the version that counts. Answers the number to go on from; none
/// when there are no more.
pub fn scan(
    tx: &mut Tx<'_>,
    after: i64,
    limit: i64,
    mut each: impl FnMut(Logged) -> Result<()>,
) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM event_log l JOIN event_sources s ON s.id = l.source \
         WHERE l.seq > $1 AND l.superseded_by IS NULL ORDER BY l.seq LIMIT $2"
    );
    let (mut last, mut rows) = (after, 0);
    tx.query(&sql, &[after.into(), limit.into()], |row| {
        let logged = logged(row)?;
        (last, rows) = (logged.seq, rows + 1);
        each(logged)?;
        Ok(true)
    })?;
    Ok((rows == limit).then_some(last))
}

/// Hands the events of an actor whose times lie in the range of milliseconds to `each`, of an event
/// that was corrected the version that counts.
pub fn of_actor(
    tx: &mut Tx<'_>,
    actor: i64,
    times: Range<i64>,
    mut each: impl FnMut(Logged) -> Result<()>,
) -> Result<()> {
    let bucket = |at: i64| at.div_euclid(BUCKET_MS);
    let Range { start, end } = times;
    let seqs = facts::seqs(tx, &[actor], &(bucket(start)..bucket(end) + 1))?;
    let sql = format!(
        "SELECT {COLUMNS} FROM event_log l JOIN event_sources s ON s.id = l.source WHERE {} \
         AND l.event_ms >= $2 AND l.event_ms < $3 AND l.superseded_by IS NULL ORDER BY l.event_ms",
        is_one_of_numbers(tx.dialect(), "l.seq", "$1")
    );
    tx.query(&sql, &[seqs.as_str().into(), start.into(), end.into()], |row| {
        each(logged(row)?)?;
        Ok(true)
    })
}
