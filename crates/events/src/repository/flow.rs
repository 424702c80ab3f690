//! How events come in.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_core::limits::EVENT_FLOW_MAX_RECORDS;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

const MINUTE_MS: i64 = 60_000;

/// What has come in lately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Events by minute since 1970-01-01T00:00:00Z; minutes without one are left out.
    pub minutes: BTreeMap<i64, i64>,
    /// Whether there were more than are looked at, so that the first minutes are missing.
    pub is_cut: bool,
    /// When the newest event arrived.
    pub newest: Option<Timestamp>,
    /// Milliseconds from when the newest event was sent to when it arrived.
    pub lag_ms: Option<i64>,
    /// Envelopes that were refused and not replayed since.
    pub refused: i64,
}

/// What has come in since an instant.
pub fn flow(tx: &mut Tx<'_>, since: Timestamp) -> Result<Flow> {
    let mut flow = Flow::default();
    let sql = "SELECT received_ms, send_ms FROM event_log ORDER BY seq DESC LIMIT $1";
    let mut seen = 0;
    tx.query(sql, &[EVENT_FLOW_MAX_RECORDS.into()], |row| {
        let (received, sent) = (row.int(0)?, row.int(1)?);
        flow.newest.get_or_insert(Timestamp::from_milliseconds(received));
        flow.lag_ms.get_or_insert(received - sent);
        // Numbers are given out in the order of arrival, but for those that arrive together.
        if received < since.milliseconds() {
            return Ok(false);
        }
        *flow.minutes.entry(received.div_euclid(MINUTE_MS)).or_default() += 1;
        seen += 1;
        Ok(true)
    })?;
    flow.is_cut = seen == EVENT_FLOW_MAX_RECORDS;
    let sql = "SELECT COUNT(*) FROM event_refusals WHERE received_ms >= $1 AND replayed_ms IS NULL";
    let refused = tx.query_one(sql, &[since.milliseconds().into()], |row| row.int(0))?;
    flow.refused = refused.unwrap_or_default();
    Ok(flow)
}
