//! The number of each id: young hashes of ids are rows, and all others are in runs.

use std::collections::BTreeMap;

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value};

use super::gather::GatherOutcome;
use super::run_lists::RunLists;
use super::runs::{PackedNumbers, RunListValidity, RunRecord, Runs, pack};
use super::{GATHERED_ROWS, MARKS, lists};

/// How often a list of runs is read if its runs are gone each time. They are merged about once a second.
const LIST_READS_MAX_COUNT: u32 = 20;

/// The hash of an id, and the number of the version that counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventIdHash {
    hash: i64,
    seq: i64,
}

impl RunRecord for EventIdHash {
    const LIST: &'static str = "ids";
    const CHUNKS: &'static str = "event_id_chunks";
    const IN_CHUNK: usize = 256;
    const FIRST: Self = Self { hash: 0, seq: 0 };

    fn lead(&self) -> i64 {
        self.hash
    }

    /// Ids have no time, because a correction could change it.
    fn time(&self) -> i64 {
        0
    }

    fn put(&self, before: &Self, out: &mut Vec<u8>) {
        pack(self.hash.wrapping_sub(before.hash), out);
        pack(self.seq - before.seq, out);
    }

    fn take(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
        let hash = before.hash.wrapping_add(packed.next()?);
        Some(Self { hash, seq: before.seq.checked_add(packed.next()?)? })
    }
}

/// Claims hashes for numbers, given as pairs. Returns the holders of those that were taken, which may be earlier pairs.
/// The only writer gives the lists of runs if its ids are to become a run.
pub(super) fn claim(
    tx: &mut Tx<'_>,
    keys: &mut [(i64, i64)],
    run_lists: Option<&mut RunLists>,
) -> Result<BTreeMap<i64, i64>> {
    // Sorted, so that two transactions never wait for each other in a circle.
    keys.sort_unstable();
    match run_lists {
        Some(run_lists) => claim_in_run(tx, run_lists, keys),
        None => claim_as_rows(tx, keys),
    }
}

/// If a hash occurs twice among the keys, the first number holds it.
fn claim_in_run(
    tx: &mut Tx<'_>,
    run_lists: &mut RunLists,
    keys: &[(i64, i64)],
) -> Result<BTreeMap<i64, i64>> {
    let hashes = hashes(keys);
    let mut taken = in_runs(tx, &run_lists.ids, &hashes)?.ok_or_else(missing_run)?;
    // If all events go directly into runs, there are no young rows.
    if run_lists.has_young_ids {
        taken.extend(young(tx, &hashes)?);
    }
    let mut free: Vec<EventIdHash> = Vec::with_capacity(keys.len());
    for &(hash, seq) in keys {
        if free.last().is_some_and(|last| last.hash == hash) {
            taken.insert(hash, free[free.len() - 1].seq);
        } else if !taken.contains_key(&hash) {
            free.push(EventIdHash { hash, seq });
        }
    }
    run_lists.ids.add(tx, free)?;
    Ok(taken)
}

/// Claims by rows, beside other transactions that do the same. Two claims of one id meet in the unique index, where the
/// later one waits until the earlier one ends. Ids in runs are not in that index. So this inserts first and looks into
/// the runs afterwards: an id whose row was moved before the insertion is in a run that the list shows by then.
fn claim_as_rows(tx: &mut Tx<'_>, keys: &[(i64, i64)]) -> Result<BTreeMap<i64, i64>> {
    let hashes = hashes(keys);
    let values: Vec<Value<'_>> =
        keys.iter().flat_map(|&(hash, seq)| [hash.into(), seq.into()]).collect();
    let claimed =
        tx.insert_rows("event_ids", &["hash", "seq"], &values, "ON CONFLICT DO NOTHING")?;
    let all_were_free = claimed == keys.len() as u64;
    let mut taken = if all_were_free { BTreeMap::new() } else { young(tx, &hashes)? };
    let in_runs = latest_in_runs(tx, &hashes, RunListValidity::Claim)?;
    if !all_were_free && !hashes.iter().all(|h| taken.contains_key(h) || in_runs.contains_key(h)) {
        return Err(missing_event());
    }
    let mut own = Vec::new();
    for (hash, seq) in in_runs {
        let row = taken.get(&hash);
        // Otherwise the row is that of a correction, which is younger than the run.
        if row.is_none_or(|row| keys.binary_search(&(hash, *row)).is_ok()) {
            own.push(hash);
            taken.insert(hash, seq);
        }
    }
    let sql = format!("DELETE FROM event_ids WHERE hash IN ({})", *MARKS);
    for list in lists(&own) {
        tx.send(&sql, &list.into_iter().map(Value::Int).collect::<Vec<_>>())?;
    }
    Ok(taken)
}

