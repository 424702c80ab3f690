//! The numbers of sources and actors in the log.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use lyceum_core::{Problem, Result};
use lyceum_store::dialect::is_one_of;
use lyceum_store::{Tx, Value};

use crate::event::{Event, local_id};
use crate::limits::EVENT_NAMES_KNOWN_COUNT;

/// The numbers of sources, by sensor and client.
pub(super) type SourceNumbers<'a> = BTreeMap<NamePair<'a>, i64>;

/// The numbers of these sensors and clients. New ones get numbers.
pub(super) fn sources<'a>(
    tx: &mut Tx<'_>,
    known: &KnownNames,
    learned: &mut LookedUpNames,
    names: impl Iterator<Item = NamePair<'a>>,
) -> Result<SourceNumbers<'a>> {
    let mut found: SourceNumbers<'a> = names.map(|name| (name, 0)).collect();
    let mut text = String::new();
    for (&(sensor, client), number) in &mut found {
        if let Some(known) = known.read().sources.number((sensor, client), &mut text) {
            *number = known;
            continue;
        }
        let names = [sensor.into(), client.into()];
        *number = match source(tx, &names)? {
            Some(number) => number,
            None => {
                let columns = ["sensor", "client"];
                tx.send_rows("event_sources", &columns, &names, "ON CONFLICT DO NOTHING")?;
                source(tx, &names)?.ok_or_else(|| {
                    Problem::internal(
                        "a source is missing right after it was \
                stored",
                    )
                })?
            }
        };
        learned.sources.push((sensor.to_owned(), client.to_owned(), *number));
    }
    Ok(found)
}

fn source(tx: &mut Tx<'_>, names: &[Value<'_>]) -> Result<Option<i64>> {
    let sql = "SELECT id FROM event_sources WHERE sensor = $1 AND client = $2";
    tx.query_one(sql, names, |row| row.int(0))
}

/// The names of an actor: IRI and email address, which may be empty. Or the names of a source: sensor and client.
type NamePair<'a> = (&'a str, &'a str);

fn names(event: &Event) -> NamePair<'_> {
    (&event.actor, &event.email)
}

/// A cache of the numbers of actors and sources. A number never changes, but the transaction that assigned it may
/// fail, so only committed numbers are added.
#[derive(Debug, Default)]
pub struct KnownNames(RwLock<KnownNumbers>);

#[derive(Debug, Default)]
struct KnownNumbers {
    actors: NumbersByName,
    sources: NumbersByName,
}

/// Numbers by both names.
#[derive(Debug, Default)]
struct NumbersByName(HashMap<Box<str>, i64>);

/// Names that a transaction looked up, with their numbers.
#[derive(Debug, Default)]
pub struct LookedUpNames {
    actors: Vec<(String, String, i64)>,
    sources: Vec<(String, String, i64)>,
}

