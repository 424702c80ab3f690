//! Facts: what actors did (docs/decisions/017). The facts of a transaction are one packed row or a few ([`unsummed`]). After
//! some seconds one server at a time adds them to the sums, which are rows of an ordinary table ([`sums`]), and records
//! where their events are ([`places`]). Reads add what is not summed to the sums.
//!
//! Why not simpler? If each event changed its sums at once, servers on PostgreSQL would wait for each other. An index of the
//! log by actor would change a page of its own for each event, which on SQLite costs as much as all other work for the
//! event. Places and sums of some ten thousand events at a time share their pages.

mod contexts;
mod places;
mod records;
mod sums;
mod unsummed;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::log::{RowLock, is_only_writer, lock};
use lyceum_store::{Row, SqlDialect, Tx, Value};

pub(crate) use self::contexts::ContextRows;
use self::contexts::contexts;
pub use self::places::place;
use self::records::Fact;
use super::names::{Actor, every_actor};
use super::{json_list, spans};
use crate::facts::{BUCKET_MS, FactContext, Facts, MeasureSums};
use crate::limits::FACT_SUM_CHUNK_ROWS;
use crate::words::words;

const COLUMNS: &[&str] = words![
    actor bucket seq context
    events xp total_questions correct_questions mastered_units
    active inactive waste unknown anti_pattern
];
/// The number of columns before the sums, which form the key.
const KEY: usize = 4;
/// The event number of sums, which belong to several events.
const SHARED: i64 = 0;
/// All actors.
const EVERYBODY: RangeInclusive<i64> = i64::MIN..=i64::MAX;
/// All buckets.
pub(super) const EVER: Range<i64> = i64::MIN..i64::MAX;

/// Facts that are written together, after their contexts ([`ContextRows`]).
#[derive(Default)]
pub(crate) struct FactRows(Vec<Fact>);

impl FactRows {
    /// Adds the facts of an event that counts.
    pub(crate) fn add(&mut self, actor: i64, seq: i64, facts: &Facts) {
        if let Some((number, _)) = facts.context {
            let buckets = facts.buckets.iter();
            self.0.extend(buckets.map(|&(bucket, sums)| {
                let key = [actor, bucket, seq, number];
                Fact { key, sums }
            }));
        }
        if facts.buckets.iter().all(|(bucket, _)| *bucket != facts.own) {
            self.0.push(Fact { key: [actor, facts.own, seq, 0], sums: MeasureSums::default() });
        }
    }

    /// Writes the facts.
    pub(crate) fn write(self, tx: &mut Tx<'_>) -> Result<()> {
        unsummed::add(tx, self.0)
    }
}

/// The row whose holder may change sums and remove facts that are not summed.
const LOCKED: &str = "SELECT name FROM event_runs WHERE name = 'facts'";

/// Waits until no other transaction corrects an event or sums facts, and none can before this one ends.
pub(super) fn wait_to_correct(tx: &mut Tx<'_>) -> Result<()> {
    let sql = format!("{LOCKED} {}", lock(tx, RowLock::Alone));
    tx.query_one(&sql, &[], |row| row.string(0)).map(drop)
}

/// Adds a limited number of facts to the sums. Returns whether there may be more; `None` if another server does it or
/// corrects an event at this moment.
pub fn sum(tx: &mut Tx<'_>) -> Result<Option<bool>> {
    let sql = format!("{LOCKED} {}", lock(tx, RowLock::AloneIfFree));
    if !is_only_writer(tx) && tx.query_one(&sql, &[], |row| row.string(0))?.is_none() {
        return Ok(None);
    }
    let (facts, has_more) = unsummed::remove_first(tx, FACT_SUM_CHUNK_ROWS)?;
    sums::add(tx, &facts, 1)?;
    places::add(tx, &facts)?;
    Ok(Some(has_more))
}

/// How many facts are not summed.
pub fn count_unsummed(tx: &mut Tx<'_>) -> Result<i64> {
    unsummed::total(tx)
}

fn fact(row: &Row<'_>) -> Result<Fact> {
    Ok(Fact {
        key: [row.int(0)?, row.int(1)?, row.int(2)?, row.int(3)?],
        sums: read_sums(row, KEY)?,
    })
}

/// The sums in the columns from `first` on.
fn read_sums(row: &Row<'_>, first: usize) -> Result<MeasureSums> {
    let mut sums = MeasureSums { events: row.int(first)?, ..MeasureSums::default() };
    for (at, measure) in sums.measures.iter_mut().enumerate() {
        *measure = row.int(first + 1 + at)?;
    }
    Ok(sums)
}

