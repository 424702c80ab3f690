//! Facts as rows of an ordinary table: sums by actor, quarter hour and context (docs/decisions/057).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lyceum_core::Result;
use lyceum_runs::{Runs, try_lock_lists};
use lyceum_store::dialect::{is_among, is_one_of_numbers, look_up};
use lyceum_store::{SqlDialect, Tx, Value};

use super::{
    COLUMNS, EventPlace, FACTS, Fact, KEY, PLACES, SHARED, fact, gather, json_list,
    on_conflict_add, read_sums, row_values,
};
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
    let sql =
        "SELECT EXISTS (SELECT 1 FROM event_young_facts) OR EXISTS (SELECT 1 FROM event_facts)";
    let has_rows = tx.row(sql, &[])?.unwrap_or(false);
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

/// Moves a limited number of facts that are not in runs into a run. Returns where the runs that [`sum_runs`] sums end
/// now, and whether facts may be left that are not in runs; `None` if another server moves or sums facts at this moment.
pub fn gather_to_sum(tx: &mut Tx<'_>) -> Result<Option<(i64, bool)>> {
    if !try_lock_lists(tx, &[FACTS])? {
        return Ok(None);
    }
    let (_, has_more) = gather(tx)?;
    Ok(Some((Runs::<Fact>::open(tx, FACTS)?.next_number(), has_more)))
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

/// Adds facts to the sums, and their places to the runs of places, in a transaction that has locked the list of facts.
fn add(tx: &mut Tx<'_>, facts: Vec<Fact>) -> Result<()> {
    let mut summed: BTreeMap<[i64; KEY], MeasureSums> = BTreeMap::new();
    let mut places = BTreeSet::new();
    let mut has_subtracted = BTreeSet::new();
    for fact in facts {
        if fact.seq() != SHARED {
            places.insert(EventPlace(fact.position()));
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
    let conflict = on_conflict_add("event_sums", &KEY_COLUMNS);
    tx.send_rows("event_sums", &columns, &row_values(summed.iter()), &conflict)?;
    for key in has_subtracted {
        let sql = "DELETE FROM event_sums \
                   WHERE day = $1 AND actor = $2 AND bucket = $3 AND context = $4 AND events = 0";
        tx.send(sql, &key.map(Value::Int))?;
    }
    Runs::open_alone(tx, PLACES)?.add(tx, places.into_iter().collect())
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

/// Removes the sums and places of the actors after `after` up to `last`, in a transaction that has locked the list of
/// facts.
pub(super) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let all = format!("{DAYS} SELECT day FROM days WHERE day IS NOT NULL");
    let sql = format!(
        "DELETE FROM event_sums WHERE {} AND actor > $3 AND actor <= $4",
        is_among(tx.dialect(), "day", &all)
    );
    tx.send(&sql, &[i64::MIN, i64::MAX, after, last].map(Value::Int))?;
    Runs::<EventPlace>::open_alone(tx, PLACES)?.remove(tx, after + 1, last, |_| true).map(drop)
}
