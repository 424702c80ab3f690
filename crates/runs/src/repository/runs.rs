//! The list of runs of one kind of key.

use std::collections::BTreeMap;

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;

use super::chunks::{drop_run, fetch, read_head, read_whole, write};
use super::keys::KeyNumber;

/// Where the runs of one kind of key are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTables {
    /// The table of lists. Its columns are `name` (a key) and `list` (bytes, or NULL). The name has a row.
    pub lists: &'static str,
    /// The name of the list.
    pub name: &'static str,
    /// The table of chunks. Its columns are `id` (the key, a whole number) and `body` (bytes).
    pub chunks: &'static str,
}

/// The size ratio of levels, as a power of two: eight runs make one of the next level.
const LEVEL_BITS: u32 = 3;
/// The number of runs of one level that are merged.
pub(super) const MERGED: usize = 1 << LEVEL_BITS;
/// The most records that runs are merged into. On SQLite, merging delays other writers.
const MAX_RECORDS: i64 = 600_000;

/// A run, as stored in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunEntry {
    /// The number of its head. The numbers of its chunks follow.
    pub(super) head: i64,
    pub(super) chunks: i64,
    pub(super) records: i64,
    /// The mark of its head.
    pub(super) mark: i64,
}

/// The number of integers in a stored [`RunEntry`]. Two of them are not used.
const RUN: usize = 6;

impl RunEntry {
    fn numbers(self) -> [i64; RUN] {
        [self.head, self.chunks, self.records, 0, 0, self.mark]
    }

    fn level(self) -> u32 {
        self.records.max(1).ilog2() / LEVEL_BITS
    }

    /// The number after its last chunk.
    pub(super) fn end_number(&self) -> i64 {
        self.head + 1 + self.chunks
    }
}

/// The runs of one kind of key, as one statement saw them.
#[derive(Debug)]
pub struct Runs {
    tables: RunTables,
    list: Vec<RunEntry>,
}

impl Runs {
    /// Reads the list of runs.
    pub fn open(tx: &mut Tx<'_>, tables: RunTables) -> Result<Self> {
        let sql = format!("SELECT list FROM {} WHERE name = $1", tables.lists);
        let list = tx
            .query_one(&sql, &[tables.name.into()], |row| Ok(Self::of(tables, row.opt_blob(0)?)))?;
        list.ok_or_else(|| Problem::internal("a list of runs is missing"))
    }

    /// The runs in a stored list.
    fn of(tables: RunTables, list: Option<&[u8]>) -> Self {
        let (numbers, _) = list.unwrap_or_default().as_chunks();
        let numbers: Vec<i64> = numbers.iter().map(|one| i64::from_le_bytes(*one)).collect();
        let (runs, _) = numbers.as_chunks::<RUN>();
        let run = |&[head, chunks, records, _, _, mark]: &[i64; RUN]| RunEntry {
            head,
            chunks,
            records,
            mark,
        };
        Self { tables, list: runs.iter().map(run).collect() }
    }

    /// The marks of the heads of all runs.
    pub fn marks(&self) -> impl Iterator<Item = i64> {
        self.list.iter().map(|run| run.mark)
    }

    /// Calls `each` with the records of the keys, in no particular order. The keys must be sorted. `false` if runs of
    /// the list are gone, because it is outdated; then some records may be missing.
    pub fn find(
        &self,
        tx: &mut Tx<'_>,
        keys: &[i64],
        mut each: impl FnMut(KeyNumber),
    ) -> Result<bool> {
        let mut chunks: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for run in &self.list {
            let Some(head) = read_head(tx, self.tables, run)? else { return Ok(false) };
            for key in keys {
                for at in head.chunks_of(*key) {
                    // Its chunks are numbered from the number after its head.
                    chunks.entry(run.head + 1 + count(at)).or_default().push(*key);
                }
            }
        }
        fetch(tx, self.tables, chunks.keys().copied().collect(), |chunk, records| {
            let wanted = &chunks[&chunk];
            for record in records {
                let record = record?;
                if Some(&record.key) > wanted.last() {
                    break;
                }
                if wanted.binary_search(&record.key).is_ok() {
                    each(record);
                }
            }
            Ok(())
        })
    }

    /// Adds records as a new run, or merged with others of its size.
    pub fn add(&mut self, tx: &mut Tx<'_>, mut records: Vec<KeyNumber>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        // Behind all runs, including those that are merged now, so that the number of a chunk never means another one.
        let head = self.list.iter().map(RunEntry::end_number).max().unwrap_or(1);
        while self.merge(tx, &mut records)? {}
        records.sort();
        let run = write(tx, self.tables, head, &records)?;
        self.list.push(run);
        self.save(tx)
    }

