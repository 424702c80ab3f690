//! The event log: a page of it, and all of it as a file.
//!
//! The log is sorted by indexed columns, and by others only if a search leaves few events: every event would pay for an
//! index. An export is complete before it is sent, so nobody takes an interrupted download for a file.

use lyceum_core::text::folded;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

use crate::actor_filter::ActorFilter;
use crate::limits;
use crate::repository::{self, EventFilter, EventOrder, EventPage, LoggedEvent};

/// The data of a page of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPage {
    /// The events on it, and how many there are on all pages.
    pub page: EventPage,
    /// Whether the filter leaves so few events that they can be sorted by what no index has.
    pub is_few: bool,
    /// The apps that sent something: the sensor, and what people call the app.
    pub apps: Vec<(String, String)>,
    /// The number of rejected envelopes that wait to be replayed.
    pub waiting_count: i64,
}

/// Reads a page of the log. With `is_whole`, a log of few events is read whole instead.
pub fn read(
    tx: &mut Tx<'_>,
    filter: &EventFilter,
    actors: &ActorFilter,
    order: EventOrder,
    is_whole: bool,
    (limit, offset): (i64, i64),
) -> Result<LogPage> {
    let mut page = repository::list(tx, filter, actors, order, limit, offset)?;
    let is_few = page.total <= limits::CONSOLE_SORTED_EVENTS_MAX_ROWS;
    if is_whole && is_few {
        page = repository::list(tx, filter, actors, order, page.total, 0)?;
    }
    let sensors = repository::newest_of_sensors(tx, limits::CONSOLE_APPS_COUNT)?;
    let (waiting_count, _) = repository::refused_counts(tx)?;
    Ok(LogPage { page, is_few, apps: apps(&sensors), waiting_count })
}

/// Hands the first events, `most` of them at most, to `each`, in the order of the log. Answers whether there are more.
pub fn each(
    tx: &mut Tx<'_>,
    filter: &EventFilter,
    actors: &ActorFilter,
    order: EventOrder,
    most: i64,
    mut each: impl FnMut(&LoggedEvent) -> Result<()>,
) -> Result<bool> {
    let mut found = repository::numbers(tx, filter, actors, order, most + 1)?;
    let most = usize::try_from(most).map_err(Problem::internal)?;
    let has_more = found.len() > most;
    found.truncate(most);
    for numbers in found.chunks(limits::CONSOLE_EXPORT_SLICE_ROWS) {
        repository::of_numbers(tx, numbers)?.iter().try_for_each(&mut each)?;
    }
    Ok(has_more)
}

/// Reads the page of an event. Errors: `NotFound`.
pub fn event(tx: &mut Tx<'_>, id: &str, actors: &ActorFilter) -> Result<LoggedEvent> {
    let found = repository::read(tx, id, actors)?;
    found.ok_or_else(|| {
        let message = message!("there is no event with the id '{id}'");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The filter for a search: an e-mail address, the IRI of an actor, or the sourcedId of a user on the server at
/// `base_url`.
pub fn filter(search: &str, base_url: &str) -> EventFilter {
    let (actor_id, actor_email) = match search {
        "" => (None, None),
        iri if iri.contains("://") || iri.starts_with("urn:") => (Some(iri.to_owned()), None),
        email if email.contains('@') => (None, Some(email.to_owned())),
        id => (Some(format!("{base_url}/ims/oneroster/rostering/v1p2/users/{id}")), None),
    };
    EventFilter { actor_id, actor_email, ..EventFilter::default() }
}

/// The app that an event names: `edApp`, or the app of its activity, by name or IRI; else the sensor.
pub fn app<'e>(content: &'e Value, sensor: &'e str) -> &'e str {
    let apps = [&content["edApp"], &content["object"]["app"]];
    let named = apps.into_iter().find_map(|app| {
        app["name"].as_str().or_else(|| app["id"].as_str()).or_else(|| app.as_str())
    });
    named.unwrap_or(sensor)
}

/// The sensors with the apps that their newest events name. If two apps have one name, the sensor stands beside it.
fn apps(newest: &[LoggedEvent]) -> Vec<(String, String)> {
    let app_of = |one: &LoggedEvent| {
        let sensor = &one.event.sensor;
        (sensor.clone(), app(&one.event.content(), sensor).to_owned())
    };
    let mut apps: Vec<(String, String)> = newest.iter().map(app_of).collect();
    apps.sort_by_cached_key(|(_, name)| folded(name));
    let names: Vec<String> = apps.iter().map(|(_, name)| name.clone()).collect();
    for (sensor, name) in &mut apps {
        if names.iter().filter(|other| *other == name).count() > 1 {
            *name = format!("{name} ({sensor})");
        }
    }
    apps
}
