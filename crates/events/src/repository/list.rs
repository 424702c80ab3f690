//! Lists, single reads, and what came since.

use std::collections::BTreeMap;
use std::fmt::Write;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::{is_among, is_one_of_numbers};
use lyceum_store::{Tx, Value};

use super::append::find;
use super::read::{Logged, Stored, logged};
use super::{COLLECTION, facts};

/// Which events a list shows; an empty one shows all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The sensor's IRI.
    pub sensor: Option<String>,
    /// The actor's IRI.
    pub actor_id: Option<String>,
    /// The actor's e-mail address; letters A-Z are alike in both cases.
    pub actor_email: Option<String>,
    /// The earliest `eventTime`.
    pub start: Option<Timestamp>,
    /// The latest `eventTime`.
    pub end: Option<Timestamp>,
    /// Those that arrived in some time.
    pub arrived: Option<Arrived>,
}

/// Some time, and the numbers of the first and the last event that arrived in it: arrivals have no index,
/// and numbers follow them but for those that arrive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The first instant.
    pub from: Timestamp,
    /// The instant behind the last.
    pub to: Timestamp,
    /// The least number.
    pub first: i64,
    /// The greatest one.
    pub last: i64,
}

/// What events are ordered by; those alike stand in the order of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// When they arrived.
    #[default]
    Arrival,
    /// When they happened.
    Time,
    /// The sensor that sent them.
    Sensor,
}

/// How a list is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// By what.
    pub by: By,
    /// From the last to the first.
    pub is_reversed: bool,
}

impl Order {
    fn sql(self) -> String {
        // The index knows days.
        let by = match self.by {
            By::Arrival => String::new(),
            By::Time => format!("l.event_ms / {DAY_MS}, l.event_ms, "),
            By::Sensor => "s.sensor, s.client, ".to_owned(),
        };
        let columns = by + "l.seq";
        if self.is_reversed { columns.replace(", ", " DESC, ") + " DESC" } else { columns }
    }

    /// The tables to read from, and the condition that joins them where they do not say it.
    fn source(self) -> (&'static str, &'static str) {
        match self.by {
            By::Sensor => (FROM_SOURCES, " AND s.id = l.source"),
            By::Arrival | By::Time => (FROM, ""),
        }
    }
}

/// A page of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The events, as they are ordered.
    pub events: Vec<Logged>,
    /// How many there are on all pages.
    pub total: i64,
}

const FROM: &str = "event_log l JOIN event_sources s ON s.id = l.source";
/// Source by source, by their index, so that a page needs no other source's events. SQLite keeps to
/// the order of a cross join.
const FROM_SOURCES: &str = "event_sources s CROSS JOIN event_log l";

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What a condition compares with.
enum Wanted {
    Text(String),
    Number(i64),
}

