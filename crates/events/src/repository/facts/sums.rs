//! Facts as rows of an ordinary table: sums by actor, quarter hour and context.

use std::collections::BTreeMap;
use std::ops::Range;

use lyceum_core::Result;
use lyceum_store::dialect::{is_among, is_one_of_numbers, look_up};
use lyceum_store::{SqlDialect, Tx, Value};

use super::{COLUMNS, Fact, KEY, SHARED, fact, json_list, read_sums};
use crate::facts::MeasureSums;
use crate::limits::FACT_ROWS_SENT_COUNT;

/// Buckets of a day.
const DAY: i64 = 96;

/// The columns of the key.
const KEY_COLUMNS: [&str; KEY] = ["day", "actor", "bucket", "context"];

/// The days that occur from `$1` to `$2`. Each is one step in the index.
const DAYS: &str = "WITH RECURSIVE days (day) AS (\
                    SELECT MIN(day) FROM event_sums WHERE day >= $1 UNION ALL \
                    SELECT (SELECT MIN(s.day) FROM event_sums s WHERE s.day > days.day) \
                    FROM days WHERE days.day < $2)";

/// Adds facts to the sums, `times` over: -1 takes them away. The transaction holds the lock of the sums.
pub(super) fn add(tx: &mut Tx<'_>, facts: &[Fact], times: i64) -> Result<()> {
    let mut summed: BTreeMap<[i64; KEY], MeasureSums> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.context() != 0) {
        let key = [fact.bucket().div_euclid(DAY), fact.actor(), fact.bucket(), fact.context()];
        summed.entry(key).or_default().add(&fact.sums, times);
    }
    let names = &COLUMNS[KEY..];
    let columns = [&KEY_COLUMNS[..], names].concat();
    let sums: Vec<String> =
        names.iter().map(|name| format!("{name} = event_sums.{name} + excluded.{name}")).collect();
    let conflict =
        format!("ON CONFLICT ({}) DO UPDATE SET {}", KEY_COLUMNS.join(", "), sums.join(", "));
    let mut rows = summed.iter();
    while rows.len() > 0 {
        let mut values: Vec<Value<'_>> = Vec::new();
        for (key, sums) in rows.by_ref().take(FACT_ROWS_SENT_COUNT) {
            values.extend(key.map(Value::Int));
            values.push(sums.events.into());
            values.extend(sums.measures.map(Value::Int));
        }
        tx.send_rows("event_sums", &columns, &values, &conflict)?;
    }
    for (key, _) in summed.iter().filter(|(_, sums)| sums.events <= 0) {
        let sql = "DELETE FROM event_sums \
                   WHERE day = $1 AND actor = $2 AND bucket = $3 AND context = $4 AND events = 0";
        tx.send(sql, &key.map(Value::Int))?;
    }
    Ok(())
}

/// Whether a row of sums is within the bounds of a range of buckets, which are `$1` to `$4`.
const IS_WITHIN: &str = "s.day >= $1 AND s.day <= $2 AND s.bucket >= $3 AND s.bucket < $4";

/// The first and last day, and the first and last bucket of a range.
fn bounds(buckets: &Range<i64>) -> [Value<'static>; 4] {
    let [first, last] = [buckets.start, buckets.end].map(|bucket| bucket.div_euclid(DAY));
    [first, last, buckets.start, buckets.end].map(Value::Int)
}

/// Calls `each` with the sums of the actors, or of everybody, in a range of buckets.
pub(super) fn each(
    tx: &mut Tx<'_>,
    actors: Option<&[i64]>,
    buckets: &Range<i64>,
    mut each: impl FnMut(Fact),
) -> Result<()> {
    let mut values = bounds(buckets).to_vec();
    let numbers = json_list(actors.unwrap_or_default())?;
    let sums: Vec<String> = COLUMNS[KEY..].iter().map(|name| format!("s.{name}")).collect();
    let sums = sums.join(", ");
    let columns = format!("s.actor, s.bucket, CAST({SHARED} AS BIGINT), s.context, {sums}");
    let sql = if actors.is_some() {
        values.push((&numbers).into());
        let is_one = is_one_of_numbers(tx.dialect(), "s.actor", "$5");
        let condition =
            format!("s.day = days.day AND s.bucket >= $3 AND s.bucket < $4 AND {is_one}");
        let from = look_up(tx.dialect(), "event_sums", "s", &condition);
        format!("{DAYS} SELECT {columns} FROM days {from} WHERE days.day <= $2")
    } else {
        format!("SELECT {columns} FROM event_sums s WHERE {IS_WITHIN}")
    };
    tx.query(&sql, &values, |row| {
        each(fact(row)?);
        Ok(true)
    })
}

/// Calls `each` with an actor and a part of the actor's sums in a range of buckets, until all of the actors, or of
/// everybody, were handed. PostgreSQL adds up those of everybody for each day, because each row costs more to send than to
/// add. SQLite would need longer than reading its rows takes.
pub(super) fn each_part(
    tx: &mut Tx<'_>,
    actors: Option<&[i64]>,
    buckets: &Range<i64>,
    mut each: impl FnMut(i64, &MeasureSums),
) -> Result<()> {
    if actors.is_some() || tx.dialect() == SqlDialect::Sqlite {
        return self::each(tx, actors, buckets, |fact| each(fact.actor(), &fact.sums));
    }
    let totals: Vec<String> =
        COLUMNS[KEY..].iter().map(|name| format!("CAST(SUM(s.{name}) AS BIGINT)")).collect();
    let totals = totals.join(", ");
    // In the order of the key, so that nothing is sorted.
    let sql = format!(
        "SELECT s.actor, {totals} FROM event_sums s WHERE {IS_WITHIN} GROUP BY s.day, s.actor"
    );
    tx.query(&sql, &bounds(buckets), |row| {
        each(row.int(0)?, &read_sums(row, 1)?);
        Ok(true)
    })
}

/// Removes the sums of the actors after `after` up to `last`, in a transaction that holds the lock of the sums.
pub(super) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let all = format!("{DAYS} SELECT day FROM days WHERE day IS NOT NULL");
    let sql = format!(
        "DELETE FROM event_sums WHERE {} AND actor > $3 AND actor <= $4",
        is_among(tx.dialect(), "day", &all)
    );
    tx.send(&sql, &[i64::MIN, i64::MAX, after, last].map(Value::Int))
}