/// The sorted hashes of sorted keys.
fn hashes(keys: &[(i64, i64)]) -> Vec<i64> {
    keys.iter().map(|(hash, _)| *hash).collect()
}

/// The holders of the hashes.
pub(super) fn holders(tx: &mut Tx<'_>, hashes: &[i64]) -> Result<BTreeMap<i64, i64>> {
    if hashes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    // Rows first, because ids move from rows into runs.
    let young = young(tx, hashes)?;
    let mut found = latest_in_runs(tx, &sorted, RunListValidity::Snapshot)?;
    found.extend(young);
    Ok(found)
}

/// Assigns a hash to another number, which is greater than the previous one.
pub(super) fn hold(tx: &mut Tx<'_>, hash: i64, seq: i64) -> Result<()> {
    let sql = "INSERT INTO event_ids (hash, seq) VALUES ($1, $2) \
               ON CONFLICT (hash) DO UPDATE SET seq = excluded.seq";
    tx.send(sql, &[hash.into(), seq.into()])
}

/// Those of the hashes that are in runs now. If a transaction sees the latest state, the runs of a list that it read may
/// have been merged into another one since. Then it reads the list again.
fn latest_in_runs(
    tx: &mut Tx<'_>,
    hashes: &[i64],
    validity: RunListValidity,
) -> Result<BTreeMap<i64, i64>> {
    for _ in 0..LIST_READS_MAX_COUNT {
        let runs = Runs::open(tx, validity)?;
        if let Some(found) = in_runs(tx, &runs, hashes)? {
            return Ok(found);
        }
    }
    Err(missing_run())
}

/// The error if a taken hash has no event.
pub(super) fn missing_event() -> Problem {
    Problem::internal("an id is taken, but its event is missing")
}

fn missing_run() -> Problem {
    Problem::internal("a run of ids is missing")
}

/// Those of the hashes that are in runs; `None` if a run is gone. A correction is in a later run than the event that it
/// corrects, and has a greater number. The hashes must be sorted.
fn in_runs(
    tx: &mut Tx<'_>,
    runs: &Runs<EventIdHash>,
    hashes: &[i64],
) -> Result<Option<BTreeMap<i64, i64>>> {
    let mut found = BTreeMap::new();
    let is_complete = runs.find(tx, hashes, &(0..1), |EventIdHash { hash, seq }| {
        let holder = found.entry(hash).or_insert(seq);
        *holder = seq.max(*holder);
    })?;
    Ok(is_complete.then_some(found))
}

fn young(tx: &mut Tx<'_>, hashes: &[i64]) -> Result<BTreeMap<i64, i64>> {
    let sql = format!("SELECT hash, seq FROM event_ids WHERE hash IN ({})", *MARKS);
    let mut found = BTreeMap::new();
    for list in lists(hashes) {
        let values: Vec<Value<'_>> = list.into_iter().map(Value::Int).collect();
        tx.query(&sql, &values, |row| {
            found.insert(row.int(0)?, row.int(1)?);
            Ok(true)
        })?;
    }
    Ok(found)
}

/// Moves young rows into a run.
pub(super) fn gather(tx: &mut Tx<'_>, runs: &mut Runs<EventIdHash>) -> Result<GatherOutcome> {
    let sql = "SELECT hash FROM event_ids ORDER BY hash LIMIT 1 OFFSET $1";
    let last = tx.query_one(sql, &[(GATHERED_ROWS - 1).into()], |row| row.int(0))?;
    // In one statement, so that it removes no row that another transaction has just added.
    let sql = "DELETE FROM event_ids WHERE hash <= $1 RETURNING hash, seq";
    let ids = tx.all(sql, &[last.unwrap_or(i64::MAX).into()], |row| {
        Ok(EventIdHash { hash: row.int(0)?, seq: row.int(1)? })
    })?;
    let outcome =
        GatherOutcome { moved: ids.len(), has_more: last.is_some(), ..GatherOutcome::default() };
    runs.add(tx, ids)?;
    Ok(outcome)
}
