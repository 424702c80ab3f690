//! Facts: what actors did. Young facts are rows of two tables, one by one or packed. They become runs, and after some
//! seconds sums in an ordinary table. Reads add all of them.

mod contexts;
mod records;
mod sums;
mod young;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_runs::{RunRecord, RunTables, Runs};
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::{Row, Tx, Value};

pub(crate) use self::contexts::ContextRows;
use self::contexts::contexts;
pub(super) use self::records::{EventPlace, Fact};
pub use self::sums::{count_unsummed, gather_to_sum, is_summing_due, sum_runs};
use super::names::{Actor, every_actor};
use super::{FACTS, GATHERED_ROWS, PLACES, RUN_MIN_RECORDS, json_list};
use crate::facts::{BUCKET_MS, FactContext, Facts, MeasureSums};
use crate::limits::FACT_LOCATE_CHUNK_COUNT;
use crate::words::words;

const COLUMNS: &[&str] = words![
    actor bucket seq context
    events xp total_questions correct_questions mastered_units
    active inactive waste unknown anti_pattern
];
/// The number of columns before the sums, which form the key.
const KEY: usize = 4;
/// The most rows of packed facts that become a run at once.
const YOUNG_ROWS_GATHERED: i64 = 512;
/// The event number of sums that belong to several events.
const SHARED: i64 = -1;
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

    /// Writes the facts. Many facts are packed.
    pub(crate) fn write(mut self, tx: &mut Tx<'_>) -> Result<()> {
        if self.0.len() >= RUN_MIN_RECORDS {
            return young::add(tx, self.0);
        }
        self.0.sort_unstable();
        insert(tx, &self.0, "")
    }
}

fn insert(tx: &mut Tx<'_>, rows: &[Fact], conflict: &str) -> Result<()> {
    let values = row_values(rows.iter().map(|fact| (&fact.key, &fact.sums)));
    tx.send_rows("event_facts", COLUMNS, &values, conflict)
}

/// The values of rows with a key and sums.
fn row_values<'r>(
    rows: impl Iterator<Item = (&'r [i64; KEY], &'r MeasureSums)>,
) -> Vec<Value<'static>> {
    let mut values = Vec::with_capacity(rows.size_hint().0 * COLUMNS.len());
    for (key, sums) in rows {
        values.extend(key.map(Value::Int));
        values.push(sums.events.into());
        values.extend(sums.measures.map(Value::Int));
    }
    values
}

/// Adds sums to those of the row that already has their key.
fn on_conflict_add(table: &str, key: &[&str]) -> String {
    let add = |name: &&str| format!("{name} = {table}.{name} + excluded.{name}");
    let sums: Vec<String> = COLUMNS[KEY..].iter().map(add).collect();
    format!("ON CONFLICT ({}) DO UPDATE SET {}", key.join(", "), sums.join(", "))
}

/// Moves a limited number of young facts into a run, in a transaction that has locked the list of facts: of the rows
/// those of the first actors, completely. Returns how many, and whether some may be left.
pub(super) fn gather(tx: &mut Tx<'_>) -> Result<(usize, bool)> {
    let sql = "SELECT actor FROM event_facts ORDER BY actor LIMIT 1 OFFSET $1";
    let last = tx.query_one(sql, &[GATHERED_ROWS.into()], |row| row.int(0))?;
    // In one statement, so that no row is removed that was added since the read.
    let columns = COLUMNS.join(", ");
    let sql = format!("DELETE FROM event_facts WHERE actor <= $1 RETURNING {columns}");
    let mut facts = tx.all(&sql, &[last.unwrap_or(i64::MAX).into()], fact)?;
    let (packed, has_more_packed) = young::remove_first(tx, YOUNG_ROWS_GATHERED)?;
    facts.extend(packed);
    let moved = facts.len();
    Runs::open(tx, FACTS)?.add(tx, facts)?;
    Ok((moved, last.is_some() || has_more_packed))
}

