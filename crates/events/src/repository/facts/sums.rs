//! Facts as rows of an ordinary table: sums by actor, quarter hour and context (decision 157).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lyceum_core::Result;
use lyceum_runs::{Runs, try_lock_lists};
use lyceum_store::dialect::{is_among, is_one_of_numbers, look_up};
use lyceum_store::{SqlDialect, Tx, Value};

use super::super::run_lists::{FACTS, PLACES};
use super::places::EventPlace;
use super::{COLUMNS, Fact, KEY, SHARED, fact, json, read_sums, take_young};
use crate::facts::MeasureSums;
use crate::limits::{FACT_ROWS_COUNTED_MAX_COUNT, FACT_SUM_CHUNK_COUNT};

/// Buckets of a day.
const DAY: i64 = 96;

/// The columns of the key.
const KEY_COLUMNS: [&str; 4] = ["day", "actor", "bucket", "context"];

/// The days that occur from `$1` to `$2`. Each is one step in the index.
const DAYS: &str = "WITH RECURSIVE days (day) AS (\
                    SELECT MIN(day) FROM event_sums WHERE day >= $1 UNION ALL \
                    SELECT (SELECT MIN(s.day) FROM event_sums s WHERE s.day > days.day) \
                    FROM days WHERE days.day < $2)";

/// Whether there are facts that are not summed.
pub fn is_summing_due(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM event_young_facts LIMIT 1) AS p) + \
               (SELECT COUNT(*) FROM (SELECT 1 FROM event_facts LIMIT 1) AS f)";
    let has_rows = tx.query_one(sql, &[], |row| Ok(row.int(0)? > 0))?.unwrap_or_default();
    Ok(has_rows || !Runs::<Fact>::open(tx, FACTS)?.is_empty())
}

/// About how many facts are not summed; `None` if there are none. Of the facts of the last seconds, it counts only those in
/// rows of their own, up to a limit, because counting the others would unpack them.
pub fn count_unsummed(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    if !is_summing_due(tx)? {
        return Ok(None);
    }
    let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM event_facts LIMIT $1) AS f";
    let rows = tx.query_one(sql, &[FACT_ROWS_COUNTED_MAX_COUNT.into()], |row| row.int(0))?;
    Ok(Some(rows.unwrap_or_default() + Runs::<Fact>::open(tx, FACTS)?.count()))
}

/// Sums facts that are not in runs, or moves them into a run if they are many. Returns where the runs that [`sum_runs`]
/// sums end now; `None` if another server moves or sums facts at this moment.
pub fn sum_young(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    if !try_lock_lists(tx, &[FACTS])? {
        return Ok(None);
    }
    let mut runs = Runs::<Fact>::open_alone(tx, FACTS)?;
    let (facts, _) = take_young(tx)?;
    if facts.len() > FACT_SUM_CHUNK_COUNT {
        runs.add(tx, facts)?;
    } else {
        add(tx, facts)?;
    }
    Ok(Some(runs.next_number()))
}

/// Sums a limited number of facts of the runs before `end`. Returns whether there may be more; `None` if another server
/// moves or sums facts at this moment.
pub fn sum_runs(tx: &mut Tx<'_>, end: i64) -> Result<Option<bool>> {
    if !try_lock_lists(tx, &[FACTS])? {
        return Ok(None);
    }
    let mut runs = Runs::<Fact>::open_alone(tx, FACTS)?;
    let Some(facts) = runs.remove_first(tx, end, FACT_SUM_CHUNK_COUNT)? else {
        return Ok(Some(false));
    };
    add(tx, facts)?;
    // A list without runs begins again with small numbers, so `end` says nothing about its next runs.
    Ok(Some(!runs.is_empty()))
}

