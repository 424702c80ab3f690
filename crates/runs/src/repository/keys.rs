//! Keys that count once, each with a number: the latest are rows, all others are in runs.

use std::collections::BTreeMap;

use lyceum_core::{Problem, Result};
use lyceum_store::log::{RowLock, is_only_writer, lock, run_again_if_changed};
use lyceum_store::{IN_LIST_MARKS, Tx, Value, in_lists};

use super::runs::{RunTables, Runs};
use crate::record::{PackedNumbers, PackedRecord, pack};

/// How often a list of runs is read if its runs are gone each time. They are merged about once a second.
const LIST_READS_MAX_COUNT: u32 = 20;

/// A key and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyNumber {
    /// The key, best a hash.
    pub key: i64,
    /// Its number. A later number of a key is greater than the former ones.
    pub number: i64,
}

impl PackedRecord for KeyNumber {
    const FIRST: Self = Self { key: 0, number: 0 };

    fn write(&self, before: &Self, out: &mut Vec<u8>) {
        pack(self.key.wrapping_sub(before.key), out);
        pack(self.number - before.number, out);
    }

    fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
        let key = before.key.wrapping_add(packed.number()?);
        Some(Self { key, number: before.number.checked_add(packed.number()?)? })
    }
}

/// Where unique keys are stored.
#[derive(Clone, Copy, Debug)]
pub struct UniqueKeys {
    /// The table of the latest keys. Its columns are `hash` (the key) and `seq` (its number).
    pub rows: &'static str,
    /// The runs of all others.
    pub runs: RunTables,
}

impl UniqueKeys {
    /// Claims keys for numbers, beside other transactions that do the same. Returns the numbers of those that were taken,
    /// which may be numbers of other pairs. Sorts the pairs.
    ///
    /// Two claims of one key meet in the unique index of rows, where the later one waits until the earlier one ends. Keys
    /// in runs are not in that index. So this inserts first and looks into the runs afterwards: a key whose row was moved
    /// before the insertion is in a run that the list shows by then. A transaction that sees one state runs again if the
    /// list has changed since.
    pub fn claim(&self, tx: &mut Tx<'_>, pairs: &mut [(i64, i64)]) -> Result<BTreeMap<i64, i64>> {
        // Sorted, so that two transactions never wait for each other in a circle.
        pairs.sort_unstable();
        let keys = keys(pairs);
        let values: Vec<Value<'_>> =
            pairs.iter().flat_map(|&(key, number)| [key.into(), number.into()]).collect();
        let claimed =
            tx.insert_rows(self.rows, &["hash", "seq"], &values, "ON CONFLICT DO NOTHING")?;
        let all_were_free = claimed == pairs.len() as u64;
        let mut taken =
            if all_were_free { BTreeMap::new() } else { self.numbers_in_rows(tx, &keys)? };
        self.run_again_if_list_changed(tx)?;
        let in_runs = self.latest_numbers_in_runs(tx, &keys)?;
        if !all_were_free && !keys.iter().all(|k| taken.contains_key(k) || in_runs.contains_key(k))
        {
            return Err(Problem::internal("a key is taken, but its row is missing"));
        }
        let mut own = Vec::new();
        for (key, number) in in_runs {
            let row = taken.get(&key);
            // Otherwise the row is newer than the run (see `set_number`).
            if row.is_none_or(|row| pairs.binary_search(&(key, *row)).is_ok()) {
                own.push(key);
                taken.insert(key, number);
            }
        }
        let sql = format!("DELETE FROM {} WHERE hash IN ({})", self.rows, *IN_LIST_MARKS);
        for list in in_lists(&own) {
            tx.send(&sql, &list.into_iter().map(Value::Int).collect::<Vec<_>>())?;
        }
        Ok(taken)
    }

    /// Like [`claim`](Self::claim), but the only writer adds the keys to the runs at once. If a key occurs twice among the
    /// pairs, the first number holds it.
    pub fn claim_in_run(
        &self,
        tx: &mut Tx<'_>,
        pairs: &mut [(i64, i64)],
    ) -> Result<BTreeMap<i64, i64>> {
        pairs.sort_unstable();
        let keys = keys(pairs);
        let mut runs = Runs::open(tx, self.runs)?;
        let mut taken = numbers_in_runs(tx, &runs, &keys)?.ok_or_else(missing_run)?;
        let any_row = format!("SELECT hash FROM {} LIMIT 1", self.rows);
        if tx.row::<i64>(&any_row, &[])?.is_some() {
            taken.extend(self.numbers_in_rows(tx, &keys)?);
        }
        let mut free: Vec<KeyNumber> = Vec::with_capacity(pairs.len());
        for &(key, number) in &*pairs {
            if free.last().is_some_and(|last| last.key == key) {
                taken.insert(key, free[free.len() - 1].number);
            } else if !taken.contains_key(&key) {
                free.push(KeyNumber { key, number });
            }
        }
        runs.add(tx, free)?;
        Ok(taken)
    }

