//! Lists of events, single reads, and the newest events.

use std::fmt::Write;
use std::ops::Range;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::{is_among, is_one_of_numbers};
use lyceum_store::{SqlDialect, Tx, Value};

use super::append::find;
use super::read::{LOG, LoggedEvent, select};
use super::{COLLECTION, facts, spans};
use crate::actor_filter::ActorFilter;
use crate::facts::BUCKET_MS;

/// The events that a list shows. An empty filter shows all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// The sensor's IRI.
    pub sensor: Option<String>,
    /// The actor's IRI.
    pub actor_id: Option<String>,
    /// The actor's email address. Upper and lower case of A-Z are not distinguished.
    pub actor_email: Option<String>,
    /// The earliest `eventTime`.
    pub start: Option<Timestamp>,
    /// The latest `eventTime`.
    pub end: Option<Timestamp>,
    /// Only events that arrived in some time.
    pub arrived: Option<ArrivalRange>,
}

/// A time range, with the numbers of the first and last event that arrived in it. Arrival times have no index, but
/// numbers follow them almost exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRange {
    /// The beginning.
    pub from: Timestamp,
    /// The end, exclusive.
    pub to: Timestamp,
    /// The lowest number.
    pub first: i64,
    /// The highest number.
    pub last: i64,
}

/// The order of events. Equal ones are in order of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventOrderKey {
    /// By time of arrival.
    #[default]
    Arrival,
    /// By event time.
    Time,
    /// By the sensor that sent them.
    Sensor,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOrder {
    /// The sort key.
    pub by: EventOrderKey,
    /// Whether the last comes first.
    pub is_reversed: bool,
}

/// A page of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The events, in the order of the list.
    pub events: Vec<LoggedEvent>,
    /// The number of events on all pages.
    pub total: i64,
}

/// How a list finds its events.
struct ListPlan {
    by: EventOrderKey,
    /// Whether it uses spans. Spans do not overlap, and each belongs to one source and one day.
    by_spans: bool,
    /// The sources of the filter's sensor.
    sources: Option<Vec<i64>>,
    /// The numbers of the events of the actors that the reader sees, as JSON; `None` for all.
    seen: Option<String>,
}

impl ListPlan {
    fn of(
        tx: &mut Tx<'_>,
        filter: &EventFilter,
        actors: &ActorFilter,
        by: EventOrderKey,
    ) -> Result<Self> {
        let EventFilter { sensor, actor_id, actor_email, start, end, arrived } = filter;
        let seen = match actors.numbers(tx)? {
            None => None,
            Some(actors) => Some(facts::seqs(tx, &actors, &filter.buckets())?),
        };
        let are_few =
            actor_id.is_some() || actor_email.is_some() || arrived.is_some() || seen.is_some();
        let asks =
            by != EventOrderKey::Arrival || sensor.is_some() || start.is_some() || end.is_some();
        let of_sensor = "SELECT id FROM event_sources WHERE sensor = $1";
        let sources =
            sensor.as_ref().map(|sensor| tx.all(of_sensor, &[sensor.into()], |row| row.int(0)));
        Ok(Self { by, by_spans: asks && !are_few, sources: sources.transpose()?, seen })
    }

    /// The tables to read, and their join conditions.
    fn from(&self, dialect: SqlDialect) -> String {
        if !self.by_spans {
            return format!("{LOG} WHERE true");
        }
        let events = spans::events(dialect, "l");
        match self.by {
            // SQLite joins in this order, so that a page does not read events of other sources.
            EventOrderKey::Sensor => {
                format!("event_sources s CROSS JOIN event_spans p {events} WHERE p.source = s.id")
            }
            EventOrderKey::Arrival | EventOrderKey::Time => {
                format!("event_spans p JOIN event_sources s ON s.id = p.source {events} WHERE true")
            }
        }
    }

    fn order(&self, is_reversed: bool) -> String {
        let columns = match (self.by, self.by_spans) {
            (EventOrderKey::Arrival, true) => "p.first, l.seq",
            (EventOrderKey::Time, true) => "p.day, l.event_ms, l.seq",
            (EventOrderKey::Sensor, true) => "s.sensor, s.client, p.first, l.seq",
            (EventOrderKey::Arrival, false) => "l.seq",
            (EventOrderKey::Time, false) => "l.event_ms, l.seq",
            (EventOrderKey::Sensor, false) => "s.sensor, s.client, l.seq",
        };
        if is_reversed { columns.replace(", ", " DESC, ") + " DESC" } else { columns.to_owned() }
    }