/// Adds facts to the sums, and their places to the runs of places, in a transaction that holds the list of facts.
fn add(tx: &mut Tx<'_>, facts: Vec<Fact>) -> Result<()> {
    let mut summed: BTreeMap<[i64; KEY], MeasureSums> = BTreeMap::new();
    let mut places = BTreeSet::new();
    let mut has_subtracted = BTreeSet::new();
    for fact in facts {
        if fact.seq() != SHARED {
            places.insert(EventPlace {
                actor: fact.actor(),
                bucket: fact.bucket(),
                seq: fact.seq(),
            });
        }
        if fact.context() != 0 {
            let key = [fact.bucket().div_euclid(DAY), fact.actor(), fact.bucket(), fact.context()];
            summed.entry(key).or_default().add(&fact.sums, 1);
            if fact.sums.events < 0 {
                has_subtracted.insert(key);
            }
        }
    }
    let columns = [&KEY_COLUMNS[..], &COLUMNS[KEY..]].concat();
    let more: Vec<String> = COLUMNS[KEY..]
        .iter()
        .map(|name| format!("{name} = event_sums.{name} + excluded.{name}"))
        .collect();
    let conflict =
        format!("ON CONFLICT ({}) DO UPDATE SET {}", KEY_COLUMNS.join(", "), more.join(", "));
    let mut values: Vec<Value<'_>> = Vec::with_capacity(summed.len() * columns.len());
    for (key, sums) in &summed {
        values.extend(key.map(Value::Int));
        values.push(sums.events.into());
        values.extend(sums.measures.map(Value::Int));
    }
    tx.send_rows("event_sums", &columns, &values, &conflict)?;
    for key in has_subtracted {
        let sql = "DELETE FROM event_sums \
                   WHERE day = $1 AND actor = $2 AND bucket = $3 AND context = $4 AND events = 0";
        tx.send(sql, &key.map(Value::Int))?;
    }
    Runs::open_alone(tx, PLACES)?.add(tx, places.into_iter().collect())
}

/// Calls `each` with the sums of the actors, or of everybody, in a range of buckets.
pub(super) fn each(
    tx: &mut Tx<'_>,
    actors: Option<&[i64]>,
    buckets: &Range<i64>,
    mut each: impl FnMut(Fact),
) -> Result<()> {
    let [first, last] = [buckets.start, buckets.end].map(|bucket| bucket.div_euclid(DAY));
    let mut values = [first, last, buckets.start, buckets.end].map(Value::Int).to_vec();
    let within = "s.bucket >= $3 AND s.bucket < $4";
    let numbers = json(actors.unwrap_or_default())?;
    let columns = columns();
    let sql = if actors.is_some() {
        values.push((&numbers).into());
        let is_one = is_one_of_numbers(tx.dialect(), "s.actor", "$5");
        let condition = format!("s.day = days.day AND {within} AND {is_one}");
        let from = look_up(tx.dialect(), "event_sums", "s", &condition);
        format!("{DAYS} SELECT {columns} FROM days {from} WHERE days.day <= $2")
    } else {
        format!("SELECT {columns} FROM event_sums s WHERE s.day >= $1 AND s.day <= $2 AND {within}")
    };
    tx.query(&sql, &values, |row| {
        each(fact(row)?);
        Ok(true)
    })
}

/// Calls `each` with an actor and a part of the actor's sums in a range of buckets, until all of everybody's were handed.
/// PostgreSQL adds them up for each day, because each row costs more to send than to add. SQLite would need longer than
/// reading its rows takes.
pub(super) fn parts_of_everybody(
    tx: &mut Tx<'_>,
    buckets: &Range<i64>,
    mut each: impl FnMut(i64, &MeasureSums),
) -> Result<()> {
    if tx.dialect() == SqlDialect::Sqlite {
        return self::each(tx, None, buckets, |fact| each(fact.actor(), &fact.sums));
    }
    let totals: Vec<String> =
        COLUMNS[KEY..].iter().map(|name| format!("CAST(SUM(s.{name}) AS BIGINT)")).collect();
    // In the order of the key, so that nothing is sorted.
    let sql = format!(
        "SELECT s.actor, {} FROM event_sums s \
         WHERE s.day >= $1 AND s.day <= $2 AND s.bucket >= $3 AND s.bucket < $4 \
         GROUP BY s.day, s.actor",
        totals.join(", ")
    );
    let [first, last] = [buckets.start, buckets.end].map(|bucket| bucket.div_euclid(DAY));
    let values = [first, last, buckets.start, buckets.end].map(Value::Int);
    tx.query(&sql, &values, |row| {
        each(row.int(0)?, &read_sums(row, 1)?);
        Ok(true)
    })
}

/// Removes the sums and places of the actors after `after` up to `last`, in a transaction that holds the list of facts.
pub(super) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let all = format!("{DAYS} SELECT day FROM days WHERE day IS NOT NULL");
    let sql = format!(
        "DELETE FROM event_sums WHERE {} AND actor > $3 AND actor <= $4",
        is_among(tx.dialect(), "day", &all)
    );
    tx.send(&sql, &[i64::MIN, i64::MAX, after, last].map(Value::Int))?;
    Runs::<EventPlace>::open_alone(tx, PLACES)?.remove(tx, after + 1, last, |_| true).map(drop)
}

/// The columns of a fact, with [`SHARED`] as its number.
fn columns() -> String {
    let sums: Vec<String> = COLUMNS[KEY..].iter().map(|name| format!("s.{name}")).collect();
    format!("s.actor, s.bucket, CAST({SHARED} AS BIGINT), s.context, {}", sums.join(", "))
}
