//! Facts that arrived together and are not in a run yet: packed, in rows that only their own transaction writes.

use std::ops::{Range, RangeInclusive};

use lyceum_core::Result;
use lyceum_runs::{ChunkRecords, packed};
use lyceum_store::{Tx, Value};

use super::Fact;

/// The number of facts in one row. Few enough that a row fits into a page.
const IN_ROW: usize = 256;

/// Adds facts.
pub(super) fn add(tx: &mut Tx<'_>, mut facts: Vec<Fact>) -> Result<()> {
    facts.sort_unstable();
    let bodies: Vec<Vec<u8>> = facts.chunks(IN_ROW).map(packed).collect();
    let mut values: Vec<Value<'_>> = Vec::with_capacity(bodies.len() * 5);
    for (facts, body) in facts.chunks(IN_ROW).zip(&bodies) {
        let buckets = || facts.iter().map(Fact::bucket);
        values.extend([
            facts[0].actor().into(),
            facts[facts.len() - 1].actor().into(),
            buckets().min().unwrap_or_default().into(),
            buckets().max().unwrap_or_default().into(),
            Value::Blob(body),
        ]);
    }
    let columns = ["first_actor", "last_actor", "first_bucket", "last_bucket", "facts"];
    tx.send_rows("event_young_facts", &columns, &values, "")
}

/// Calls `each` with the facts of a range of actors in a range of buckets.
pub(super) fn each(
    tx: &mut Tx<'_>,
    actors: &RangeInclusive<i64>,
    buckets: &Range<i64>,
    mut each: impl FnMut(Fact),
) -> Result<()> {
    let sql = "SELECT facts FROM event_young_facts WHERE first_actor <= $1 AND last_actor >= $2 \
               AND first_bucket < $3 AND last_bucket >= $4";
    let bounds = [*actors.end(), *actors.start(), buckets.end, buckets.start].map(Value::Int);
    tx.query(sql, &bounds, |row| {
        for fact in ChunkRecords::<Fact>::of(row.blob(0)?) {
            let fact = fact?;
            if actors.contains(&fact.actor()) && buckets.contains(&fact.bucket()) {
                each(fact);
            }
        }
        Ok(true)
    })
}

/// Removes the facts of a range of actors for which `goes` is true, in a transaction that has locked the list of runs.
/// Returns their number.
pub(super) fn remove(
    tx: &mut Tx<'_>,
    actors: &RangeInclusive<i64>,
    goes: impl Fn(&Fact) -> bool,
) -> Result<usize> {
    let sql =
        "SELECT id, facts FROM event_young_facts WHERE first_actor <= $1 AND last_actor >= $2";
    let (mut changed, mut removed) = (Vec::new(), 0);
    tx.query(sql, &[*actors.end(), *actors.start()].map(Value::Int), |row| {
        let mut facts = ChunkRecords::of(row.blob(1)?).collect::<Result<Vec<Fact>>>()?;
        let before = facts.len();
        facts.retain(|fact| !(actors.contains(&fact.actor()) && goes(fact)));
        if facts.len() < before {
            removed += before - facts.len();
            changed.push((row.int(0)?, packed(&facts)));
        }
        Ok(true)
    })?;
    for (id, body) in changed {
        let sql = "UPDATE event_young_facts SET facts = $1 WHERE id = $2";
        tx.send(sql, &[body.as_slice().into(), id.into()])?;
    }
    Ok(removed)
}

/// Removes and returns all facts of the oldest rows, at most `limit` rows, in a transaction that has locked the list of
/// runs. Also returns whether there were as many rows.
pub(super) fn remove_first(tx: &mut Tx<'_>, limit: i64) -> Result<(Vec<Fact>, bool)> {
    let sql = "DELETE FROM event_young_facts WHERE id IN \
               (SELECT id FROM event_young_facts ORDER BY id LIMIT $1) RETURNING facts";
    let (mut facts, mut rows) = (Vec::new(), 0);
    tx.query(sql, &[limit.into()], |row| {
        rows += 1;
        for fact in ChunkRecords::of(row.blob(0)?) {
            facts.push(fact?);
        }
        Ok(true)
    })?;
    Ok((facts, rows == limit))
}
