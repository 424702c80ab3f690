//! The numbers of sources and actors in the log.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use lyceum_core::{Problem, Result};
use lyceum_store::dialect::is_one_of;
use lyceum_store::{Tx, Value, columns};

use super::json_list;
use crate::event::local_id;
use crate::limits::EVENT_NAMES_KNOWN_COUNT;

/// The names of an actor: IRI and email address, which may be empty. Or the names of a source: sensor and client.
pub(super) type NamePair<'a> = (&'a str, &'a str);

/// A thing with two names and a number.
#[derive(Clone, Copy)]
pub(super) enum Named {
    Actors,
    Sources,
}

impl Named {
    /// Its table, and the columns that a new row fills: both names, and an actor's person.
    fn table(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Actors => ("event_actors", &["iri", "email", "person"]),
            Self::Sources => ("event_sources", &["sensor", "client"]),
        }
    }
}

/// Numbers by both names ([`both`]).
type NumbersByNames = HashMap<Box<str>, i64>;

/// A cache of the numbers of actors and sources. A number never changes, but the transaction that assigned it may
/// fail, so only committed numbers are added.
#[derive(Debug, Default)]
pub struct KnownNames(RwLock<[NumbersByNames; 2]>);

/// Names that a transaction looked up, with their numbers.
#[derive(Debug, Default)]
pub struct LookedUpNames([Vec<(Box<str>, i64)>; 2]);

impl KnownNames {
    /// Caches what a committed transaction looked up.
    pub fn learn(&self, learned: LookedUpNames) {
        if learned.0.iter().all(Vec::is_empty) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (known, learned) in known.iter_mut().zip(learned.0) {
            if known.len() + learned.len() > EVENT_NAMES_KNOWN_COUNT {
                known.clear();
            }
            known.extend(learned);
        }
    }
}

/// Two names as one text, whose memory is reused. Names cannot contain U+0000, so no two pairs give the same text.
fn both<'t>((first, second): NamePair<'_>, text: &'t mut String) -> &'t str {
    text.clear();
    text.push_str(first);
    text.push('\0');
    text.push_str(second);
    text
}

/// The number of each pair of names. New ones get numbers.
pub(super) fn numbers(
    tx: &mut Tx<'_>,
    known: &KnownNames,
    learned: &mut LookedUpNames,
    named: Named,
    pairs: &[NamePair<'_>],
) -> Result<Vec<i64>> {
    let mut text = String::new();
    let numbers: Vec<Option<i64>> = {
        let known = &known.0.read().unwrap_or_else(PoisonError::into_inner)[named as usize];
        pairs.iter().map(|pair| known.get(both(*pair, &mut text)).copied()).collect()
    };
    let unknown = pairs.iter().zip(&numbers).filter(|(_, number)| number.is_none());
    let mut unknown: Vec<NamePair<'_>> = unknown.map(|(pair, _)| *pair).collect();
    // So that two transactions that store names never wait for each other in a circle.
    unknown.sort_unstable();
    unknown.dedup();
    let mut found = vec![None; unknown.len()];
    look_up(tx, named, &unknown, &mut found)?;
    if found.contains(&None) {
        let new = unknown.iter().zip(&found).filter(|(_, number)| number.is_none());
        store(tx, named, &new.map(|(pair, _)| *pair).collect::<Vec<_>>())?;
        look_up(tx, named, &unknown, &mut found)?;
    }
    let missing = || Problem::internal("a name is missing right after it was stored");
    for (pair, number) in unknown.iter().zip(&found) {
        learned.0[named as usize]
            .push((both(*pair, &mut text).into(), number.ok_or_else(missing)?));
    }
    let number_of = |pair| found[unknown.binary_search(pair).ok()?];
    let all = pairs.iter().zip(numbers);
    all.map(|(pair, number)| number.or_else(|| number_of(pair)).ok_or_else(missing)).collect()
}

/// Stores new names.
fn store(tx: &mut Tx<'_>, named: Named, pairs: &[NamePair<'_>]) -> Result<()> {
    let (table, columns) = named.table();
    let people: Vec<String> = pairs.iter().map(|(first, _)| local_id(first, "/users/")).collect();
    let rows = pairs.iter().zip(&people);
    let values: Vec<Value<'_>> = rows
        .flat_map(|(&(first, second), person)| {
            [first, second, person].map(Value::Text).into_iter().take(columns.len())
        })
        .collect();
    tx.send_rows(table, columns, &values, "ON CONFLICT DO NOTHING")
}

