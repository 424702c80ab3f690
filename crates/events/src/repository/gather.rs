//! Moves young ids into runs, beside servers that claim ids (docs/decisions/057).

use lyceum_core::Result;
use lyceum_runs::{Runs, forget_all_but, try_lock_lists};
use lyceum_store::Tx;

use super::{GATHERED, GATHERED_ROWS, IDS};

/// The result of [`gather`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatherOutcome {
    /// The number of ids that are in runs now.
    pub moved: usize,
    /// Whether so many were young that some may be left.
    pub has_more: bool,
}

/// The tables whose rows live for a short time: [`gather`] moves ids into runs, and facts are summed.
pub const SHORT_LIVED_TABLES: [&str; 2] = ["event_ids", "event_unsummed"];

/// Whether [`gather`] has enough to move: as many rows as make a run.
pub fn is_gathering_due(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM event_ids LIMIT $1) AS i";
    Ok(tx.row::<i64>(sql, &[GATHERED.into()])?.unwrap_or_default() >= GATHERED)
}

/// Moves a limited number of young ids into runs, in a transaction that sees the latest state (`StatementsSee::LatestCommits`). `None`
/// if another transaction is doing it.
///
/// Claims go on meanwhile. An id is either in its row or in a run, and a claim looks into the rows first. Only the claim
/// of an id whose row is being moved waits.
pub fn gather(tx: &mut Tx<'_>) -> Result<Option<GatherOutcome>> {
    if !try_lock_lists(tx, &[IDS.runs])? {
        return Ok(None);
    }
    let (moved, has_more) = IDS.move_rows_to_run(tx, GATHERED_ROWS)?;
    Ok(Some(GatherOutcome { moved, has_more }))
}

/// Removes the heads of runs from the cache that are in no list any more, because another server merged their runs.
pub fn forget_unused_heads(tx: &mut Tx<'_>) -> Result<()> {
    let used = Runs::open(tx, IDS.runs)?.marks().collect();
    forget_all_but(&used);
    Ok(())
}