impl Filter {
    /// The conditions beside that of the version that counts, and what they compare with.
    fn conditions(&self, tx: &mut Tx<'_>) -> Result<(String, Vec<Wanted>)> {
        let sensor = self.sensor.clone().map(Wanted::Text);
        let email = self.actor_email.as_ref().map(|email| email.to_ascii_lowercase());
        let of_actor = of_actors(tx, "iri = $1", self.actor_id.as_deref())?;
        let of_email = of_actors(tx, "lower(email) = $1", email.as_deref())?;
        let is_one = is_one_of_numbers(tx.dialect(), "l.seq", "?");
        let number = |at: Option<Timestamp>| at.map(|at| Wanted::Number(at.milliseconds()));
        let day = |at: Option<Timestamp>| at.map(|at| Wanted::Number(at.milliseconds() / DAY_MS));
        let arrived =
            |of: fn(&Arrived) -> i64| self.arrived.as_ref().map(|at| Wanted::Number(of(at)));
        // `?` stands for what is compared with.
        let all = [
            ("s.sensor = ?".to_owned(), sensor),
            (is_one.clone(), of_actor),
            (is_one, of_email),
            // The index knows days.
            (format!("l.event_ms / {DAY_MS} >= ?"), day(self.start)),
            (format!("l.event_ms / {DAY_MS} <= ?"), day(self.end)),
            ("l.event_ms >= ?".to_owned(), number(self.start)),
            ("l.event_ms <= ?".to_owned(), number(self.end)),
            ("l.seq >= ?".to_owned(), arrived(|at| at.first)),
            ("l.seq <= ?".to_owned(), arrived(|at| at.last)),
            ("l.received_ms >= ?".to_owned(), arrived(|at| at.from.milliseconds())),
            ("l.received_ms < ?".to_owned(), arrived(|at| at.to.milliseconds())),
        ];
        let (mut sql, mut wanted) = (String::from("l.superseded_by IS NULL"), Vec::new());
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

/// The numbers of all events of the actors with a name.
fn of_actors(tx: &mut Tx<'_>, which: &str, name: Option<&str>) -> Result<Option<Wanted>> {
    let Some(name) = name else { return Ok(None) };
    let sql = format!("SELECT id FROM event_actors WHERE {which} ORDER BY id");
    let actors = tx.all(&sql, &[name.into()], |row| row.int(0))?;
    facts::seqs(tx, &actors, &facts::EVER).map(|seqs| Some(Wanted::Text(seqs)))
}

impl Filter {
    /// Whether an event is one of them.
    pub fn takes(&self, logged: &Logged) -> bool {
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

impl Arrived {
    fn takes(&self, logged: &Logged) -> bool {
        (self.first..=self.last).contains(&logged.seq)
            && (self.from..self.to).contains(&logged.received)
    }
}

fn values(wanted: &[Wanted]) -> Vec<Value<'_>> {
    wanted
        .iter()
        .map(|wanted| match wanted {
            Wanted::Text(text) => Value::Text(text),
            Wanted::Number(number) => Value::Int(*number),
        })
        .collect()
}

/// Lists a page of events in a stable order.
pub fn list(
    tx: &mut Tx<'_>,
    filter: &Filter,
    order: Order,
    limit: i64,
    offset: i64,
) -> Result<Page> {
    let (mut conditions, mut wanted) = filter.conditions(tx)?;
    let everything = *filter == Filter::default();
    let total = if everything {
        tx.tally_total(COLLECTION)?
    } else {
        let sql = format!("SELECT COUNT(*) FROM {FROM} WHERE {conditions}");
        tx.query_one(&sql, &values(&wanted), |row| row.int(0))?.unwrap_or(0)
    };
    let (mut skip, mut limit, mut read) = (offset, limit, order);
    if everything && order.by == By::Arrival {
        // A page from the end is one from the beginning, turned round.
        if order.is_reversed {
            limit = limit.min(total - offset).max(0);
            skip = (total - offset - limit).max(0);
            read.is_reversed = false;
        }
        let Some((seq, rest)) = tx.tally_seek(COLLECTION, skip)? else {
            return Ok(Page { events: Vec::new(), total });
        };
        wanted.push(Wanted::Number(seq));
        conditions += " AND l.seq >= $1";
        skip = rest;
    }
    let (from, joined) = order.source();
    conditions += joined;
    let (limit_at, skip_at) = (wanted.len() + 1, wanted.len() + 2);
    let sql = format!(
        "SELECT {} FROM {from} WHERE {conditions} ORDER BY {} LIMIT ${limit_at} OFFSET ${skip_at}",
        Stored::COLUMNS,
        read.sql()
    );
    wanted.extend([Wanted::Number(limit), Wanted::Number(skip)]);
    let rows = tx.all(&sql, &values(&wanted), Stored::read)?;
    let mut events = logged(tx, rows)?;
    if read != order {
        events.reverse();
    }
    Ok(Page { events, total })
}

/// The numbers of the first events, `most` of them at most, as they are ordered.
pub fn numbers(tx: &mut Tx<'_>, filter: &Filter, order: Order, most: i64) -> Result<Vec<i64>> {
    let (conditions, mut wanted) = filter.conditions(tx)?;
    let (from, joined) = order.source();
    let sql = format!(
        "SELECT l.seq FROM {from} WHERE {conditions}{joined} ORDER BY {} LIMIT ${}",
        order.sql(),
        wanted.len() + 1
    );
    wanted.push(Wanted::Number(most));
    tx.all(&sql, &values(&wanted), |row| row.int(0))
}

/// The events of these numbers, in the order of the numbers.
pub fn of_numbers(tx: &mut Tx<'_>, seqs: &[i64]) -> Result<Vec<Logged>> {
    let is_one = is_one_of_numbers(tx.dialect(), "l.seq", "$1");
    let sql = format!("SELECT {} FROM {FROM} WHERE {is_one}", Stored::COLUMNS);
    let wanted = serde_json::to_string(seqs).map_err(Problem::internal)?;
    let rows = tx.all(&sql, &[wanted.as_str().into()], Stored::read)?;
    let mut rows: BTreeMap<i64, Stored> = rows.into_iter().map(|row| (row.seq, row)).collect();
    logged(tx, seqs.iter().filter_map(|seq| rows.remove(seq)).collect())
}

/// The newest event of each of the sensors that sent something, `most` of them at most, by sensor.
pub fn newest_of_sensors(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Logged>> {
    let newest = "SELECT (SELECT n.seq FROM event_log n WHERE n.source = t.id \
                  AND n.superseded_by IS NULL ORDER BY n.seq DESC LIMIT 1) \
                  FROM event_sources t ORDER BY t.id DESC LIMIT $1";
    let sql = format!(
        "SELECT {} FROM {FROM} WHERE {} ORDER BY s.sensor, l.seq DESC",
        Stored::COLUMNS,
        is_among(tx.dialect(), "l.seq", newest)
    );
    let rows = tx.all(&sql, &[most.into()], Stored::read)?;
    let mut events = logged(tx, rows)?;
    // A sensor may have sent as several clients.
    events.dedup_by(|one, before| one.event.sensor == before.event.sensor);
    Ok(events)
}

/// The version of an event that counts, by the event's id.
pub fn read(tx: &mut Tx<'_>, id: &str) -> Result<Option<Logged>> {
    find(tx, id).map(|(_, found)| found)
}

/// The number of the newest event; 0 when there is none.
pub fn newest(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = "SELECT COALESCE(MAX(seq), 0) FROM event_log";
    Ok(tx.query_one(sql, &[], |row| row.int(0))?.unwrap_or(0))
}
