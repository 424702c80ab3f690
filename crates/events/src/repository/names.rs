//! The numbers of sources and actors in the log.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use lyceum_core::{Problem, Result};
use lyceum_store::dialect::is_one_of;
use lyceum_store::{Tx, Value, columns};

use crate::event::local_id;
use crate::limits::EVENT_NAMES_KNOWN_COUNT;

/// The names of an actor: IRI and email address, which may be empty. Or the names of a source: sensor and client.
pub(super) type NamePair<'a> = (&'a str, &'a str);

/// What has two names and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Actors,
    Sources,
}

impl Named {
    /// The table, and its columns with the names.
    fn table(self) -> (&'static str, [&'static str; 2]) {
        match self {
            Self::Actors => ("event_actors", ["iri", "email"]),
            Self::Sources => ("event_sources", ["sensor", "client"]),
        }
    }
}

/// A cache of the numbers of actors and sources. A number never changes, but the transaction that assigned it may
/// fail, so only committed numbers are added.
#[derive(Debug, Default)]
pub struct KnownNames(RwLock<[NumbersByName; 2]>);

/// Numbers by both names.
#[derive(Debug, Default)]
struct NumbersByName(HashMap<Box<str>, i64>);

/// Names that a transaction looked up, with their numbers.
#[derive(Debug, Default)]
pub struct LookedUpNames([Vec<(String, String, i64)>; 2]);

impl KnownNames {
    /// Caches what a committed transaction looked up.
    pub fn learn(&self, learned: LookedUpNames) {
        if learned.0.iter().all(Vec::is_empty) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (known, learned) in known.iter_mut().zip(learned.0) {
            known.learn(learned);
        }
    }
}

impl NumbersByName {
    fn learn(&mut self, learned: Vec<(String, String, i64)>) {
        if self.0.len() + learned.len() > EVENT_NAMES_KNOWN_COUNT {
            *self = Self::default();
        }
        for (first, second, number) in learned {
            self.0.insert(both((&first, &second), &mut String::new()).into(), number);
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

/// Names that are not in the cache, sorted, with the numbers that were found.
type NumbersToFind<'a> = BTreeMap<NamePair<'a>, Cell<Option<i64>>>;

/// The number of each pair of names. New ones get numbers.
pub(super) fn numbers(
    tx: &mut Tx<'_>,
    known: &KnownNames,
    learned: &mut LookedUpNames,
    named: Named,
    pairs: &[NamePair<'_>],
) -> Result<Vec<i64>> {
    let numbers: Vec<Option<i64>> = {
        let known = known.0.read().unwrap_or_else(PoisonError::into_inner);
        let (known, mut text) = (&known[named as usize].0, String::new());
        pairs.iter().map(|pair| known.get(both(*pair, &mut text)).copied()).collect()
    };
    let unknown = pairs.iter().zip(&numbers).filter(|(_, number)| number.is_none());
    let found: NumbersToFind<'_> = unknown.map(|(pair, _)| (*pair, Cell::default())).collect();
    look_up(tx, named, &found)?;
    if found.values().any(|number| number.get().is_none()) {
        store(tx, named, &found)?;
        look_up(tx, named, &found)?;
    }
    let missing = || Problem::internal("a name is missing right after it was stored");
    for ((first, second), number) in &found {
        let number = number.get().ok_or_else(missing)?;
        learned.0[named as usize].push(((*first).to_owned(), (*second).to_owned(), number));
    }
    let all = pairs.iter().zip(numbers);
    all.map(|(pair, number)| number.or_else(|| found[pair].get()).ok_or_else(missing)).collect()
}

/// Stores the names that were not found, in order, so that two transactions never wait for each other in a circle.
fn store(tx: &mut Tx<'_>, named: Named, found: &NumbersToFind<'_>) -> Result<()> {
    let new = found.iter().filter(|(_, number)| number.get().is_none());
    let new: Vec<(NamePair<'_>, String)> =
        new.map(|(pair, _)| (*pair, local_id(pair.0, "/users/"))).collect();
    let (table, of_names) = named.table();
    let mut columns = of_names.to_vec();
    let mut values: Vec<Value<'_>> = Vec::with_capacity(new.len() * 3);
    for ((first, second), person) in &new {
        values.extend([Value::Text(first), Value::Text(second)]);
        if named == Named::Actors {
            values.push(Value::Text(person));
        }
    }
    if named == Named::Actors {
        columns.push("person");
    }
    tx.send_rows(table, &columns, &values, "ON CONFLICT DO NOTHING")
}

/// Looks up the names that were not found.
fn look_up(tx: &mut Tx<'_>, named: Named, found: &NumbersToFind<'_>) -> Result<()> {
    let wanted = found.iter().filter(|(_, number)| number.get().is_none());
    let wanted: Vec<&str> = wanted.map(|((first, _), _)| *first).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let (table, [first, second]) = named.table();
    let is_one = is_one_of(tx.dialect(), first, "$1");
    let sql = format!("SELECT id, {first}, {second} FROM {table} WHERE {is_one}");
    let wanted = serde_json::to_string(&wanted).map_err(Problem::internal)?;
    tx.query(&sql, &[(&wanted).into()], |row| {
        if let Some(number) = found.get(&(row.text(1)?, row.text(2)?)) {
            number.set(Some(row.int(0)?));
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
    let list = |texts: &[&str]| serde_json::to_string(texts).map_err(Problem::internal);
    let persons = list(persons)?;
    let emails = list(&emails.iter().map(String::as_str).collect::<Vec<_>>())?;
    tx.rows(&sql, &[persons.as_str().into(), emails.as_str().into()])
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