/// Waits until no other transaction corrects an event or moves facts, and none can before this one ends.
pub(super) fn wait_to_correct(tx: &mut Tx<'_>) -> Result<()> {
    Runs::<Fact>::open_alone(tx, FACTS).map(drop)
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
/// particular order. Facts that are summed have the number [`SHARED`]; their events are in the runs of places.
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
    let mut sql = format!(
        "SELECT {} FROM event_facts WHERE bucket >= $1 AND bucket < $2",
        COLUMNS.join(", ")
    );
    let numbers = json_list(actors.unwrap_or_default())?;
    let mut values: Vec<Value<'_>> = vec![buckets.start.into(), buckets.end.into()];
    let mut range = EVERYBODY;
    if let Some(actors) = actors {
        let [Some(&first), Some(&last)] = [actors.first(), actors.last()] else { return Ok(()) };
        range = first..=last;
        sql += " AND ";
        sql += &is_one_of_numbers(tx.dialect(), "actor", "$3");
        values.push((&numbers).into());
    }
    tx.query(&sql, &values, |row| {
        each(fact(row)?);
        Ok(true)
    })?;
    young::each(tx, &range, buckets, |fact| {
        if actors.is_none_or(|actors| actors.binary_search(&fact.actor()).is_ok()) {
            each(fact);
        }
    })?;
    each_in_runs(tx, FACTS, actors, buckets, each)
}

/// Calls `each` with the records in runs that belong to the actors, which must be sorted, or to everybody.
fn each_in_runs<R: RunRecord>(
    tx: &mut Tx<'_>,
    tables: RunTables,
    actors: Option<&[i64]>,
    buckets: &Range<i64>,
    each: impl FnMut(R),
) -> Result<()> {
    let runs = Runs::open(tx, tables)?;
    let Some(actors) = actors else { return runs.scan(tx, buckets, each) };
    match runs.find(tx, actors, buckets, each)? {
        true => Ok(()),
        false => Err(Problem::internal(format!("a run of {} is missing", tables.name))),
    }
}

/// Removes the facts of an event that no longer counts. If they are summed with others, they are subtracted.
pub(super) fn take_away(tx: &mut Tx<'_>, actor: i64, seq: i64, facts: &Facts) -> Result<()> {
    let mut rows = FactRows::default();
    rows.add(actor, seq, facts);
    let mut runs = Runs::<Fact>::open_alone(tx, FACTS)?;
    let mut shared = Vec::new();
    for fact in rows.0 {
        let Fact { key, sums } = fact;
        let sql = "DELETE FROM event_facts WHERE actor = $1 AND bucket = $2 AND seq = $3 \
                   AND context = $4";
        let is_removed = tx.execute(sql, &key.map(Value::Int))? > 0
            || young::remove(tx, &(actor..=actor), |fact| fact.key == key)? > 0
            || runs.remove(tx, actor, actor, |fact| fact.key == key)? > 0;
        if is_removed {
            continue;
        }
        let mut places = Runs::<EventPlace>::open_alone(tx, PLACES)?;
        places.remove(tx, actor, actor, |place| place.0 == fact.position())?;
        if sums.events > 0 {
            let mut taken = MeasureSums::default();
            taken.add(&sums, -1);
            shared.push(Fact { key: [key[0], key[1], SHARED, key[3]], sums: taken });
        }
    }
    if shared.is_empty() {
        return Ok(());
    }
    // A place of the event that old databases and repairs have beside facts.
    let sql = "DELETE FROM event_facts WHERE actor = $1 AND bucket = $2 AND seq = $3";
    tx.send(sql, &[actor, facts.own, seq].map(Value::Int))?;
    insert(tx, &shared, &on_conflict_add("event_facts", &COLUMNS[..KEY]))
}

/// The place of an event by its time: actor, bucket, number of the event.
pub type EventPosition = [i64; 3];

/// The next events after the number `after` that count but have no facts, not even a place. In an undamaged database,
/// there are none. Returns a limited number, and reads all facts.
pub fn unplaced(tx: &mut Tx<'_>, after: i64) -> Result<Vec<EventPosition>> {
    let newest = super::newest(tx)?;
    let mut placed = vec![false; usize::try_from(newest - after).unwrap_or_default()];
    let index = |seq: i64| usize::try_from(seq - after - 1).ok();
    let mut mark = |seq| {
        if let Some(is_placed) = index(seq).and_then(|at| placed.get_mut(at)) {
            *is_placed = true;
        }
    };
    each_unsummed(tx, None, &EVER, |fact| mark(fact.seq()))?;
    each_in_runs(tx, PLACES, None, &EVER, |EventPlace([.., seq])| mark(seq))?;
    let sql = "SELECT seq, actor, event_ms FROM event_log \
               WHERE seq > $1 AND superseded_by IS NULL ORDER BY seq LIMIT $2";
    let (mut found, mut last) = (Vec::new(), Some(after));
    while let (true, Some(after_row)) = (found.is_empty(), last.take()) {
        tx.query(sql, &[after_row.into(), FACT_LOCATE_CHUNK_COUNT.into()], |row| {
            let seq = row.int(0)?;
            last = Some(seq);
            if index(seq).and_then(|at| placed.get(at)) != Some(&true) {
                found.push([row.int(1)?, row.int(2)?.div_euclid(BUCKET_MS), seq]);
            }
            Ok(true)
        })?;
    }
    Ok(found)
}

