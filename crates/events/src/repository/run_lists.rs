//! The lists of runs of ids and of facts.

use lyceum_core::{Problem, Result};
use lyceum_runs::{KeyNumber, RunTables, Runs, UniqueKeys, hold_lists};
use lyceum_store::Tx;

use super::facts::Fact;

/// The hashes of ids, each with the number of the version that counts.
pub(super) const IDS: UniqueKeys = UniqueKeys {
    rows: "event_ids",
    runs: RunTables { lists: "event_runs", name: "ids", chunks: "event_id_chunks" },
};

/// The runs of facts.
pub(super) const FACTS: RunTables =
    RunTables { lists: "event_runs", name: "facts", chunks: "event_fact_chunks" };

/// The runs of places of summed facts.
pub(super) const PLACES: RunTables =
    RunTables { lists: "event_runs", name: "places", chunks: "event_place_chunks" };

/// The lists of ids and of facts, in a transaction that holds them or is the only writer.
pub(crate) struct RunLists {
    pub(super) ids: Runs<KeyNumber>,
    pub(super) facts: Runs<Fact>,
    /// Whether there are ids in rows.
    pub(super) has_young_ids: bool,
}

impl RunLists {
    /// Holds both lists, in a transaction that sees the latest state. `None` if another transaction holds one of them.
    pub(super) fn hold(tx: &mut Tx<'_>) -> Result<Option<Self>> {
        if hold_lists(tx, &[IDS.runs, FACTS])? { Self::read(tx).map(Some) } else { Ok(None) }
    }

    /// Reads both lists.
    pub(super) fn read(tx: &mut Tx<'_>) -> Result<Self> {
        let names = [IDS.runs.name.into(), FACTS.name.into()];
        let sql = "SELECT i.list, f.list, (SELECT COUNT(*) FROM (SELECT 1 FROM event_ids LIMIT 1) AS y) \
                   FROM event_runs i, event_runs f WHERE i.name = $1 AND f.name = $2";
        let lists = tx.query_one(sql, &names, |row| {
            Ok(Self {
                ids: Runs::of(IDS.runs, row.opt_blob(0)?),
                facts: Runs::of(FACTS, row.opt_blob(1)?),
                has_young_ids: row.int(2)? > 0,
            })
        })?;
        lists.ok_or_else(|| Problem::internal("a list of runs is missing"))
    }
}