    /// If there are enough runs of the records' size, removes them from the list and joins them with the records: as
    /// many as fit into one run, smallest first. Returns whether it did.
    fn merge(&mut self, tx: &mut Tx<'_>, records: &mut Vec<KeyNumber>) -> Result<bool> {
        let level = records.len().ilog2() / LEVEL_BITS;
        let (mut alike, mut others): (Vec<RunEntry>, Vec<RunEntry>) =
            self.list.iter().partition(|run| run.level() == level);
        if alike.len() + 1 < MERGED {
            return Ok(false);
        }
        alike.sort_by_key(|run| run.records);
        let room = MAX_RECORDS - count(records.len());
        let fitting = fitting(alike.iter().map(|run| run.records), room);
        if fitting == 0 {
            return Ok(false);
        }
        others.extend(alike.split_off(fitting));
        self.list = others;
        let more: i64 = alike.iter().map(|run| run.records).sum();
        records.reserve(usize::try_from(more).unwrap_or_default());
        read_whole(tx, self.tables, &alike, records)?;
        for run in alike {
            drop_run(tx, self.tables, &run)?;
        }
        Ok(true)
    }

    fn save(&self, tx: &mut Tx<'_>) -> Result<()> {
        let numbers = self.list.iter().flat_map(|run| run.numbers());
        let list: Vec<u8> = numbers.flat_map(i64::to_le_bytes).collect();
        let values = [list.as_slice().into(), self.tables.name.into()];
        let sql = format!("UPDATE {} SET list = $1 WHERE name = $2", self.tables.lists);
        tx.send(&sql, &values)
    }
}

pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).expect("records fit into memory")
}

/// How many runs of these sizes, from the first, fit together into the room.
fn fitting(records: impl Iterator<Item = i64>, room: i64) -> usize {
    let together = records.scan(0, |sum, records| {
        *sum += records;
        Some(*sum)
    });
    together.take_while(|sum| *sum <= room).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::head::RunHead;
    use crate::record::{PackedNumbers, PackedRecord, UnpackedRecords, pack, packed};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Pair(i64, i64);

    impl PackedRecord for Pair {
        const FIRST: Self = Self(0, 0);

        fn write(&self, before: &Self, out: &mut Vec<u8>) {
            pack(self.0.wrapping_sub(before.0), out);
            pack(self.1, out);
        }

        fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
            Some(Self(before.0.wrapping_add(packed.number()?), packed.number()?))
        }
    }

    proptest! {
        #[test]
        fn packed_records_can_be_unpacked(pairs: Vec<(i64, i64)>) {
            let pairs: Vec<Pair> = pairs.into_iter().map(|(key, time)| Pair(key, time)).collect();
            let chunk = packed(&pairs);
            let read: Vec<Pair> = UnpackedRecords::of(&chunk).map(Result::unwrap).collect();
            prop_assert_eq!(read, pairs);
        }

        #[test]
        fn damaged_bytes_never_panic(bytes: Vec<u8>, chunks in 0_usize..4) {
            prop_assert!(UnpackedRecords::<Pair>::of(&bytes).count() <= bytes.len());
            if let Ok(head) = RunHead::from_bytes(&bytes, chunks) {
                prop_assert!(head.chunks_of(7).end <= chunks);
            }
        }

        #[test]
        fn a_head_finds_every_chunk_of_a_key(mut keys in prop::collection::vec(-20_i64..20, 1..60)) {
            keys.sort_unstable();
            let first_keys: Vec<i64> = keys.chunks(4).map(|chunk| chunk[0]).collect();
            let head = RunHead::new(first_keys.clone(), keys.iter().copied());
            let read = RunHead::from_bytes(&head.to_bytes(), first_keys.len()).unwrap();
            for (at, chunk) in keys.chunks(4).enumerate() {
                for key in chunk {
                    prop_assert!(head.chunks_of(*key).contains(&at));
                    prop_assert!(read.chunks_of(*key).contains(&at));
                }
            }
        }
    }

    #[test]
    fn as_many_runs_are_merged_as_fit_into_one() {
        let fitting_in = |room| fitting([100, 100, 300].into_iter(), room);
        assert_eq!(
            [-1, 0, 99, 100, 199, 200, 499, 500, 9999].map(fitting_in),
            [0, 0, 0, 1, 1, 2, 2, 3, 3]
        );
    }

    #[test]
    fn a_filter_excludes_nearly_all_missing_keys() {
        let keys: Vec<i64> = (0..10_000).map(|number| number * 3).collect();
        let head = RunHead::new(keys.clone(), keys.iter().copied());
        let mistaken = keys.iter().filter(|key| !head.chunks_of(**key + 1).is_empty()).count();
        assert!(mistaken < 30, "{mistaken} of 10000");
    }
}
