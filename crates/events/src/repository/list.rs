//! Lists of events, single reads, and the newest events.

use std::ops::Range;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::{is_among, is_one_of_numbers};
use lyceum_store::{Param, Sql, SqlDialect, Tx};

use super::append::find;
use super::read::{LOG, LoggedEvent, numbered, of_numbers, select};
use super::{COLLECTION, facts, json_list, spans};
use crate::actor_filter::ActorFilter;
use crate::facts::BUCKET_MS;

/// The events that a list shows. An empty filter shows all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// The type of the events, such as `ActivityEvent`.
    pub kind: Option<String>,
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
    /// The columns by which it is sorted.
    columns: &'static str,
    /// Whether it uses spans. Spans do not overlap, and each belongs to one source and one day.
    by_spans: bool,
    /// The sources of the filter's sensor.
    sources: Option<Vec<i64>>,
    /// Its tables and conditions.
    from: Sql,
}

impl ListPlan {
    fn of(
        tx: &mut Tx<'_>,
        filter: &EventFilter,
        actors: &ActorFilter,
        by: EventOrderKey,
    ) -> Result<Self> {
        let EventFilter { kind: _, sensor, actor_id, actor_email, start, end, arrived } = filter;
        let seen = match actors.numbers(tx)? {
            None => None,
            Some(actors) => Some(facts::seqs(tx, &actors, &filter.buckets())?),
        };
        let email = actor_email.as_ref().map(|email| email.to_ascii_lowercase());
        let of_actor = of_actors(tx, "iri = $1", actor_id.as_deref())?;
        let of_email = of_actors(tx, "lower(email) = $1", email.as_deref())?;
        let are_few =
            arrived.is_some() || [&of_actor, &of_email, &seen].iter().any(|it| it.is_some());
        let asks =
            by != EventOrderKey::Arrival || sensor.is_some() || start.is_some() || end.is_some();
        let by_spans = asks && !are_few;
        let of_sensor = "SELECT id FROM event_sources WHERE sensor = $1";
        let sources = sensor.as_ref().map(|sensor| tx.rows(of_sensor, &[sensor.into()]));
        let sources: Option<Vec<i64>> = sources.transpose()?;

        let mut from = Sql::new(tx.dialect());
        let (tables, columns) = tables(tx.dialect(), by, by_spans);
        from.push(&tables).push(" AND l.superseded_by IS NULL");
        match sources.as_deref() {
            None => {}
            // The spans of a single source are already sorted.
            Some(&[source]) => {
                from.push(" AND s.id = ").bind(source);
            }
            Some(sources) => is_one_of(&mut from, "s.id", json_list(sources)?),
        }
        for seqs in [of_actor, of_email, seen].into_iter().flatten() {
            is_one_of(&mut from, "l.seq", seqs);
        }
        let day = |at: &Option<Timestamp>| at.filter(|_| by_spans).map(spans::day);
        let time = |at: &Option<Timestamp>| at.map(Timestamp::milliseconds);
        let arrived = |of: fn(&ArrivalRange) -> i64| arrived.as_ref().map(of);
        for (condition, bound) in [
            (" AND p.day >= ", day(start)),
            (" AND p.day <= ", day(end)),
            (" AND l.event_ms >= ", time(start)),
            (" AND l.event_ms <= ", time(end)),
            (" AND l.seq >= ", arrived(|at| at.first)),
            (" AND l.seq <= ", arrived(|at| at.last)),
            (" AND l.received_ms >= ", arrived(|at| at.from.milliseconds())),
            (" AND l.received_ms < ", arrived(|at| at.to.milliseconds())),
        ] {
            if let Some(bound) = bound {
                from.push(condition).bind(bound);
            }
        }
        Ok(Self { columns, by_spans, sources, from })
    }

    fn order(&self, is_reversed: bool) -> String {
        match is_reversed {
            true => self.columns.replace(", ", " DESC, ") + " DESC",
            false => self.columns.to_owned(),
        }
    }

    /// The numbers of all events, or of the first `most`.
    fn numbers(&self, tx: &mut Tx<'_>, is_reversed: bool, most: Option<i64>) -> Result<Vec<i64>> {
        let mut from = self.from.clone();
        from.push(" ORDER BY ").push(&self.order(is_reversed));
        if let Some(most) = most {
            from.push(" LIMIT ").bind(most);
        }
        tx.rows(&format!("SELECT l.seq FROM {}", from.text), &from.values())
    }
}

/// The tables of a list with their join conditions, and the columns by which it is sorted.
fn tables(dialect: SqlDialect, by: EventOrderKey, by_spans: bool) -> (String, &'static str) {
    use EventOrderKey::{Arrival, Sensor, Time};
    let events = spans::events(dialect, "l");
    let tables = match by {
        _ if !by_spans => format!("{LOG} WHERE true"),
        // SQLite joins in this order, so that a page does not read events of other sources.
        Sensor => {
            format!("event_sources s CROSS JOIN event_spans p {events} WHERE p.source = s.id")
        }
        Arrival | Time => {
            format!("event_spans p JOIN event_sources s ON s.id = p.source {events} WHERE true")
        }
    };
    let columns = match (by, by_spans) {
        (Arrival, true) => "p.first, l.seq",
        (Time, true) => "p.day, l.event_ms, l.seq",
        (Sensor, true) => "s.sensor, s.client, p.first, l.seq",
        (Arrival, false) => "l.seq",
        (Time, false) => "l.event_ms, l.seq",
        (Sensor, false) => "s.sensor, s.client, l.seq",
    };
    (tables, columns)
}