/// Calls `each` with the facts of the actors, which must be sorted, or of everybody, in a range of buckets and in no
/// particular order. Facts that are summed have the number [`SHARED`].
fn each_fact(
    tx: &mut Tx<'_>,
    actors: Option<&[i64]>,
    buckets: &Range<i64>,
    mut each: impl FnMut(Fact),
) -> Result<()> {
    each_unsummed(tx, actors, buckets, &mut each)?;
    sums::each(tx, actors, buckets, each)
}

/// [`each_fact`] without the facts that are summed.
fn each_unsummed(
    tx: &mut Tx<'_>,
    actors: Option<&[i64]>,
    buckets: &Range<i64>,
    mut each: impl FnMut(Fact),
) -> Result<()> {
    let range = match actors {
        None => EVERYBODY,
        Some(&[first, .., last]) => first..=last,
        Some(&[only]) => only..=only,
        Some([]) => return Ok(()),
    };
    unsummed::each(tx, &range, buckets, |fact| {
        if actors.is_none_or(|actors| actors.binary_search(&fact.actor()).is_ok()) {
            each(fact);
        }
    })
}

/// Removes the facts of an event that no longer counts, or takes them from the sums. The transaction holds the lock.
pub(super) fn take_away(tx: &mut Tx<'_>, actor: i64, seq: i64, facts: &Facts) -> Result<()> {
    // The facts of an event are in one row, so either all are summed or none.
    if unsummed::remove(tx, &(actor..=actor), |fact| fact.seq() == seq)? > 0 {
        return Ok(());
    }
    let mut rows = FactRows::default();
    rows.add(actor, seq, facts);
    sums::add(tx, &rows.0, -1)
}

/// Removes the facts of the actors after `after` up to `last` and the places of their events, in a transaction that sees one
/// state and writes the facts again.
pub(crate) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    wait_to_correct(tx)?;
    unsummed::remove(tx, &(after + 1..=last), |_| true)?;
    sums::clear(tx, after, last)?;
    places::clear(tx, after, last)
}

/// The numbers of the events of actors in a range of buckets, and maybe of former versions and of days nearby. The actors
/// must be sorted.
pub(super) fn seqs(tx: &mut Tx<'_>, actors: &[i64], buckets: &Range<i64>) -> Result<String> {
    let mut seqs = BTreeSet::new();
    each_unsummed(tx, Some(actors), buckets, |fact| {
        seqs.insert(fact.seq());
    })?;
    places::each(tx, actors, (buckets.start, buckets.end), |seq| {
        seqs.insert(seq);
    })?;
    json_list(&Vec::from_iter(seqs))
}

/// The sums of an actor during some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorFacts {
    /// The sourcedId in the actor's IRI, or the whole IRI if it contains none.
    pub person: String,
    /// The email address in lower case; empty if there is none.
    pub email: String,
    /// The sums of all events.
    pub sums: MeasureSums,
    /// The time of the last event, in milliseconds.
    pub last_ms: Option<i64>,
}

/// The sums of the actors, or of every actor, with events in whole buckets between the instants. Reads each fact of that
/// time once.
pub fn sums_by_actor(
    tx: &mut Tx<'_>,
    actors: Option<Vec<Actor>>,
    instants: Range<i64>,
) -> Result<Vec<ActorFacts>> {
    let mut sums_of: HashMap<i64, MeasureSums> = HashMap::new();
    let buckets = buckets(&instants);
    let numbers = actors.as_ref().map(|actors| sorted(actors.iter().map(|actor| actor.number)));
    let numbers = numbers.as_deref();
    each_unsummed(tx, numbers, &buckets, |fact| {
        sums_of.entry(fact.actor()).or_default().add(&fact.sums, 1);
    })?;
    sums::each_part(tx, numbers, &buckets, |actor, sums| {
        sums_of.entry(actor).or_default().add(sums, 1);
    })?;
    let last_ms = last_events(tx, numbers, &instants)?;
    let mut found = Vec::with_capacity(sums_of.len());
    let each = |Actor { number, person, email }| {
        let last_ms = last_ms.get(&number).copied();
        let sums = sums_of.remove(&number).unwrap_or_default();
        if last_ms.is_some() || sums.events > 0 {
            found.push(ActorFacts { person, email, sums, last_ms });
        }
    };
    match actors {
        Some(actors) => actors.into_iter().for_each(each),
        None => every_actor(tx, each)?,
    }
    Ok(found)
}