/// Records places, so that the events of actors are found.
pub fn place(tx: &mut Tx<'_>, places: &[EventPosition]) -> Result<()> {
    let facts = places.iter().map(|&[actor, bucket, seq]| Fact {
        key: [actor, bucket, seq, 0],
        sums: MeasureSums::default(),
    });
    insert(tx, &facts.collect::<Vec<_>>(), "ON CONFLICT DO NOTHING")
}

/// Removes the facts of the actors after `after` up to `last`.
pub(crate) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let sql = "DELETE FROM event_facts WHERE actor > $1 AND actor <= $2";
    let mut runs = Runs::<Fact>::open_alone(tx, FACTS)?;
    tx.send(sql, &[after.into(), last.into()])?;
    young::remove(tx, &(after + 1..=last), |_| true)?;
    runs.remove(tx, after + 1, last, |_| true)?;
    sums::clear(tx, after, last)
}

/// The numbers of the events of actors in a range of buckets. The actors must be sorted.
pub(super) fn seqs(tx: &mut Tx<'_>, actors: &[i64], buckets: &Range<i64>) -> Result<String> {
    let mut seqs = BTreeSet::new();
    each_unsummed(tx, Some(actors), buckets, |fact| {
        seqs.insert(fact.seq());
    })?;
    each_in_runs(tx, PLACES, Some(actors), buckets, |EventPlace([.., seq])| {
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
    let mut work: HashMap<i64, ActorWork> = HashMap::new();
    let buckets = buckets(&instants);
    let numbers = actors.as_ref().map(|actors| sorted(actors.iter().map(|actor| actor.number)));
    let numbers = numbers.as_deref();
    each_unsummed(tx, numbers, &buckets, |fact| {
        work.entry(fact.actor()).or_default().add(&fact);
    })?;
    sums::each_part(tx, numbers, &buckets, |actor, sums| {
        work.entry(actor).or_default().sums.add(sums, 1);
    })?;
    each_in_runs(tx, PLACES, numbers, &buckets, |EventPlace([actor, bucket, seq])| {
        work.entry(actor).or_default().see(bucket, seq);
    })?;
    let last_ms = last_of(tx, &work)?;
    let mut found = Vec::with_capacity(work.len());
    let each = |Actor { number, person, email }| {
        // Facts that were subtracted completely have no event.
        if let Some(ActorWork { sums, last: Some(_) }) = work.remove(&number) {
            found.push(ActorFacts { person, email, sums, last_ms: last_ms.get(&number).copied() });
        }
    };
    match actors {
        Some(actors) => actors.into_iter().for_each(each),
        None => every_actor(tx, each)?,
    }
    Ok(found)
}

/// The facts of an actor, added up.
#[derive(Default)]
struct ActorWork {
    sums: MeasureSums,
    /// The last bucket, and the numbers of its events.
    last: Option<(i64, Vec<i64>)>,
}

impl ActorWork {
    fn add(&mut self, fact: &Fact) {
        self.sums.add(&fact.sums, 1);
        // What is subtracted is not an event, and summed facts have places.
        if fact.seq() != SHARED {
            self.see(fact.bucket(), fact.seq());
        }
    }

    /// Adds an event.
    fn see(&mut self, in_bucket: i64, seq: i64) {
        match &mut self.last {
            Some((bucket, _)) if *bucket > in_bucket => {}
            Some((bucket, seqs)) if *bucket == in_bucket => seqs.push(seq),
            last => *last = Some((in_bucket, vec![seq])),
        }
    }
}

/// The time of the last event of each actor, in milliseconds.
fn last_of(tx: &mut Tx<'_>, work: &HashMap<i64, ActorWork>) -> Result<HashMap<i64, i64>> {
    let seqs = work.values().filter_map(|work| work.last.as_ref()).flat_map(|(_, seqs)| seqs);
    let seqs = sorted(seqs.copied());
    let sql = format!(
        "SELECT actor, event_ms FROM event_log WHERE {}",
        is_one_of_numbers(tx.dialect(), "seq", "$1")
    );
    let mut last_ms: HashMap<i64, i64> = HashMap::new();
    tx.query(&sql, &[json_list(&seqs)?.as_str().into()], |row| {
        let last = last_ms.entry(row.int(0)?).or_insert(i64::MIN);
        *last = row.int(1)?.max(*last);
        Ok(true)
    })?;
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
    // What is subtracted may not be in the sums yet.
    found.retain(|_, sums| sums.events != 0);
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