impl KnownNames {
    /// Caches what a committed transaction looked up.
    pub fn learn(&self, learned: LookedUpNames) {
        if learned.actors.is_empty() && learned.sources.is_empty() {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.actors.learn(learned.actors);
        known.sources.learn(learned.sources);
    }

    fn read(&self) -> RwLockReadGuard<'_, KnownNumbers> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
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

    fn number(&self, names: NamePair<'_>, text: &mut String) -> Option<i64> {
        self.0.get(both(names, text)).copied()
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

/// The number of each event's actor. New actors get numbers.
pub(super) fn actors(
    tx: &mut Tx<'_>,
    known: &KnownNames,
    learned: &mut LookedUpNames,
    events: &[&Event],
) -> Result<Vec<i64>> {
    let mut numbers: Vec<Option<i64>> = {
        let (known, mut text) = (known.read(), String::new());
        events.iter().map(|event| known.actors.number(names(event), &mut text)).collect()
    };
    let unknown = events.iter().zip(&numbers).filter(|(_, number)| number.is_none());
    let mut places: HashMap<NamePair<'_>, usize> = HashMap::new();
    for (event, _) in unknown {
        let next = places.len();
        places.entry(names(event)).or_insert(next);
    }
    let mut found = vec![None; places.len()];
    find_or_make(tx, &places, &mut found)?;
    let missing = || Problem::internal("an actor is missing right after it was stored");
    for ((iri, email), place) in &places {
        let number = found[*place].ok_or_else(missing)?;
        learned.actors.push(((*iri).to_owned(), (*email).to_owned(), number));
    }
    for (event, number) in events.iter().zip(&mut numbers) {
        if number.is_none() {
            *number = found[places[&names(event)]];
        }
    }
    numbers.into_iter().map(|number| number.ok_or_else(missing)).collect()
}

/// Looks up numbers that are not in the cache. New actors get numbers.
fn find_or_make(
    tx: &mut Tx<'_>,
    places: &HashMap<NamePair<'_>, usize>,
    numbers: &mut [Option<i64>],
) -> Result<()> {
    look_up(tx, places, numbers)?;
    let mut new: Vec<(NamePair<'_>, String)> = places
        .iter()
        .filter(|(_, place)| numbers[**place].is_none())
        .map(|(names, _)| (*names, local_id(names.0, "/users/")))
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    // Sorted, so that two transactions never wait for each other in a circle.
    new.sort_unstable();
    let mut values: Vec<Value<'_>> = Vec::with_capacity(new.len() * 3);
    for ((iri, email), person) in &new {
        values.extend([(*iri).into(), (*email).into(), Value::Text(person)]);
    }
    let columns = ["iri", "email", "person"];
    tx.send_rows("event_actors", &columns, &values, "ON CONFLICT DO NOTHING")?;
    look_up(tx, places, numbers)
}

fn look_up(
    tx: &mut Tx<'_>,
    places: &HashMap<NamePair<'_>, usize>,
    numbers: &mut [Option<i64>],
) -> Result<()> {
    let wanted = places.iter().filter(|(_, place)| numbers[**place].is_none());
    let iris: Vec<&str> = wanted.map(|((iri, _), _)| *iri).collect();
    if iris.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT id, iri, email FROM event_actors WHERE {}",
        is_one_of(tx.dialect(), "iri", "$1")
    );
    let iris = serde_json::to_string(&iris).map_err(Problem::internal)?;
    tx.query(&sql, &[(&iris).into()], |row| {
        if let Some(place) = places.get(&(row.text(1)?, row.text(2)?)) {
            numbers[*place] = Some(row.int(0)?);
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

/// The actors whose IRI names one of the persons, and those with one of the email addresses, without distinguishing
/// upper and lower case of A-Z. An empty address matches no actor. Runs one statement for any number of names.
pub fn actors_called(tx: &mut Tx<'_>, persons: &[&str], emails: &[&str]) -> Result<Vec<Actor>> {
    let sql = format!(
        "SELECT id, person, lower(email) FROM event_actors WHERE {} UNION \
         SELECT id, person, lower(email) FROM event_actors WHERE {} ORDER BY id",
        is_one_of(tx.dialect(), "person", "$1"),
        is_one_of(tx.dialect(), "lower(email)", "$2")
    );
    let emails = emails.iter().filter(|email| !email.is_empty());
    let emails: Vec<String> = emails.map(|email| email.to_ascii_lowercase()).collect();
    let list = |texts: &[&str]| serde_json::to_string(texts).map_err(Problem::internal);
    let persons = list(persons)?;
    let emails = list(&emails.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut found = Vec::new();
    tx.query(&sql, &[persons.as_str().into(), emails.as_str().into()], |row| {
        found.push(Actor { number: row.int(0)?, person: row.string(1)?, email: row.string(2)? });
        Ok(true)
    })?;
    Ok(found)
}

/// Calls `each` with every actor, by number.
pub(super) fn every_actor(tx: &mut Tx<'_>, mut each: impl FnMut(Actor)) -> Result<()> {
    let sql = "SELECT id, person, lower(email) FROM event_actors ORDER BY id";
    tx.query(sql, &[], |row| {
        each(Actor { number: row.int(0)?, person: row.string(1)?, email: row.string(2)? });
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
    let mut found = Vec::new();
    tx.query(sql, &[after.into(), most.into()], |row| {
        found.push(row.int(0)?);
        Ok(true)
    })?;
    Ok(found)
}
