//! Moves young ids and facts into runs, beside servers that claim ids (docs/decisions/057).

use lyceum_core::Result;
use lyceum_runs::{KeyNumber, Runs, forget_all_but, try_lock_lists};
use lyceum_store::Tx;

use super::facts::{EventPlace, Fact};
use super::{FACTS, GATHERED, GATHERED_ROWS, IDS, PLACES, facts};

/// The result of [`gather`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatherOutcome {
    /// The number of ids and facts that are in runs now.
    pub moved: usize,
    /// Whether so many were young that some may be left.
    pub has_more: bool,
}

/// The tables whose rows live for a short time: [`gather`] moves them into runs, and facts in runs are summed.
pub const SHORT_LIVED_TABLES: [&str; 4] =
    ["event_ids", "event_facts", "event_young_facts", "event_fact_chunks"];

/// Whether [`gather`] has enough to move: packed facts, or as many rows as make a run.
pub fn is_gathering_due(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM event_young_facts LIMIT 1) AS p), \
               (SELECT COUNT(*) FROM (SELECT 1 FROM event_ids LIMIT $1) AS i), \
               (SELECT COUNT(*) FROM (SELECT 1 FROM event_facts LIMIT $1) AS f)";
    let counts = tx.row::<(i64, i64, i64)>(sql, &[GATHERED.into()])?.unwrap_or_default();
    Ok(counts.0 > 0 || counts.1 >= GATHERED || counts.2 >= GATHERED)
}

/// Moves a limited number of young ids and facts into runs, in a transaction that sees the latest state
/// (`StatementsSee::LatestCommits`). `None` if another transaction is doing it or corrects an event.
///
/// Claims go on meanwhile. An id is either in its row or in a run, and a claim looks into the rows first. Only the claim
/// of an id whose row is being moved waits.
pub fn gather(tx: &mut Tx<'_>) -> Result<Option<GatherOutcome>> {
    if !try_lock_lists(tx, &[IDS.runs, FACTS])? {
        return Ok(None);
    }
    let (ids, has_more_ids) = IDS.move_rows_to_run(tx, GATHERED_ROWS)?;
    let (facts, has_more_facts) = facts::gather(tx)?;
    Ok(Some(GatherOutcome { moved: ids + facts, has_more: has_more_ids || has_more_facts }))
}

/// Removes the heads of runs from the cache that are in no list any more, because another server merged their runs.
pub fn forget_unused_heads(tx: &mut Tx<'_>) -> Result<()> {
    let ids = Runs::<KeyNumber>::open(tx, IDS.runs)?;
    let facts = Runs::<Fact>::open(tx, FACTS)?;
    let places = Runs::<EventPlace>::open(tx, PLACES)?;
    let used = ids.marks().chain(facts.marks()).chain(places.marks()).collect();
    forget_all_but(&used);
    Ok(())
}
