//! Sources and actors, which the log names by number.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value};

use super::{lists, marks};
use crate::event::{Event, local_id};

/// The numbers of the sources of events of one client, by sensor.
pub(super) fn sources<'a>(
    tx: &mut Tx<'_>,
    client: &str,
    events: &'a [Event],
) -> Result<BTreeMap<&'a str, i64>> {
    let mut found: BTreeMap<&str, Option<i64>> =
        events.iter().map(|event| (event.sensor.as_str(), None)).collect();
    for (sensor, number) in &mut found {
        let names = [(*sensor).into(), client.into()];
        *number = Some(match source(tx, &names)? {
            Some(number) => number,
            None => {
                let columns = ["sensor", "client"];
                tx.insert_rows("event_sources", &columns, &names, "ON CONFLICT DO NOTHING")?;
                source(tx, &names)?.ok_or_else(|| Problem::internal("a source was not kept"))?
            }
        });
    }
    Ok(found.into_iter().filter_map(|(name, number)| Some((name, number?))).collect())
}

fn source(tx: &mut Tx<'_>, names: &[Value<'_>]) -> Result<Option<i64>> {
    let sql = "SELECT id FROM event_sources WHERE sensor = $1 AND client = $2";
    tx.query_one(sql, names, |row| row.int(0))
}

/// An actor's names: IRI and e-mail, which may be empty.
type Names<'a> = (&'a str, &'a str);

fn names(event: &Event) -> Names<'_> {
    (event.actor_id(), event.actor_email().unwrap_or_default())
}

/// The numbers by which the log knows the actors of some events.
pub struct Actors<'a>(BTreeMap<Names<'a>, i64>);

impl<'a> Actors<'a> {
    /// Those of the events; new actors get their numbers.
    pub fn of(tx: &mut Tx<'_>, events: impl IntoIterator<Item = &'a Event>) -> Result<Self> {
        let mut found = events.into_iter().map(|event| (names(event), None)).collect();
        look_up(tx, &mut found)?;
        let persons: Vec<(Names<'_>, String)> = found
            .iter()
            .filter(|(_, number)| number.is_none())
            .map(|(names, _)| (*names, local_id(names.0, "/users/")))
            .collect();
        if !persons.is_empty() {
            let mut values: Vec<Value<'_>> = Vec::with_capacity(persons.len() * 3);
            for ((iri, email), person) in &persons {
                values.extend([(*iri).into(), (*email).into(), Value::Text(person)]);
            }
            let columns = ["iri", "email", "person"];
            tx.insert_rows("event_actors", &columns, &values, "ON CONFLICT DO NOTHING")?;
            look_up(tx, &mut found)?;
        }
        let missing = || Problem::internal("an actor was not kept");
        let found = found.into_iter().map(|(name, number)| Ok((name, number.ok_or_else(missing)?)));
        found.collect::<Result<_>>().map(Self)
    }

    /// The number of an event's actor. Panics for an event of others.
    pub fn number(&self, event: &Event) -> i64 {
        self.0[&names(event)]
    }
}

/// An actor of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its number.
    pub number: i64,
    /// The sourcedId in its IRI, or the IRI itself where none is in it.
    pub person: String,
}

/// The actors whose IRI names the person, and those with the e-mail address, letters A-Z alike in
/// both cases; an empty address is nobody's.
pub fn actors_called(tx: &mut Tx<'_>, person: &str, email: &str) -> Result<Vec<Actor>> {
    let sql = "SELECT id, person FROM event_actors WHERE person = $1 UNION \
               SELECT id, person FROM event_actors WHERE lower(email) = $2 AND email <> '' \
               ORDER BY id";
    let email = email.to_ascii_lowercase();
    let mut found = Vec::new();
    tx.query(sql, &[person.into(), email.as_str().into()], |row| {
        found.push(Actor { number: row.int(0)?, person: row.text(1)?.to_owned() });
        Ok(true)
    })?;
    Ok(found)
}

/// The greatest number of an actor; 0 where there is none.
pub fn last_actor(tx: &mut Tx<'_>) -> Result<i64> {
    let last = tx.query_one("SELECT max(id) FROM event_actors", &[], |row| row.opt_int(0))?;
    Ok(last.flatten().unwrap_or_default())
}

/// The numbers of actors behind `after`, `most` at most, ascending.
pub fn actors_behind(tx: &mut Tx<'_>, after: i64, most: i64) -> Result<Vec<i64>> {
    let sql = "SELECT id FROM event_actors WHERE id > $1 ORDER BY id LIMIT $2";
    let mut found = Vec::new();
    tx.query(sql, &[after.into(), most.into()], |row| {
        found.push(row.int(0)?);
        Ok(true)
    })?;
    Ok(found)
}

fn look_up(tx: &mut Tx<'_>, found: &mut BTreeMap<Names<'_>, Option<i64>>) -> Result<()> {
    let wanted = found.iter().filter(|(_, number)| number.is_none());
    let mut iris: Vec<&str> = wanted.map(|((iri, _), _)| *iri).collect();
    iris.dedup();
    let sql = format!("SELECT id, iri, email FROM event_actors WHERE iri IN ({})", marks(1));
    let mut known = HashMap::new();
    for list in lists(&iris) {
        let values: Vec<Value<'_>> = list.into_iter().map(Value::Text).collect();
        tx.query(&sql, &values, |row| {
            known.insert((row.text(1)?.to_owned(), row.text(2)?.to_owned()), row.int(0)?);
            Ok(true)
        })?;
    }
    for ((iri, email), number) in found {
        let named = known.get(&((*iri).to_owned(), (*email).to_owned()));
        *number = number.or_else(|| named.copied());
    }
    Ok(())
}
