//! The rows of facts: the only SQL about them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use lyceum_core::limits::FACT_LOCATE_CHUNK_COUNT;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::is_one_of_numbers;
use lyceum_store::{Row, Tx, Value};

use crate::facts::{BUCKET_MS, Context, Facts, Sums};

const COLUMNS: [&str; 14] = [
    "actor",
    "bucket",
    "seq",
    "context",
    "events",
    "xp",
    "total_questions",
    "correct_questions",
    "mastered_units",
    "active",
    "inactive",
    "waste",
    "unknown",
    "anti_pattern",
];
/// The columns in front of the sums: the key.
const KEY: usize = 4;
/// The number under which sums stand that are not one event's.
const SHARED: i64 = -1;

/// Rows that are written together.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<([i64; KEY], Sums)>,
    contexts: BTreeMap<i64, Context>,
}

impl Rows {
    /// Adds the rows of an event that counts.
    pub(crate) fn add(&mut self, actor: i64, seq: i64, facts: &Facts) {
        if let Some((number, context)) = &facts.context {
            self.rows.extend(
                facts.buckets.iter().map(|(bucket, sums)| ([actor, *bucket, seq, *number], *sums)),
            );
            if !self.contexts.contains_key(number) {
                self.contexts.insert(*number, context.clone());
            }
        }
        if facts.buckets.iter().all(|(bucket, _)| *bucket != facts.own) {
            self.rows.push(([actor, facts.own, seq, 0], Sums::default()));
        }
    }

    /// Writes them, in the order of their keys: neighbours are written one after the other.
    pub(crate) fn write(mut self, tx: &mut Tx<'_>) -> Result<()> {
        let contexts: Vec<Value<'_>> = self
            .contexts
            .iter()
            .flat_map(|(number, Context { course, subject, app })| {
                [(*number).into(), course.into(), subject.into(), app.into()]
            })
            .collect();
        let columns = ["id", "course", "subject", "app"];
        tx.insert_rows("event_contexts", &columns, &contexts, "ON CONFLICT DO NOTHING")?;
        self.rows.sort_unstable_by_key(|(key, _)| *key);
        insert(tx, &self.rows, "")
    }
}

fn insert(tx: &mut Tx<'_>, rows: &[([i64; KEY], Sums)], conflict: &str) -> Result<()> {
    let mut values: Vec<Value<'_>> = Vec::with_capacity(rows.len() * COLUMNS.len());
    for (key, sums) in rows {
        values.extend(key.map(Value::Int));
        values.push(sums.events.into());
        values.extend(sums.measures.map(Value::Int));
    }
    tx.insert_rows("event_facts", &COLUMNS, &values, conflict).map(drop)
}

/// Removes the rows of an event that counts no longer. Where it was summed with others, its part is
/// taken away from them.
pub(super) fn take_away(tx: &mut Tx<'_>, actor: i64, seq: i64, facts: &Facts) -> Result<()> {
    let mut rows = Rows::default();
    rows.add(actor, seq, facts);
    let mut shared = Vec::new();
    for (key, sums) in rows.rows {
        let sql = "DELETE FROM event_facts WHERE actor = $1 AND bucket = $2 AND seq = $3 \
                   AND context = $4";
        if tx.execute(sql, &key.map(Value::Int))? == 0 && sums.events > 0 {
            let mut taken = Sums::default();
            taken.add(&sums, -1);
            shared.push(([key[0], key[1], SHARED, key[3]], taken));
        }
    }
    if shared.is_empty() {
        return Ok(());
    }
    let sql = "DELETE FROM event_facts WHERE actor = $1 AND bucket = $2 AND seq = $3";
    tx.execute(sql, &[actor, facts.own, seq].map(Value::Int))?;
    let sums: Vec<String> = COLUMNS[KEY..]
        .iter()
        .map(|name| format!("{name} = event_facts.{name} + excluded.{name}"))
        .collect();
    let conflict =
        format!("ON CONFLICT (actor, bucket, seq, context) DO UPDATE SET {}", sums.join(", "));
    insert(tx, &shared, &conflict)
}

/// Notes the place of the next events behind the number `after` that have none, so that their actor
/// finds them. Answers the number to go on from; none when there are no more.
pub fn locate(tx: &mut Tx<'_>, after: i64) -> Result<Option<i64>> {
    let last = after + FACT_LOCATE_CHUNK_COUNT;
    let sql = format!(
        "INSERT INTO event_facts ({}) SELECT actor, \
         (event_ms - ((event_ms % {BUCKET_MS}) + {BUCKET_MS}) % {BUCKET_MS}) / {BUCKET_MS}, seq, \
         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
         FROM event_log WHERE seq > $1 AND seq <= $2 AND superseded_by IS NULL \
         ON CONFLICT DO NOTHING",
        COLUMNS.join(", ")
    );
    tx.execute(&sql, &[after.into(), last.into()])?;
    Ok((last < super::newest(tx)?).then_some(last))
}

/// Removes the rows of the actors behind `after` up to `last`.
pub(crate) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let sql = "DELETE FROM event_facts WHERE actor > $1 AND actor <= $2";
    tx.execute(sql, &[after.into(), last.into()]).map(drop)
}

