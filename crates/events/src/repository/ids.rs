//! The number of each id: young hashes of ids are rows, and all others are in runs.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_store::{Tx, Value, log};

use super::run_list_lock::RunListLock;
use super::runs::{PackedNumbers, RunListValidity, RunRecord, Runs, pack};
use super::{GATHERED_ROWS, MARKS, lists};

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

/// Claims hashes for numbers, given as pairs. If some were taken, it returns their holders and claims nothing. If the
/// young rows are to be `gathered`, they become a run afterwards.
pub(super) fn claim(
    tx: &mut Tx<'_>,
    keys: &mut [(i64, i64)],
    gathered: bool,
    turn: Option<&mut RunListLock>,
) -> Result<BTreeMap<i64, i64>> {
    // Sorted, so that two transactions never wait for each other in a circle.
    keys.sort_unstable();
    let hashes: Vec<i64> = keys.iter().map(|(hash, _)| *hash).collect();
    let mut opened = None;
    let has_young = turn.as_ref().map(|turn| turn.has_young);
    let runs = match turn {
        Some(turn) => &mut turn.ids,
        None if gathered || log::sees_latest(tx) => {
            opened.insert(Runs::open(tx, RunListValidity::Alone)?)
        }
        None => opened.insert(Runs::open(tx, RunListValidity::Shared)?),
    };
    let mut taken = in_runs(tx, runs, &hashes)?;
    match has_young {
        // This transaction waited for its turn and then saw all earlier claims, so it needs no index to detect
        // conflicts.
        Some(has_young) => {
            // If all events go directly into runs, there are no young rows.
            if has_young {
                taken.extend(young(tx, &hashes)?);
            }
            claim_in_run(tx, runs, keys, &mut taken)?;
        }
        None => claim_as_rows(tx, keys, &hashes, &mut taken)?,
    }
    if gathered {
        gather(tx, runs)?;
    }
    Ok(taken)
}

/// If a hash occurs twice among the keys, the first number holds it.
fn claim_in_run(
    tx: &mut Tx<'_>,
    runs: &mut Runs<EventIdHash>,
    keys: &[(i64, i64)],
    taken: &mut BTreeMap<i64, i64>,
) -> Result<()> {
    let mut free: Vec<EventIdHash> = Vec::with_capacity(keys.len());
    for &(hash, seq) in keys {
        if free.last().is_some_and(|last| last.hash == hash) {
            taken.insert(hash, free[free.len() - 1].seq);
        } else if !taken.contains_key(&hash) {
            free.push(EventIdHash { hash, seq });
        }
    }
    runs.add(tx, free)
}

fn claim_as_rows(
    tx: &mut Tx<'_>,
    keys: &[(i64, i64)],
    hashes: &[i64],
    taken: &mut BTreeMap<i64, i64>,
) -> Result<()> {
    let free: Vec<Value<'_>> = keys
        .iter()
        .filter(|(hash, _)| !taken.contains_key(hash))
        .flat_map(|&(hash, seq)| [hash.into(), seq.into()])
        .collect();
    let claimed = insert(tx, &free)?;
    if claimed < keys.len() as u64 {
        taken.extend(young(tx, hashes)?);
    }
    Ok(())
}

fn insert(tx: &mut Tx<'_>, values: &[Value<'_>]) -> Result<u64> {
    if values.is_empty() {
        return Ok(0);
    }
    tx.insert_rows("event_ids", &["hash", "seq"], values, "ON CONFLICT DO NOTHING")
}

/// The holders of the hashes.
pub(super) fn holders(tx: &mut Tx<'_>, hashes: &[i64]) -> Result<BTreeMap<i64, i64>> {
    if hashes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    let runs = Runs::open(tx, RunListValidity::Snapshot)?;
    let mut found = in_runs(tx, &runs, &sorted)?;
    found.extend(young(tx, hashes)?);
    Ok(found)
}

/// Assigns a hash to another number, which is greater than the previous one.
pub(super) fn hold(tx: &mut Tx<'_>, hash: i64, seq: i64) -> Result<()> {
    let sql = "INSERT INTO event_ids (hash, seq) VALUES ($1, $2) \
               ON CONFLICT (hash) DO UPDATE SET seq = excluded.seq";
    tx.send(sql, &[hash.into(), seq.into()])
}

/// Those of the hashes that are in runs. A correction is in a later run than the event that it corrects, and has a
/// greater number. The hashes must be sorted.
fn in_runs(
    tx: &mut Tx<'_>,
    runs: &Runs<EventIdHash>,
    hashes: &[i64],
) -> Result<BTreeMap<i64, i64>> {
    let mut found = BTreeMap::new();
    runs.find(tx, hashes, &(0..1), |EventIdHash { hash, seq }| {
        let holder = found.entry(hash).or_insert(seq);
        *holder = seq.max(*holder);
    })?;
    Ok(found)
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
fn gather(tx: &mut Tx<'_>, runs: &mut Runs<EventIdHash>) -> Result<()> {
    let sql = "SELECT hash, seq FROM event_ids ORDER BY hash LIMIT $1";
    let ids = tx.all(sql, &[GATHERED_ROWS.into()], |row| {
        Ok(EventIdHash { hash: row.int(0)?, seq: row.int(1)? })
    })?;
    // If no arriving id was new, there are no young rows.
    let Some(last) = ids.last() else { return Ok(()) };
    tx.send("DELETE FROM event_ids WHERE hash <= $1", &[last.hash.into()])?;
    runs.add(tx, ids)
}
