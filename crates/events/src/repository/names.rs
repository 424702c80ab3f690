//! Sources and actors, which the log names by number.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value};

use super::{lists, marks};
use crate::event::Event;

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

/// An actor: IRI and e-mail, which may be empty.
pub(super) type Actor<'a> = (&'a str, &'a str);

/// Who acted.
pub(super) fn actor(event: &Event) -> Actor<'_> {
    (event.actor_id(), event.actor_email().unwrap_or_default())
}

/// The numbers of the actors of the events.
pub(super) fn actors<'a>(tx: &mut Tx<'_>, events: &'a [Event]) -> Result<BTreeMap<Actor<'a>, i64>> {
    let mut found = events.iter().map(|event| (actor(event), None)).collect();
    look_up(tx, &mut found)?;
    let values: Vec<Value<'_>> = found
        .iter()
        .filter(|(_, number)| number.is_none())
        .flat_map(|((iri, email), _)| [(*iri).into(), (*email).into()])
        .collect();
    if !values.is_empty() {
        tx.insert_rows("event_actors", &["iri", "email"], &values, "ON CONFLICT DO NOTHING")?;
        look_up(tx, &mut found)?;
    }
    let missing = || Problem::internal("an actor was not kept");
    found.into_iter().map(|(name, number)| Ok((name, number.ok_or_else(missing)?))).collect()
}

fn look_up(tx: &mut Tx<'_>, found: &mut BTreeMap<Actor<'_>, Option<i64>>) -> Result<()> {
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
