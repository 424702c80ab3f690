//! The rate at which events arrive.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::list::{EventFilter, EventOrder, EventOrderKey, list};
use super::read::LoggedEvent;
use crate::actor_filter::ActorFilter;
use crate::limits::EVENT_FLOW_UNORDERED_COUNT;

const MINUTE_MS: i64 = 60_000;

/// The events of one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// Their number.
    pub count: i64,
    /// The lowest event number.
    pub first: i64,
    /// The highest event number.
    pub last: i64,
}

/// The events that arrived recently.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Events by minute since 1970-01-01T00:00:00Z. Of a corrected event, the version that counts. Minutes without
    /// events are left out.
    pub minutes: BTreeMap<i64, Minute>,
    /// The newest event.
    pub newest: Option<LoggedEvent>,
    /// The number of rejected envelopes that were not replayed.
    pub refused: i64,
}

/// The events that arrived since an instant.
pub fn flow(tx: &mut Tx<'_>, since: Timestamp) -> Result<Flow> {
    let mut flow = Flow { minutes: minutes(tx, since)?, ..Flow::default() };
    let backwards = EventOrder { by: EventOrderKey::Arrival, is_reversed: true };
    let newest = list(tx, &EventFilter::default(), &ActorFilter::Everyone, backwards, 1, 0)?;
    flow.newest = newest.events.into_iter().next();
    let sql = "SELECT COUNT(*) FROM event_refusals WHERE received_ms >= $1 AND replayed_ms IS NULL";
    let refused = tx.query_one(sql, &[since.milliseconds().into()], |row| row.int(0))?;
    flow.refused = refused.unwrap_or_default();
    Ok(flow)
}

/// Counts by minute. The database counts, so that an hour needs the same memory, however much arrived.
fn minutes(tx: &mut Tx<'_>, since: Timestamp) -> Result<BTreeMap<i64, Minute>> {
    let first = first_since(tx, since)?;
    let sql = "SELECT received_ms / $1, COUNT(*), MIN(seq), MAX(seq) FROM event_log \
               WHERE seq >= $2 AND received_ms >= $3 AND superseded_by IS NULL GROUP BY 1";
    let values = [
        MINUTE_MS.into(),
        (first - EVENT_FLOW_UNORDERED_COUNT).into(),
        since.milliseconds().into(),
    ];
    let mut minutes = BTreeMap::new();
    tx.query(sql, &values, |row| {
        let minute = Minute { count: row.int(1)?, first: row.int(2)?, last: row.int(3)? };
        minutes.insert(row.int(0)?, minute);
        Ok(true)
    })?;
    Ok(minutes)
}

/// The approximate number of the first event that arrived since then. Numbers are assigned in order of arrival, so a
/// binary search finds it without an index of times.
fn first_since(tx: &mut Tx<'_>, since: Timestamp) -> Result<i64> {
    let ends = "SELECT COALESCE(MIN(seq), 0), COALESCE(MAX(seq), 0) FROM event_log";
    let ends = tx.query_one(ends, &[], |row| Ok((row.int(0)?, row.int(1)?)))?;
    let (mut before, mut after) = ends.unwrap_or_default();
    let next = "SELECT received_ms FROM event_log WHERE seq >= $1 ORDER BY seq LIMIT 1";
    while before < after {
        let middle = before + (after - before) / 2;
        let received = tx.query_one(next, &[middle.into()], |row| row.int(0))?;
        if received.is_some_and(|received| received < since.milliseconds()) {
            before = middle + 1;
        } else {
            after = middle;
        }
    }
    Ok(before)
}