    /// The condition for the sources. The spans of a single source are already sorted.
    fn of_sensor(&self, dialect: SqlDialect) -> Result<(String, Option<BoundValue>)> {
        Ok(match self.sources.as_deref() {
            None => (String::new(), None),
            Some(&[source]) => ("s.id = ?".to_owned(), Some(BoundValue::Number(source))),
            Some(sources) => {
                let sources = serde_json::to_string(sources).map_err(Problem::internal)?;
                (is_one_of_numbers(dialect, "s.id", "?"), Some(BoundValue::Text(sources)))
            }
        })
    }
}

/// The value of a condition.
enum BoundValue {
    Text(String),
    Number(i64),
}

impl EventFilter {
    /// The buckets of the facts of events between the earliest and the latest `eventTime`.
    fn buckets(&self) -> Range<i64> {
        let bucket = |at: Timestamp| at.milliseconds().div_euclid(BUCKET_MS);
        let first = self.start.map_or(i64::MIN, bucket);
        let behind = self.end.map_or(i64::MAX, |end| bucket(end) + 1);
        first..behind
    }

    /// The conditions, and their values.
    fn conditions(&self, tx: &mut Tx<'_>, way: &ListPlan) -> Result<(String, Vec<BoundValue>)> {
        let (is_of_sensor, sensor) = way.of_sensor(tx.dialect())?;
        let email = self.actor_email.as_ref().map(|email| email.to_ascii_lowercase());
        let of_actor = of_actors(tx, "iri = $1", self.actor_id.as_deref())?;
        let of_email = of_actors(tx, "lower(email) = $1", email.as_deref())?;
        let is_one = is_one_of_numbers(tx.dialect(), "l.seq", "?");
        let number = |at: Option<Timestamp>| at.map(|at| BoundValue::Number(at.milliseconds()));
        let day = |at: Option<Timestamp>| {
            at.filter(|_| way.by_spans).map(|at| BoundValue::Number(spans::day(at)))
        };
        let arrived = |of: fn(&ArrivalRange) -> i64| {
            self.arrived.as_ref().map(|at| BoundValue::Number(of(at)))
        };
        // Each `?` stands for a value.
        let all = [
            (is_of_sensor, sensor),
            (is_one.clone(), of_actor),
            (is_one.clone(), of_email),
            (is_one, way.seen.clone().map(BoundValue::Text)),
            ("p.day >= ?".to_owned(), day(self.start)),
            ("p.day <= ?".to_owned(), day(self.end)),
            ("l.event_ms >= ?".to_owned(), number(self.start)),
            ("l.event_ms <= ?".to_owned(), number(self.end)),
            ("l.seq >= ?".to_owned(), arrived(|at| at.first)),
            ("l.seq <= ?".to_owned(), arrived(|at| at.last)),
            ("l.received_ms >= ?".to_owned(), arrived(|at| at.from.milliseconds())),
            ("l.received_ms < ?".to_owned(), arrived(|at| at.to.milliseconds())),
        ];
        let (mut sql, mut wanted) = (String::from(" AND l.superseded_by IS NULL"), Vec::new());
        for (condition, value) in all {
            if let Some(value) = value {
                wanted.push(value);
                let placeholder = format!("${}", wanted.len());
                let _ = write!(sql, " AND {}", condition.replace('?', &placeholder));
            }
        }
        Ok((sql, wanted))
    }
}

/// The numbers of all actors with a name.
fn of_actors(tx: &mut Tx<'_>, which: &str, name: Option<&str>) -> Result<Option<BoundValue>> {
    let Some(name) = name else { return Ok(None) };
    let sql = format!("SELECT id FROM event_actors WHERE {which} ORDER BY id");
    let actors = tx.all(&sql, &[name.into()], |row| row.int(0))?;
    facts::seqs(tx, &actors, &facts::EVER).map(|seqs| Some(BoundValue::Text(seqs)))
}

impl EventFilter {
    /// Whether the filter matches an event.
    pub fn takes(&self, logged: &LoggedEvent) -> bool {
        let event = &logged.event;
        self.sensor.as_ref().is_none_or(|sensor| *sensor == event.sensor)
            && self.actor_id.as_ref().is_none_or(|id| *id == event.actor)
            && self
                .actor_email
                .as_ref()
                .is_none_or(|wanted| wanted.eq_ignore_ascii_case(&event.email))
            && self.start.is_none_or(|start| event.time >= start)
            && self.end.is_none_or(|end| event.time <= end)
            && self.arrived.is_none_or(|at| at.takes(logged))
    }
}

impl ArrivalRange {
    fn takes(&self, logged: &LoggedEvent) -> bool {
        (self.first..=self.last).contains(&logged.seq)
            && (self.from..self.to).contains(&logged.received)
    }
}

