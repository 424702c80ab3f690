//! Facts that are not summed yet: packed, in rows that only their own transaction writes.

use std::ops::{Range, RangeInclusive};

use lyceum_core::Result;
use lyceum_runs::{UnpackedRecords, packed};
use lyceum_store::{Tx, Value};

use super::Fact;

/// The number of facts in one row. Few enough that a row fits into a page.
const IN_ROW: usize = 256;

/// Adds facts.
pub(super) fn add(tx: &mut Tx<'_>, mut facts: Vec<Fact>) -> Result<()> {
    facts.sort_unstable();
    let bodies: Vec<Vec<u8>> = facts.chunks(IN_ROW).map(packed).collect();
    let mut values: Vec<Value<'_>> = Vec::with_capacity(bodies.len() * 4);
    for (facts, body) in facts.chunks(IN_ROW).zip(&bodies) {
        values.extend([
            facts[0].actor().into(),
            facts[facts.len() - 1].actor().into(),
            count(facts.len()),
            Value::Blob(body),
        ]);
    }
    tx.send_rows("event_unsummed", &["first_actor", "last_actor", "count", "facts"], &values, "")
}

fn count(facts: usize) -> Value<'static> {
    Value::Int(i64::try_from(facts).expect("facts fit into memory"))
}

/// The number of facts.
pub(super) fn total(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM event_unsummed";
    Ok(tx.row(sql, &[])?.unwrap_or_default())
}

/// Calls `each` with the facts of a range of actors in a range of buckets.
pub(super) fn each(
    tx: &mut Tx<'_>,
    actors: &RangeInclusive<i64>,
    buckets: &Range<i64>,
    mut each: impl FnMut(Fact),
) -> Result<()> {
    let sql = "SELECT facts FROM event_unsummed WHERE first_actor <= $1 AND last_actor >= $2";
    tx.query(sql, &[*actors.end(), *actors.start()].map(Value::Int), |row| {
        for fact in UnpackedRecords::<Fact>::of(row.blob(0)?) {
            let fact = fact?;
            if actors.contains(&fact.actor()) && buckets.contains(&fact.bucket()) {
                each(fact);
            }
        }
        Ok(true)
    })
}

/// Removes the facts of a range of actors for which `goes` is true, in a transaction that holds the lock of the sums.
/// Returns their number.
pub(super) fn remove(
    tx: &mut Tx<'_>,
    actors: &RangeInclusive<i64>,
    goes: impl Fn(&Fact) -> bool,
) -> Result<usize> {
    let sql = "SELECT id, facts FROM event_unsummed WHERE first_actor <= $1 AND last_actor >= $2";
    let (mut changed, mut removed) = (Vec::new(), 0);
    tx.query(sql, &[*actors.end(), *actors.start()].map(Value::Int), |row| {
        let mut facts = UnpackedRecords::of(row.blob(1)?).collect::<Result<Vec<Fact>>>()?;
        let before = facts.len();
        facts.retain(|fact| !(actors.contains(&fact.actor()) && goes(fact)));
        if facts.len() < before {
            removed += before - facts.len();
            changed.push((row.int(0)?, facts.len(), packed(&facts)));
        }
        Ok(true)
    })?;
    for (id, left, body) in changed {
        let sql = "UPDATE event_unsummed SET count = $1, facts = $2 WHERE id = $3";
        tx.send(sql, &[count(left), body.as_slice().into(), id.into()])?;
    }
    Ok(removed)
}

/// Removes and returns all facts of the oldest rows, at most `limit` rows, in a transaction that holds the lock of the
/// sums. Also returns whether there were as many rows.
pub(super) fn remove_first(tx: &mut Tx<'_>, limit: i64) -> Result<(Vec<Fact>, bool)> {
    let sql = "DELETE FROM event_unsummed WHERE id IN \
               (SELECT id FROM event_unsummed ORDER BY id LIMIT $1) RETURNING facts";
    let (mut facts, mut rows) = (Vec::new(), 0);
    tx.query(sql, &[limit.into()], |row| {
        rows += 1;
        for fact in UnpackedRecords::of(row.blob(0)?) {
            facts.push(fact?);
        }
        Ok(true)
    })?;
    Ok((facts, rows == limit))
}