/// What an actor did in some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Did {
    /// The actor's number.
    pub actor: i64,
    /// The sourcedId in its IRI, or the IRI itself where none is in it.
    pub person: String,
    /// Its e-mail address in lower case; empty where there is none.
    pub email: String,
    /// The sums of all its events.
    pub sums: Sums,
}

/// The sums of every actor who did something in whole buckets of the instants. One statement, which
/// looks at each actor once.
pub fn of_all(tx: &mut Tx<'_>, instants: Range<i64>) -> Result<Vec<Did>> {
    let sums_of: Vec<String> =
        COLUMNS[KEY..].iter().map(|name| format!("CAST(SUM(f.{name}) AS BIGINT)")).collect();
    let sql = format!(
        "SELECT a.id, a.person, lower(a.email), {} FROM event_actors a CROSS JOIN event_facts f \
         WHERE f.actor = a.id AND f.bucket >= $1 AND f.bucket < $2 \
         GROUP BY a.id, a.person, a.email ORDER BY a.id",
        sums_of.join(", ")
    );
    let mut all = Vec::new();
    tx.query(&sql, &bounds(&instants), |row| {
        let text = |column| row.text(column).map(str::to_owned);
        all.push(Did {
            actor: row.int(0)?,
            person: text(1)?,
            email: text(2)?,
            sums: sums(row, 3)?,
        });
        Ok(true)
    })?;
    Ok(all)
}

/// When each actor who did something in whole buckets of the instants did so last, in milliseconds.
pub fn last_of_all(tx: &mut Tx<'_>, instants: Range<i64>) -> Result<HashMap<i64, i64>> {
    let sql = "SELECT m.actor, MAX(l.event_ms) FROM (\
               SELECT f.actor AS actor, MAX(f.bucket) AS bucket \
               FROM event_actors a CROSS JOIN event_facts f \
               WHERE f.actor = a.id AND f.bucket >= $1 AND f.bucket < $2 GROUP BY f.actor) m \
               JOIN event_facts g ON g.actor = m.actor AND g.bucket = m.bucket \
               JOIN event_log l ON l.seq = g.seq GROUP BY m.actor";
    let mut all = HashMap::new();
    tx.query(sql, &bounds(&instants), |row| {
        all.insert(row.int(0)?, row.int(1)?);
        Ok(true)
    })?;
    Ok(all)
}

fn bounds(instants: &Range<i64>) -> [Value<'static>; 2] {
    [(instants.start / BUCKET_MS).into(), (instants.end / BUCKET_MS).into()]
}

/// Hands the facts of actors in whole buckets of the instants to `each`: the actor, the first instant of
/// the bucket, the context, the sums of all events. By actor, in the order of their time. Two statements,
/// however many actors there are.
pub fn read(
    tx: &mut Tx<'_>,
    actors: &[i64],
    instants: Range<i64>,
    mut each: impl FnMut(i64, i64, &Context, &Sums),
) -> Result<()> {
    let sql = format!(
        "SELECT actor, bucket, context, events, xp, total_questions, correct_questions, \
         mastered_units, active, inactive, waste, unknown, anti_pattern FROM event_facts \
         WHERE {} AND bucket >= $2 AND bucket < $3 AND context <> 0",
        is_one_of_numbers(tx.dialect(), "actor", "$1")
    );
    let [from, to] = bounds(&instants);
    let mut found: BTreeMap<[i64; 3], Sums> = BTreeMap::new();
    tx.query(&sql, &[json(actors)?.as_str().into(), from, to], |row| {
        let key = [row.int(0)?, row.int(1)?, row.int(2)?];
        found.entry(key).or_default().add(&sums(row, 3)?, 1);
        Ok(true)
    })?;
    // What was taken away from shared sums stands beside them.
    found.retain(|_, sums| sums.events != 0);
    let contexts = contexts(tx, found.keys().map(|key| key[2]).collect())?;
    for ([actor, bucket, number], sums) in found {
        let context = contexts.get(&number);
        let context = context.ok_or_else(|| Problem::internal("a fact has no context"))?;
        each(actor, bucket * BUCKET_MS, context, &sums);
    }
    Ok(())
}

fn contexts(tx: &mut Tx<'_>, numbers: BTreeSet<i64>) -> Result<HashMap<i64, Context>> {
    let sql = format!(
        "SELECT id, course, subject, app FROM event_contexts WHERE {}",
        is_one_of_numbers(tx.dialect(), "id", "$1")
    );
    let mut found = HashMap::new();
    tx.query(&sql, &[json(&Vec::from_iter(numbers))?.as_str().into()], |row| {
        let text = |column| row.text(column).map(str::to_owned);
        let context = Context { course: text(1)?, subject: text(2)?, app: text(3)? };
        found.insert(row.int(0)?, context);
        Ok(true)
    })?;
    Ok(found)
}

fn json(numbers: &[i64]) -> Result<String> {
    serde_json::to_string(numbers).map_err(Problem::internal)
}

fn sums(row: &Row<'_>, first: usize) -> Result<Sums> {
    let mut sums = Sums { events: row.int(first)?, ..Sums::default() };
    for (at, measure) in sums.measures.iter_mut().enumerate() {
        *measure = row.int(first + 1 + at)?;
    }
    Ok(sums)
}