fn values(wanted: &[BoundValue]) -> Vec<Value<'_>> {
    wanted
        .iter()
        .map(|wanted| match wanted {
            BoundValue::Text(text) => Value::Text(text),
            BoundValue::Number(number) => Value::Int(*number),
        })
        .collect()
}

/// Lists a page of the events of those actors, in a stable order. If the reader sees only some actors, it costs as much
/// as their events between the earliest and the latest time, whatever the log contains beside them.
pub fn list(
    tx: &mut Tx<'_>,
    filter: &EventFilter,
    actors: &ActorFilter,
    order: EventOrder,
    limit: i64,
    offset: i64,
) -> Result<EventPage> {
    let way = ListPlan::of(tx, filter, actors, order.by)?;
    let from = way.from(tx.dialect());
    let (mut conditions, mut wanted) = filter.conditions(tx, &way)?;
    let everything = *filter == EventFilter::default() && way.seen.is_none();
    let total = match &way.sources {
        _ if everything => tx.tally_total(COLLECTION)?,
        Some(sources) if way.by_spans && filter.start.is_none() && filter.end.is_none() => {
            spans::count(tx, sources)?
        }
        _ => {
            let sql = format!("SELECT COUNT(*) FROM {from}{conditions}");
            tx.query_one(&sql, &values(&wanted), |row| row.int(0))?.unwrap_or(0)
        }
    };
    let (mut skip, mut limit, mut is_reversed) = (offset, limit, order.is_reversed);
    if everything && order.by == EventOrderKey::Arrival {
        // A page from the end is read forwards from the beginning and then reversed.
        if order.is_reversed {
            limit = limit.min(total - offset).max(0);
            skip = (total - offset - limit).max(0);
            is_reversed = false;
        }
        let Some((seq, rest)) = tx.tally_seek(COLLECTION, skip)? else {
            return Ok(EventPage { events: Vec::new(), total });
        };
        wanted.push(BoundValue::Number(seq));
        conditions += " AND l.seq >= $1";
        skip = rest;
    }
    let (limit_at, skip_at) = (wanted.len() + 1, wanted.len() + 2);
    let order_by = way.order(is_reversed);
    let from =
        format!("{from}{conditions} ORDER BY {order_by} LIMIT ${limit_at} OFFSET ${skip_at}");
    wanted.extend([BoundValue::Number(limit), BoundValue::Number(skip)]);
    let mut events = select(tx, &from, &values(&wanted))?;
    if is_reversed != order.is_reversed {
        events.reverse();
    }
    Ok(EventPage { events, total })
}

/// The numbers of the first `most` events of those actors, in the order of the list.
pub fn numbers(
    tx: &mut Tx<'_>,
    filter: &EventFilter,
    actors: &ActorFilter,
    order: EventOrder,
    most: i64,
) -> Result<Vec<i64>> {
    let way = ListPlan::of(tx, filter, actors, order.by)?;
    let (conditions, mut wanted) = filter.conditions(tx, &way)?;
    let sql = format!(
        "SELECT l.seq FROM {}{conditions} ORDER BY {} LIMIT ${}",
        way.from(tx.dialect()),
        way.order(order.is_reversed),
        wanted.len() + 1
    );
    wanted.push(BoundValue::Number(most));
    tx.all(&sql, &values(&wanted), |row| row.int(0))
}

/// The newest event of each sensor that sent something, at most `most`, sorted by sensor.
pub fn newest_of_sensors(tx: &mut Tx<'_>, most: i64) -> Result<Vec<LoggedEvent>> {
    let newest = format!(
        "SELECT (SELECT n.seq FROM event_spans p {} WHERE p.source = t.id \
         AND n.superseded_by IS NULL ORDER BY p.first DESC, n.seq DESC LIMIT 1) \
         FROM event_sources t ORDER BY t.id DESC LIMIT $1",
        spans::events(tx.dialect(), "n")
    );
    let is_newest = is_among(tx.dialect(), "l.seq", &newest);
    let from = format!("{LOG} WHERE {is_newest} ORDER BY s.sensor, l.seq DESC");
    let mut events = select(tx, &from, &[most.into()])?;
    // A sensor may have sent under several clients.
    events.dedup_by(|one, before| one.event.sensor == before.event.sensor);
    Ok(events)
}

/// Finds an event of those actors by its id, in the version that counts.
pub fn read(tx: &mut Tx<'_>, id: &str, actors: &ActorFilter) -> Result<Option<LoggedEvent>> {
    let (_, found) = find(tx, id)?;
    Ok(actors.keep(tx, Vec::from_iter(found))?.pop())
}

/// The number of the newest event; 0 without events.
pub fn newest(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = "SELECT COALESCE(MAX(seq), 0) FROM event_log";
    Ok(tx.query_one(sql, &[], |row| row.int(0))?.unwrap_or(0))
}