/// Appends the condition that an expression is one of the numbers of a JSON array.
fn is_one_of(sql: &mut Sql, expression: &str, numbers: String) {
    let placeholder = sql.placeholder(Param::Text(numbers));
    let is_one = is_one_of_numbers(sql.dialect, expression, &placeholder);
    sql.push(" AND ").push(&is_one);
}

/// The numbers of the events of all actors with a name, as JSON.
fn of_actors(tx: &mut Tx<'_>, which: &str, name: Option<&str>) -> Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    let sql = format!("SELECT id FROM event_actors WHERE {which} ORDER BY id");
    let actors: Vec<i64> = tx.rows(&sql, &[name.into()])?;
    facts::seqs(tx, &actors, &facts::EVER).map(Some)
}

impl EventFilter {
    /// The buckets of the facts of events between the earliest and the latest `eventTime`.
    fn buckets(&self) -> Range<i64> {
        let bucket = |at: Timestamp| at.milliseconds().div_euclid(BUCKET_MS);
        let first = self.start.map_or(i64::MIN, bucket);
        let behind = self.end.map_or(i64::MAX, |end| bucket(end) + 1);
        first..behind
    }

    /// Whether the filter matches an event.
    pub fn takes(&self, logged: &LoggedEvent) -> bool {
        let event = &logged.event;
        self.kind.as_ref().is_none_or(|kind| *kind == event.kind)
            && self.sensor.as_ref().is_none_or(|sensor| *sensor == event.sensor)
            && self.actor_id.as_ref().is_none_or(|id| *id == event.actor)
            && self.actor_email.as_ref().is_none_or(|it| it.eq_ignore_ascii_case(&event.email))
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

/// Lists a page of the events of those actors, in a stable order. If the reader sees only some actors, it costs as much
/// as their events between the earliest and the latest time, whatever the log contains beside them. A filter by type costs
/// as much as reading all other events that the filter matches, because only their texts have the type.
pub fn list(
    tx: &mut Tx<'_>,
    filter: &EventFilter,
    actors: &ActorFilter,
    order: EventOrder,
    limit: i64,
    offset: i64,
) -> Result<EventPage> {
    let plan = ListPlan::of(tx, filter, actors, order.by)?;
    if let Some(kind) = &filter.kind {
        let seqs = plan.numbers(tx, order.is_reversed, None)?;
        let seqs = of_kind(tx, &seqs, kind)?;
        let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let page: Vec<i64> = seqs.iter().copied().skip(count(offset)).take(count(limit)).collect();
        let total = i64::try_from(seqs.len()).map_err(Problem::internal)?;
        return Ok(EventPage { events: of_numbers(tx, &page)?, total });
    }
    let is_unfiltered =
        *filter == EventFilter::default() && matches!(actors, ActorFilter::Everyone);
    let total = match &plan.sources {
        _ if is_unfiltered => tx.tally_total(COLLECTION)?,
        Some(sources) if plan.by_spans && filter.start.is_none() && filter.end.is_none() => {
            spans::count(tx, sources)?
        }
        _ => {
            let sql = format!("SELECT COUNT(*) FROM {}", plan.from.text);
            tx.row(&sql, &plan.from.values())?.unwrap_or(0)
        }
    };
    let (mut skip, mut limit, mut is_reversed) = (offset, limit, order.is_reversed);
    let mut from = plan.from.clone();
    if is_unfiltered && order.by == EventOrderKey::Arrival {
        // A page from the end is read forwards from the beginning and then reversed.
        if order.is_reversed {
            limit = limit.min(total - offset).max(0);
            skip = (total - offset - limit).max(0);
            is_reversed = false;
        }
        let Some((seq, rest)) = tx.tally_seek(COLLECTION, skip)? else {
            return Ok(EventPage { events: Vec::new(), total });
        };
        from.push(" AND l.seq >= ").bind(seq);
        skip = rest;
    }
    from.push(" ORDER BY ").push(&plan.order(is_reversed));
    from.push(" LIMIT ").bind(limit).push(" OFFSET ").bind(skip);
    let mut events = select(tx, &from.text, &from.values())?;
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
    let plan = ListPlan::of(tx, filter, actors, order.by)?;
    let Some(kind) = &filter.kind else {
        return plan.numbers(tx, order.is_reversed, Some(most));
    };
    let seqs = plan.numbers(tx, order.is_reversed, None)?;
    let mut seqs = of_kind(tx, &seqs, kind)?;
    seqs.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(seqs)
}

/// The events that have the type, in the same order.
fn of_kind(tx: &mut Tx<'_>, seqs: &[i64], kind: &str) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    numbered(tx, seqs, |logged| {
        if logged.event.kind == kind {
            found.push(logged.seq);
        }
        Ok(())
    })?;
    Ok(found)
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
