//! The chunks of runs, and their heads.

use std::collections::BTreeSet;
use std::sync::Arc;

use lyceum_core::{Problem, Result};
use lyceum_store::{IN_LIST_MARKS, Tx, Value, in_lists};

use super::keys::KeyNumber;
use super::runs::{MERGED, RunEntry, RunTables, count};
use crate::head::{self, RunHead};
use crate::record::{UnpackedRecords, packed};

/// The number of records in a chunk, small enough to read and unpack a chunk in microseconds.
const IN_CHUNK: usize = 256;

pub(super) fn write(
    tx: &mut Tx<'_>,
    tables: RunTables,
    number: i64,
    records: &[KeyNumber],
) -> Result<RunEntry> {
    let bodies: Vec<Vec<u8>> = records.chunks(IN_CHUNK).map(packed).collect();
    let first_keys = records.chunks(IN_CHUNK).map(|chunk| chunk[0].key).collect();
    let head = RunHead::new(first_keys, records.iter().map(|record| record.key));
    let bytes = head.to_bytes();
    let mark = head::mark(&bytes);
    head::cache(mark, head);
    let mut values: Vec<Value<'_>> = Vec::with_capacity(2 * (bodies.len() + 1));
    for (id, body) in (number..).zip(std::iter::once(&bytes).chain(&bodies)) {
        values.extend([Value::Int(id), Value::Blob(body)]);
    }
    tx.send_rows(tables.chunks, &["id", "body"], &values, "")?;
    Ok(RunEntry { head: number, chunks: count(bodies.len()), records: count(records.len()), mark })
}

pub(super) fn drop_run(tx: &mut Tx<'_>, tables: RunTables, run: &RunEntry) -> Result<()> {
    head::forget(run.mark);
    let sql = format!("DELETE FROM {} WHERE id >= $1 AND id < $2", tables.chunks);
    tx.send(&sql, &[run.head.into(), run.end_number().into()])
}

/// The head of a run; `None` if it is gone.
pub(super) fn read_head(
    tx: &mut Tx<'_>,
    tables: RunTables,
    run: &RunEntry,
) -> Result<Option<Arc<RunHead>>> {
    if let Some(head) = head::cached_head(run.mark) {
        return Ok(Some(head));
    }
    let sql = format!("SELECT body FROM {} WHERE id = $1", tables.chunks);
    let chunks = usize::try_from(run.chunks).map_err(Problem::internal)?;
    let head =
        tx.query_one(&sql, &[run.head.into()], |row| RunHead::from_bytes(row.blob(0)?, chunks))?;
    Ok(head.map(|head| head::cache(run.mark, head)))
}

/// Adds all records of runs, in no particular order. It uses one statement for all, because a statement per run would
/// take longer than the reading.
pub(super) fn read_whole(
    tx: &mut Tx<'_>,
    tables: RunTables,
    runs: &[RunEntry],
    records: &mut Vec<KeyNumber>,
) -> Result<()> {
    let range = |n| format!("(id > ${} AND id < ${})", 2 * n + 1, 2 * n + 2);
    let ranges: Vec<String> = (0..MERGED).map(range).collect();
    let sql = format!("SELECT body FROM {} WHERE {}", tables.chunks, ranges.join(" OR "));
    for runs in runs.chunks(MERGED) {
        // Padded, so that all share one prepared statement.
        let padded = runs.iter().chain(std::iter::repeat(&runs[0])).take(MERGED);
        let values: Vec<Value<'_>> =
            padded.flat_map(|run| [run.head.into(), run.end_number().into()]).collect();
        tx.query(&sql, &values, |row| {
            for record in UnpackedRecords::of(row.blob(0)?) {
                records.push(record?);
            }
            Ok(true)
        })?;
    }
    Ok(())
}

/// Calls `each` with the records of chunks, given by their numbers. `false` if some are gone.
pub(super) fn fetch(
    tx: &mut Tx<'_>,
    tables: RunTables,
    chunks: BTreeSet<i64>,
    mut each: impl FnMut(i64, UnpackedRecords<'_, KeyNumber>) -> Result<()>,
) -> Result<bool> {
    let sql = format!("SELECT id, body FROM {} WHERE id IN ({})", tables.chunks, *IN_LIST_MARKS);
    let mut left = chunks.len();
    for list in in_lists(&Vec::from_iter(chunks)) {
        let values: Vec<Value<'_>> = list.into_iter().map(Value::Int).collect();
        tx.query(&sql, &values, |row| {
            left -= 1;
            each(row.int(0)?, UnpackedRecords::of(row.blob(1)?))?;
            Ok(true)
        })?;
    }
    Ok(left == 0)
}
