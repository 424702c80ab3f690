//! The turn of transactions that claim many ids at once.

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use lyceum_store::log::turns;

use super::facts::Fact;
use super::ids::EventIdHash;
use super::runs::{RunRecord as _, Runs};

/// The list of runs. No other transaction can add runs until this one ends.
pub(crate) struct RunListLock {
    pub(super) ids: Runs<EventIdHash>,
    pub(super) facts: Runs<Fact>,
    /// Whether there are ids in rows.
    pub(super) has_young: bool,
}

impl RunListLock {
    /// Waits for the turn, in a transaction that sees the latest state.
    pub(super) fn wait(tx: &mut Tx<'_>) -> Result<Self> {
        let names = [EventIdHash::LIST.into(), Fact::LIST.into()];
        let turns = turns(tx.dialect(), true);
        if !turns.is_empty() {
            // Ids are locked first, as in every transaction that changes both. The later read sees what earlier
            // transactions committed.
            let sql = format!(
                "SELECT 1 FROM event_runs WHERE name IN ($1, $2) ORDER BY name = $2 {turns}"
            );
            tx.send(&sql, &names)?;
        }
        let sql = "SELECT i.list, f.list, (SELECT COUNT(*) FROM (SELECT 1 FROM event_ids LIMIT 1) AS y) \
                   FROM event_runs i, event_runs f WHERE i.name = $1 AND f.name = $2";
        let turn = tx.query_one(sql, &names, |row| {
            Ok(Self {
                ids: Runs::of(row.opt_blob(0)?),
                facts: Runs::of(row.opt_blob(1)?),
                has_young: row.int(2)? > 0,
            })
        })?;
        turn.ok_or_else(|| Problem::internal("a list of runs is missing"))
    }
}
