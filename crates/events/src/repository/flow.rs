//! How events come in.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_core::limits::EVENT_FLOW_MAX_RECORDS;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::list::{By, Filter, Order, list};
use super::read::Logged;

const MINUTE_MS: i64 = 60_000;

/// The events of a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// How many.
    pub count: i64,
    /// The least of their numbers.
    pub first: i64,
    /// The greatest one.
    pub last: i64,
}

/// What has come in lately.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Events by minute since 1970-01-01T00:00:00Z, of one that was corrected the version that counts; minutes
    /// without one are left out.
    pub minutes: BTreeMap<i64, Minute>,
    /// Whether there were more than are looked at, so that the first minutes are missing.
    pub is_cut: bool,
    /// The newest event.
    pub newest: Option<Logged>,
    /// Envelopes that were refused and not replayed since.
    pub refused: i64,
}

/// What has come in since an instant.
pub fn flow(tx: &mut Tx<'_>, since: Timestamp) -> Result<Flow> {
    let mut flow = Flow::default();
    let sql = "SELECT seq, received_ms FROM event_log WHERE superseded_by IS NULL \
               ORDER BY seq DESC LIMIT $1";
    let mut seen = 0;
    tx.query(sql, &[EVENT_FLOW_MAX_RECORDS.into()], |row| {
        let (seq, received) = (row.int(0)?, row.int(1)?);
        // Numbers are given out in the order of arrival, but for those that arrive together.
        if received < since.milliseconds() {
            return Ok(false);
        }
        let minute = flow.minutes.entry(received.div_euclid(MINUTE_MS)).or_default();
        if minute.count == 0 {
            minute.last = seq;
        }
        minute.first = seq;
        minute.count += 1;
        seen += 1;
        Ok(true)
    })?;
    flow.is_cut = seen == EVENT_FLOW_MAX_RECORDS;
    let backwards = Order { by: By::Arrival, is_reversed: true };
    flow.newest = list(tx, &Filter::default(), backwards, 1, 0)?.events.pop();
    let sql = "SELECT COUNT(*) FROM event_refusals WHERE received_ms >= $1 AND replayed_ms IS NULL";
    let refused = tx.query_one(sql, &[since.milliseconds().into()], |row| row.int(0))?;
    flow.refused = refused.unwrap_or_default();
    Ok(flow)
}
