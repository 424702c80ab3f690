//! Following the log as it grows.

use lyceum_core::time::Timestamp;
use lyceum_core::{Result, limits};
use lyceum_store::Tx;

use super::read::{Logged, Stored, logged};

/// The position of a reader in the log.
///
/// On PostgreSQL numbers are given out before they are committed, so that a number may be missing:
/// its transaction is under way, or did without it. The log is followed up to such a gap, and over
/// it when all transactions have ended that were under way when it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    seen: i64,
    /// A gap behind `seen`: since when it is known, and the transaction that came next then.
    gap: Option<(Timestamp, i64)>,
}

impl Follow {
    /// Behind the event of the number.
    pub fn from(seen: i64) -> Self {
        Self { seen, gap: None }
    }

    /// The number up to which all was seen.
    pub fn seen(&self) -> i64 {
        self.seen
    }

    /// Whether something lies behind a gap that may still fill.
    pub fn waits(&self) -> bool {
        self.gap.is_some()
    }

    /// What came since, a bounded number of events, and how far that goes. A corrected event is
    /// shown by the version that counts.
    pub fn look(mut self, tx: &mut Tx<'_>, now: Timestamp) -> Result<(Self, Vec<Logged>)> {
        let horizon = tx.horizon()?;
        let sql = format!(
            "SELECT {}, l.superseded_by FROM event_log l \
             JOIN event_sources s ON s.id = l.source WHERE l.seq > $1 ORDER BY l.seq LIMIT $2",
            Stored::COLUMNS
        );
        let mut rows = Vec::new();
        let limit = limits::EVENT_STREAM_BATCH_RECORDS;
        tx.query(&sql, &[self.seen.into(), limit.into()], |row| {
            let seq = row.int(0)?;
            if seq > self.seen + 1 {
                let (since, next) = *self.gap.get_or_insert((now, horizon.next));
                let waited = now.milliseconds() - since.milliseconds();
                if horizon.oldest < next && waited < limits::EVENT_STREAM_GAP_MAX_MS {
                    return Ok(false);
                }
            }
            self.gap = None;
            self.seen = seq;
            if row.opt_int(Stored::WIDTH)?.is_none() {
                rows.push(Stored::read(row)?);
            }
            Ok(true)
        })?;
        Ok((self, logged(tx, rows)?))
    }
}
