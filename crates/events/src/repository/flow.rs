//! The rate at which events arrive.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};

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

columns!(Minute { count: "COUNT(*)", first: "MIN(seq)", last: "MAX(seq)" });

/// The events that arrived recently.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Events by minute since 1970-01-01T00:00:00Z. Of a corrected event, the version that counts. Minutes without
    /// events are left out.
    pub minutes: BTreeMap<i64, Minute>,
    /// The newest event.
    pub newest: Option<LoggedEvent>,
    /// The number of rejected envelopes that were not replayed.
    pub refused: i64,
}

/// The events that arrived since an instant. The database counts, so that an hour needs the same memory, however much
/// arrived.
pub fn flow(tx: &mut Tx<'_>, since: Timestamp) -> Result<Flow> {
    let first = first_since(tx, since)? - EVENT_FLOW_UNORDERED_COUNT;
    let sql = format!(
        "SELECT received_ms / $1, {} FROM event_log \
         WHERE seq >= $2 AND received_ms >= $3 AND superseded_by IS NULL GROUP BY 1",
        Minute::COLUMNS
    );
    let values = [MINUTE_MS.into(), first.into(), since.milliseconds().into()];
    let minutes = tx.rows::<(i64, Minute)>(&sql, &values)?.into_iter().collect();
    let backwards = EventOrder { by: EventOrderKey::Arrival, is_reversed: true };
    let newest = list(tx, &EventFilter::default(), &ActorFilter::Everyone, backwards, 1, 0)?;
    let newest = newest.events.into_iter().next();
    let sql = "SELECT COUNT(*) FROM event_refusals WHERE received_ms >= $1 AND replayed_ms IS NULL";
    let refused = tx.row(sql, &[since.milliseconds().into()])?.unwrap_or_default();
    Ok(Flow { minutes, newest, refused })
}

/// The approximate number of the first event that arrived since then. Numbers are assigned in order of arrival, so a
/// binary search finds it without an index of times.
fn first_since(tx: &mut Tx<'_>, since: Timestamp) -> Result<i64> {
    let ends = "SELECT COALESCE(MIN(seq), 0), COALESCE(MAX(seq), 0) FROM event_log";
    let (mut before, mut after) = tx.row::<(i64, i64)>(ends, &[])?.unwrap_or_default();
    let next = "SELECT received_ms FROM event_log WHERE seq >= $1 ORDER BY seq LIMIT 1";
    while before < after {
        let middle = before + (after - before) / 2;
        let received: Option<i64> = tx.row(next, &[middle.into()])?;
        if received.is_some_and(|received| received < since.milliseconds()) {
            before = middle + 1;
        } else {
            after = middle;
        }
    }
    Ok(before)
}
