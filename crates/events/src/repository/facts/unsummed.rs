//! Facts that are not summed yet: packed, in rows that only their own transaction writes.

use std::ops::{Range, RangeInclusive};

use lyceum_core::Result;
use lyceum_runs::{UnpackedRecords, packed};
use lyceum_store::{Tx, Value};

use super::Fact;

/// The number of facts in one row, unless one event has more. Few enough that a row fits into a page.
const IN_ROW: usize = 256;

/// Adds facts.
pub(super) fn add(tx: &mut Tx<'_>, mut facts: Vec<Fact>) -> Result<()> {
    let rows = rows(&mut facts);
    let bodies: Vec<Vec<u8>> = rows.iter().map(|facts| packed(facts)).collect();
    let mut values: Vec<Value<'_>> = Vec::with_capacity(bodies.len() * 4);
    for (facts, body) in rows.into_iter().zip(&bodies) {
        values.extend([
            facts[0].actor().into(),
            facts[facts.len() - 1].actor().into(),
            count(facts.len()),
            Value::Blob(body),
        ]);
    }
    tx.send_rows("event_unsummed", &["first_actor", "last_actor", "count", "facts"], &values, "")
}

/// The facts of each row, sorted by actor. All facts of an event are in one row, so they are summed together, and the
/// event gets one place.
fn rows(facts: &mut [Fact]) -> Vec<&[Fact]> {
    facts.sort_unstable_by_key(|fact| (fact.actor(), fact.seq(), fact.bucket(), fact.context()));
    let (mut rows, mut start, mut end) = (Vec::new(), 0, 0);
    for event in facts.chunk_by(|one, next| one.seq() == next.seq()) {
        if end > start && end + event.len() - start > IN_ROW {
            rows.push(&facts[start..end]);
            start = end;
        }
        end += event.len();
    }
    if end > start {
        rows.push(&facts[start..end]);
    }
    rows
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

#[cfg(test)]
mod tests {
    use super::{Fact, IN_ROW, rows};
    use crate::facts::MeasureSums;

    #[test]
    fn the_facts_of_an_event_are_in_one_row() {
        // Three actors with events in 7 quarter hours each, and an event in more than a row usually has.
        let keys = (0..300).flat_map(|seq| (0..7).map(move |bucket| [seq % 3, bucket, seq, 1]));
        let long = (0..1000).map(|bucket| [1, bucket, 300, 1]);
        let facts = keys.chain(long).map(|key| Fact { key, sums: MeasureSums::default() });
        let mut facts: Vec<Fact> = facts.collect();
        let all = facts.len();
        let rows = rows(&mut facts);
        assert_eq!(rows.iter().map(|row| row.len()).sum::<usize>(), all);
        for pair in rows.windows(2) {
            assert_ne!(pair[0].last().map(Fact::seq), pair[1].first().map(Fact::seq));
        }
        assert!(rows.iter().all(|row| row.len() <= IN_ROW || row.len() == 1000));
        assert!(rows.len() <= all / IN_ROW + 3, "{} rows", rows.len());
    }
}
