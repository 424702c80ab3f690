//! The events of each actor, by day. An entry is added when the facts of its event are summed, some ten thousand at a
//! time: an index of the log itself would change a page for each event that arrives.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::Result;
use lyceum_runs::{PackedNumbers, PackedRecord, UnpackedRecords, pack, packed};
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::{Tx, Value};

use super::{Fact, json_list};
use crate::facts::BUCKET_MS;
use crate::limits::{FACT_LOCATE_CHUNK_COUNT, FACT_ROWS_SENT_COUNT};
use crate::repository::spans::DAY_MS;

/// The day of a bucket. The last day before 1970 has the same number as the first one of 1970, as in spans.
fn day(bucket: i64) -> i64 {
    bucket.saturating_mul(BUCKET_MS) / DAY_MS
}

/// The number of an event.
#[derive(Clone, Copy)]
struct EventNumber(i64);

impl PackedRecord for EventNumber {
    const FIRST: Self = Self(0);

    fn write(&self, before: &Self, out: &mut Vec<u8>) {
        pack(self.0.wrapping_sub(before.0), out);
    }

    fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
        Some(Self(before.0.wrapping_add(packed.number()?)))
    }
}

/// Adds the places of the events of facts: for each actor and day one row, which is found by the first event and has the
/// others packed, because on PostgreSQL a row costs as much as many packed numbers.
///
/// A row with this first event is replaced. It exists if [`place`] or the migration of the table made it, for this event
/// alone.
pub(super) fn add(tx: &mut Tx<'_>, facts: &[Fact]) -> Result<()> {
    let mut events: BTreeMap<[i64; 2], BTreeSet<i64>> = BTreeMap::new();
    for fact in facts {
        events.entry([fact.actor(), day(fact.bucket())]).or_default().insert(fact.seq());
    }
    let rows = events.into_iter().filter_map(|([actor, day], mut seqs)| {
        let first = seqs.pop_first()?;
        let others: Vec<EventNumber> = seqs.into_iter().map(EventNumber).collect();
        Some(([actor, day, first], packed(&others)))
    });
    let rows: Vec<([i64; 3], Vec<u8>)> = rows.collect();
    for rows in rows.chunks(FACT_ROWS_SENT_COUNT) {
        let values: Vec<Value<'_>> = rows
            .iter()
            .flat_map(|(key, others)| key.map(Value::Int).into_iter().chain([Value::Blob(others)]))
            .collect();
        let columns = ["actor", "day", "seq", "others"];
        let conflict = "ON CONFLICT (actor, day, seq) DO UPDATE SET others = excluded.others";
        tx.send_rows("event_places", &columns, &values, conflict)?;
    }
    Ok(())
}

/// Calls `each` with the numbers of the events of actors on the days from one bucket to another.
pub(super) fn each(
    tx: &mut Tx<'_>,
    actors: &[i64],
    (first, last): (i64, i64),
    mut each: impl FnMut(i64),
) -> Result<()> {
    let sql = format!(
        "SELECT seq, others FROM event_places WHERE {} AND day >= $2 AND day <= $3",
        is_one_of_numbers(tx.dialect(), "actor", "$1")
    );
    let actors = json_list(actors)?;
    tx.query(&sql, &[(&actors).into(), day(first).into(), day(last).into()], |row| {
        each(row.int(0)?);
        for other in UnpackedRecords::<EventNumber>::of(row.blob(1)?) {
            each(other?.0);
        }
        Ok(true)
    })
}

/// Removes the places of the actors after `after` up to `last`.
pub(super) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let sql = "DELETE FROM event_places WHERE actor > $1 AND actor <= $2";
    tx.send(sql, &[after.into(), last.into()])
}

/// Adds the places of a limited number of events after `after`, as rows of their own. Returns the last event; `None` if there
/// are no more.
pub fn place(tx: &mut Tx<'_>, after: i64) -> Result<Option<i64>> {
    let last = "SELECT MAX(seq) FROM (SELECT seq FROM event_log WHERE seq > $1 ORDER BY seq LIMIT $2) AS l";
    let last: Option<i64> =
        tx.row(last, &[after.into(), FACT_LOCATE_CHUNK_COUNT.into()])?.flatten();
    let Some(last) = last else { return Ok(None) };
    let sql = "INSERT INTO event_places (actor, day, seq, others) \
               SELECT actor, event_ms / $1, seq, $2 FROM event_log \
               WHERE seq > $3 AND seq <= $4 AND superseded_by IS NULL ON CONFLICT DO NOTHING";
    tx.send(sql, &[DAY_MS.into(), Value::Blob(&[]), after.into(), last.into()])?;
    Ok(Some(last))
}