    /// The numbers of the keys.
    pub fn numbers(&self, tx: &mut Tx<'_>, keys: &[i64]) -> Result<BTreeMap<i64, i64>> {
        if keys.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        // Rows first, because keys move from rows into runs.
        let rows = self.numbers_in_rows(tx, keys)?;
        let mut found = self.latest_numbers_in_runs(tx, &sorted)?;
        found.extend(rows);
        Ok(found)
    }

    /// Sets another number of a key, which is greater than the former one.
    pub fn set_number(&self, tx: &mut Tx<'_>, key: i64, number: i64) -> Result<()> {
        let sql = format!(
            "INSERT INTO {} (hash, seq) VALUES ($1, $2) \
             ON CONFLICT (hash) DO UPDATE SET seq = excluded.seq",
            self.rows
        );
        tx.send(&sql, &[key.into(), number.into()])
    }

    /// Moves at most `limit` keys from rows into a run, in a transaction that has locked the list of runs
    /// ([`try_lock_lists`]) or is the only writer. Returns how many, and whether so many were there that some may be left.
    pub fn move_rows_to_run(&self, tx: &mut Tx<'_>, limit: i64) -> Result<(usize, bool)> {
        let rows = self.rows;
        let sql = format!("SELECT hash FROM {rows} ORDER BY hash LIMIT 1 OFFSET $1");
        let last = tx.query_one(&sql, &[(limit - 1).into()], |row| row.int(0))?;
        // In one statement, so that it removes no row that another transaction has just added.
        let sql = format!("DELETE FROM {rows} WHERE hash <= $1 RETURNING hash, seq");
        let keys = tx.all(&sql, &[last.unwrap_or(i64::MAX).into()], |row| {
            Ok(KeyNumber { key: row.int(0)?, number: row.int(1)? })
        })?;
        let count = keys.len();
        Runs::open(tx, self.runs)?.add(tx, keys)?;
        Ok((count, last.is_some()))
    }

    /// In a transaction that sees one state, a key may have moved into a run that this state does not have.
    fn run_again_if_list_changed(&self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = format!("SELECT 1 FROM {} WHERE name = $1", self.runs.lists);
        run_again_if_changed(tx, &sql, &[self.runs.name.into()])
    }

    /// The keys that are in runs now. If a transaction sees the latest state, the runs of a list that it read may have
    /// been merged into another one since. Then it reads the list again.
    fn latest_numbers_in_runs(&self, tx: &mut Tx<'_>, keys: &[i64]) -> Result<BTreeMap<i64, i64>> {
        for _ in 0..LIST_READS_MAX_COUNT {
            let runs = Runs::open(tx, self.runs)?;
            if let Some(found) = numbers_in_runs(tx, &runs, keys)? {
                return Ok(found);
            }
        }
        Err(missing_run())
    }

    fn numbers_in_rows(&self, tx: &mut Tx<'_>, keys: &[i64]) -> Result<BTreeMap<i64, i64>> {
        let sql = format!("SELECT hash, seq FROM {} WHERE hash IN ({})", self.rows, *IN_LIST_MARKS);
        let mut found = BTreeMap::new();
        for list in in_lists(keys) {
            let values: Vec<Value<'_>> = list.into_iter().map(Value::Int).collect();
            tx.query(&sql, &values, |row| {
                found.insert(row.int(0)?, row.int(1)?);
                Ok(true)
            })?;
        }
        Ok(found)
    }
}

/// Locks lists of runs of one table until the transaction ends, so that no other transaction changes them. Does not wait:
/// `false` if another transaction has locked one of them.
pub fn try_lock_lists(tx: &mut Tx<'_>, lists: &[RunTables]) -> Result<bool> {
    if is_only_writer(tx) {
        return Ok(true);
    }
    let marks: Vec<String> = (1..=lists.len()).map(|n| format!("${n}")).collect();
    let sql = format!(
        "SELECT name FROM {} WHERE name IN ({}) {}",
        lists[0].lists,
        marks.join(", "),
        lock(tx, RowLock::AloneIfFree)
    );
    let names: Vec<Value<'_>> = lists.iter().map(|list| list.name.into()).collect();
    Ok(tx.all(&sql, &names, |row| row.string(0))?.len() == lists.len())
}

/// The sorted keys of sorted pairs.
fn keys(pairs: &[(i64, i64)]) -> Vec<i64> {
    pairs.iter().map(|(key, _)| *key).collect()
}

fn missing_run() -> Problem {
    Problem::internal("a run of keys is missing")
}

/// The keys that are in runs; `None` if a run is gone. A key whose number was set again is in a later run, with a
/// greater number. The keys must be sorted.
fn numbers_in_runs(
    tx: &mut Tx<'_>,
    runs: &Runs,
    keys: &[i64],
) -> Result<Option<BTreeMap<i64, i64>>> {
    let mut found = BTreeMap::new();
    let is_complete = runs.find(tx, keys, |KeyNumber { key, number }| {
        let latest = found.entry(key).or_insert(number);
        *latest = number.max(*latest);
    })?;
    Ok(is_complete.then_some(found))
}
