//! The lists of runs of ids and of facts, for a transaction that adds to both.

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use lyceum_store::log::{RowLock, lock};

use super::facts::Fact;
use super::ids::EventIdHash;
use super::runs::{RunRecord as _, Runs};

/// Both lists of runs. No other transaction adds runs until this one ends.
pub(crate) struct RunLists {
    pub(super) ids: Runs<EventIdHash>,
    pub(super) facts: Runs<Fact>,
    /// Whether there are ids in rows.
    pub(super) has_young_ids: bool,
}

impl RunLists {
    /// Holds both lists, in a transaction that sees the latest state. `None` if another transaction holds one of them and
    /// this one does not wait ([`RowLock::AloneIfFree`]).
    pub(super) fn hold(tx: &mut Tx<'_>, how: RowLock) -> Result<Option<Self>> {
        let names = [EventIdHash::LIST.into(), Fact::LIST.into()];
        // Ids first, as in transactions that claim ids and then correct an event. Otherwise each could wait for the other.
        let sql = format!(
            "SELECT name FROM event_runs WHERE name IN ($1, $2) ORDER BY name DESC {}",
            lock(tx, how)
        );
        let held = tx.all(&sql, &names, |row| row.string(0))?;
        if held.len() == names.len() { Self::read(tx).map(Some) } else { Ok(None) }
    }

    /// Reads both lists in a transaction that holds them, or is the only writer.
    pub(super) fn read(tx: &mut Tx<'_>) -> Result<Self> {
        let names = [EventIdHash::LIST.into(), Fact::LIST.into()];
        let sql = "SELECT i.list, f.list, (SELECT COUNT(*) FROM (SELECT 1 FROM event_ids LIMIT 1) AS y) \
                   FROM event_runs i, event_runs f WHERE i.name = $1 AND f.name = $2";
        let lists = tx.query_one(sql, &names, |row| {
            Ok(Self {
                ids: Runs::of(row.opt_blob(0)?),
                facts: Runs::of(row.opt_blob(1)?),
                has_young_ids: row.int(2)? > 0,
            })
        })?;
        lists.ok_or_else(|| Problem::internal("a list of runs is missing"))
    }
}