/// Looks up those of the sorted names that have no number yet.
fn look_up(
    tx: &mut Tx<'_>,
    named: Named,
    pairs: &[NamePair<'_>],
    numbers: &mut [Option<i64>],
) -> Result<()> {
    let wanted = pairs.iter().zip(&*numbers).filter(|(_, number)| number.is_none());
    let firsts: Vec<&str> = wanted.map(|((first, _), _)| *first).collect();
    if firsts.is_empty() {
        return Ok(());
    }
    let (table, columns) = named.table();
    let is_one = is_one_of(tx.dialect(), columns[0], "$1");
    let sql = format!("SELECT id, {} FROM {table} WHERE {is_one}", columns[..2].join(", "));
    tx.query(&sql, &[(&json_list(&firsts)?).into()], |row| {
        if let Ok(at) = pairs.binary_search(&(row.text(1)?, row.text(2)?)) {
            numbers[at] = Some(row.int(0)?);
        }
        Ok(true)
    })
}

/// An actor of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its number.
    pub number: i64,
    /// The sourcedId in the actor's IRI, or the whole IRI if it contains none.
    pub person: String,
    /// The email address with A-Z in lower case; empty if there is none.
    pub email: String,
}

columns!(Actor { number: "id", person: "person", email: "lower(email)" });

/// The actors whose IRI names one of the persons, and those with one of the email addresses, without distinguishing
/// upper and lower case of A-Z. An empty address matches no actor. Runs one statement for any number of names.
pub fn actors_called(tx: &mut Tx<'_>, persons: &[&str], emails: &[&str]) -> Result<Vec<Actor>> {
    let sql = format!(
        "SELECT {0} FROM event_actors WHERE {1} UNION SELECT {0} FROM event_actors WHERE {2} ORDER BY id",
        Actor::COLUMNS,
        is_one_of(tx.dialect(), "person", "$1"),
        is_one_of(tx.dialect(), "lower(email)", "$2")
    );
    let emails = emails.iter().filter(|email| !email.is_empty());
    let emails: Vec<String> = emails.map(|email| email.to_ascii_lowercase()).collect();
    tx.rows(&sql, &[(&json_list(persons)?).into(), (&json_list(&emails)?).into()])
}

/// Calls `each` with every actor, by number.
pub(super) fn every_actor(tx: &mut Tx<'_>, mut each: impl FnMut(Actor)) -> Result<()> {
    let sql = format!("SELECT {} FROM event_actors ORDER BY id", Actor::COLUMNS);
    tx.query(&sql, &[], |row| {
        each(row.read()?);
        Ok(true)
    })
}

/// The highest number of an actor; 0 without actors.
pub fn last_actor(tx: &mut Tx<'_>) -> Result<i64> {
    let last = tx.query_one("SELECT max(id) FROM event_actors", &[], |row| row.opt_int(0))?;
    Ok(last.flatten().unwrap_or_default())
}

/// The next `most` numbers of actors after `after`, ascending.
pub fn actors_behind(tx: &mut Tx<'_>, after: i64, most: i64) -> Result<Vec<i64>> {
    let sql = "SELECT id FROM event_actors WHERE id > $1 ORDER BY id LIMIT $2";
    tx.rows(sql, &[after.into(), most.into()])
}