/// The time of the last event of each of the actors, or of everybody, between the instants, in milliseconds.
fn last_events(
    tx: &mut Tx<'_>,
    actors: Option<&[i64]>,
    instants: &Range<i64>,
) -> Result<HashMap<i64, i64>> {
    let Range { start, end } = *instants;
    // SQLite would sort all rows to group them, and each row costs PostgreSQL more to send than to group.
    let (columns, group) = match tx.dialect() {
        SqlDialect::Sqlite => ("l.actor, l.event_ms", ""),
        SqlDialect::Postgres => ("l.actor, MAX(l.event_ms)", "GROUP BY l.actor"),
    };
    let which = "l.event_ms >= $1 AND l.event_ms < $2 AND l.superseded_by IS NULL";
    let mut last_ms: HashMap<i64, i64> = HashMap::new();
    let each = |row: &Row<'_>| {
        let last = last_ms.entry(row.int(0)?).or_insert(i64::MIN);
        *last = row.int(1)?.max(*last);
        Ok(true)
    };
    if let Some(actors) = actors {
        let is_one = is_one_of_numbers(tx.dialect(), "l.seq", "$3");
        let seqs = seqs(tx, actors, &buckets(instants))?;
        let sql = format!("SELECT {columns} FROM event_log l WHERE {which} AND {is_one} {group}");
        tx.query(&sql, &[start.into(), end.into(), seqs.as_str().into()], each)?;
    } else {
        let events = spans::events(tx.dialect(), "l");
        let sql = format!(
            "SELECT {columns} FROM event_spans p {events} \
             WHERE {which} AND p.day >= $3 AND p.day <= $4 {group}"
        );
        let [first, last] = [start, end].map(|at| at / spans::DAY_MS);
        tx.query(&sql, &[start, end, first, last].map(Value::Int), each)?;
    }
    Ok(last_ms)
}

fn buckets(instants: &Range<i64>) -> Range<i64> {
    instants.start / BUCKET_MS..instants.end / BUCKET_MS
}

/// The actors with events in an app, by number, each with whether there were any since the instant. Reads all facts.
pub fn users_of_app(tx: &mut Tx<'_>, app: &str, since: Timestamp) -> Result<Vec<(Actor, bool)>> {
    let sql = "SELECT id FROM event_contexts WHERE app = $1";
    let contexts: HashSet<i64> =
        tx.all(sql, &[app.into()], |row| row.int(0))?.into_iter().collect();
    let since = since.milliseconds() / BUCKET_MS;
    // Of all events, and of those since the instant.
    let mut counts: HashMap<i64, [i64; 2]> = HashMap::new();
    each_fact(tx, None, &EVER, |fact| {
        if contexts.contains(&fact.context()) {
            let [all, lately] = counts.entry(fact.actor()).or_default();
            *all += fact.sums.events;
            *lately += if fact.bucket() >= since { fact.sums.events } else { 0 };
        }
    })?;
    let mut all = Vec::with_capacity(counts.len());
    every_actor(tx, |actor| {
        if let Some([all_events, lately]) = counts.remove(&actor.number)
            && all_events > 0
        {
            all.push((actor, lately > 0));
        }
    })?;
    Ok(all)
}

/// The names of the apps that events of these actors name, in order.
pub fn apps_of(tx: &mut Tx<'_>, actors: &[i64]) -> Result<Vec<String>> {
    let mut counts: HashMap<i64, i64> = HashMap::new();
    each_fact(tx, Some(&sorted(actors.iter().copied())), &EVER, |fact| {
        *counts.entry(fact.context()).or_default() += fact.sums.events;
    })?;
    counts.retain(|_, events| *events > 0);
    let apps: BTreeSet<String> = contexts(tx, counts.into_keys().collect())?
        .into_values()
        .map(|context| context.app)
        .collect();
    Ok(apps.into_iter().filter(|app| !app.is_empty()).collect())
}

/// Calls `each` with the facts of actors in whole buckets between the instants: the actor, the start of the bucket,
/// the context, and the sums of all events. Sorted by actor and time.
pub fn read(
    tx: &mut Tx<'_>,
    actors: &[i64],
    instants: Range<i64>,
    mut each: impl FnMut(i64, i64, &FactContext, &MeasureSums),
) -> Result<()> {
    let mut found: BTreeMap<[i64; 3], MeasureSums> = BTreeMap::new();
    each_fact(tx, Some(&sorted(actors.iter().copied())), &buckets(&instants), |fact| {
        if fact.context() != 0 {
            let key = [fact.actor(), fact.bucket(), fact.context()];
            found.entry(key).or_default().add(&fact.sums, 1);
        }
    })?;
    let contexts = contexts(tx, found.keys().map(|key| key[2]).collect())?;
    for ([actor, bucket, number], sums) in found {
        let context = contexts.get(&number);
        let context = context.ok_or_else(|| Problem::internal("a fact has no context"))?;
        each(actor, bucket * BUCKET_MS, context, &sums);
    }
    Ok(())
}

fn sorted(numbers: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut numbers: Vec<i64> = numbers.collect();
    numbers.sort_unstable();
    numbers
}
