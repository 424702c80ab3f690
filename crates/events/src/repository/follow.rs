//! Follows the log as it grows.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, log};

use super::read::{LOG, LoggedEvent, StoredEvent, logged};
use crate::actor_filter::ActorFilter;
use crate::limits;

/// The position of a reader in the log.
///
/// On PostgreSQL, numbers are assigned before the commit. So a number may be missing because its transaction is
/// running or was rolled back. The reader stops at such a gap. It continues when all transactions have ended that
/// were running when it saw the gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    seen: i64,
    /// A gap after `seen`: when it was noticed, and the transaction that was next at that time.
    gap: Option<(Timestamp, i64)>,
}

impl Follow {
    /// The position after the event with the number.
    pub fn from(seen: i64) -> Self {
        Self { seen, gap: None }
    }

    /// The number up to which everything was seen.
    pub fn seen(&self) -> i64 {
        self.seen
    }

    /// Whether there are events after a gap that may still be filled.
    pub fn waits(&self) -> bool {
        self.gap.is_some()
    }

    /// The events whose actors the reader sees, of a limited number of events since the position, and the new position.
    /// Of a corrected event, the version that counts.
    pub fn look(
        mut self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        actors: &ActorFilter,
    ) -> Result<(Self, Vec<LoggedEvent>)> {
        let horizon = log::horizon(tx)?;
        let sql = format!(
            "SELECT {}, l.superseded_by FROM {LOG} WHERE l.seq > $1 ORDER BY l.seq LIMIT $2",
            StoredEvent::COLUMNS
        );
        let mut rows = Vec::new();
        let limit = limits::EVENT_STREAM_BATCH_RECORDS;
        tx.query(&sql, &[self.seen.into(), limit.into()], |row| {
            let (event, superseded_by): (StoredEvent, Option<i64>) = row.read()?;
            let seq = event.seq;
            if seq > self.seen + 1 {
                let (since, next) = *self.gap.get_or_insert((now, horizon.next));
                let waited = now.milliseconds() - since.milliseconds();
                if horizon.oldest < next && waited < limits::EVENT_STREAM_GAP_MAX_MS {
                    return Ok(false);
                }
            }
            self.gap = None;
            self.seen = seq;
            if superseded_by.is_none() {
                rows.push(event);
            }
            Ok(true)
        })?;
        let events = logged(tx, rows)?;
        Ok((self, actors.keep(tx, events)?))
    }
}
