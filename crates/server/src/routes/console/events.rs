//! Events: the log, its live tail, what was refused and its replay.

use lyceum_access::audit::Change;
use lyceum_console::{
    Cell, Choice, Column, Facts, File, List, Query, Row, events as view, screens, words,
};
use lyceum_core::time::{NotAnInstant, Timestamp};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_events::repository::{self, Arrived, By, Filter, Logged, Order, Refusal};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::visitor::{days, query};
use super::{
    Form, Visitor, action, at_most, cut, deadline, first_rows, listed, longest_export, on_to, page,
    shown,
};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;
use crate::routes::events::stream;

/// The columns of a log of few events. No index has type, action and person.
const FEW: [Column; 6] = [
    Column::text("time", "Time"),
    Column::text("type", "Type"),
    Column::text("action", "Action"),
    Column::text("who", "Who"),
    Column::text("app", "App"),
    Column::number("number", "Number"),
];
/// The columns of a log of many.
const MANY: [Column; 6] = [FEW[0], FEW[1].fixed(), FEW[2].fixed(), FEW[3].fixed(), FEW[4], FEW[5]];
const REFUSED: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("received", "Received"),
    Column::text("client", "Client"),
    Column::text("why", "Why"),
    Column::text("replayed", "Replayed"),
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/events", &screens::EVENTS, log),
        page("/events/live", &screens::EVENTS, live),
        page("/events/stream", &screens::EVENTS, streamed),
        page("/events/one", &screens::EVENTS, one),
        page("/events/refused", &screens::EVENTS, refused),
        page("/events/refused/{id}", &screens::EVENTS, refusal),
        action("/events/refused/{id}/replay", &screens::EVENTS, replay),
        action("/events/replay", &screens::EVENTS, replay_all),
    ]
}

async fn log(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let (from, to) = days(&query, &visitor.zone)?;
    let sensor = Some(query.own("app").to_owned()).filter(|sensor| !sensor.is_empty());
    // The last instant of the log's filter is within.
    let end = to.map(|to| Timestamp::from_milliseconds(to.milliseconds() - 1));
    let arrived = arrived(&query)?;
    let filter =
        Filter { sensor, start: from, end, arrived, ..filter(&query.filter, context.base_url()) };
    let order = match query.order() {
        ("time", is_reversed) => Order { by: By::Time, is_reversed },
        ("app", is_reversed) => Order { by: By::Sensor, is_reversed },
        ("number", is_reversed) => Order { by: By::Arrival, is_reversed },
        _ => Order { by: By::Arrival, is_reversed: true },
    };
    let by_words = ["type", "action", "who"].contains(&query.order().0);
    if let Some(export) = query.export.filter(|_| !by_words) {
        let add = move |tx: &mut Tx<'_>, file: &mut File, most| {
            let found = repository::numbers(tx, &filter, order, most + 1)?;
            let (most, slice) = (index(most)?, index(limits::CONSOLE_EXPORT_SLICE_ROWS)?);
            for numbers in found[..found.len().min(most)].chunks(slice) {
                let events = repository::of_numbers(tx, numbers)?;
                events.iter().try_for_each(|event| file.add(&row(&visitor, event)))?;
            }
            Ok(found.len() > most)
        };
        return first_rows(&context, "events", (&MANY, export), add).await;
    }
    let (most, skip) = (whole(limits::CONSOLE_PAGE_ROWS_COUNT)?, whole(query.skipped())?);
    let read = move |tx: &mut Tx<'_>| {
        let mut page = repository::list(tx, &filter, order, most, skip)?;
        let is_few = page.total <= limits::CONSOLE_SORTED_EVENTS_MAX_ROWS;
        if by_words && is_few {
            let numbers = repository::numbers(tx, &filter, order, page.total)?;
            page.events = repository::of_numbers(tx, &numbers)?;
        }
        let sensors = repository::newest_of_sensors(tx, limits::CONSOLE_APPS_COUNT)?;
        Ok((page, is_few, sensors, repository::refused_counts(tx)?.0))
    };
    let longest = query.export.map_or_else(deadline, |_| longest_export());
    let (page, is_few, sensors, waiting) = context.app.db.scan(longest, read).await?;
    let rows = page.events.iter().map(|event| row(&visitor, event)).collect();
    let list = match (is_few, by_words) {
        (true, true) => List::found("Events", &FEW, query, rows),
        (false, true) if query.export.is_some() => return Err(Problem::invalid("sort", sorting())),
        _ => {
            let columns = if is_few { &FEW } else { &MANY };
            let total = usize::try_from(page.total).unwrap_or_default();
            List::page("Events", columns, query, rows, total)
        }
    };
    let note = match is_few {
        true => String::new(),
        false => format!("Here {}. {}", sorting(), cut(page.total)),
    };
    let list = list
        .or_else(
            "No event has arrived yet. Apps send them to `/ims/caliper/v1p2/events`; \
             `lyceum trigger` sends one to try.",
        )
        .searches("E-mail, id or IRI")
        .choice(Choice::of("app", "App", apps(&sensors).into_iter()))
        .days()
        .note(note);
    let tabs = view::tabs("Log", waiting);
    let which = arrived.map(|at| {
        let [from, to] = [at.from, at.to].map(|at| visitor.zone.written(at));
        format!("Events that arrived from {from} to {to}.")
    });
    let frame = visitor.frame("Events");
    let page = view::Events { frame, tabs, list, waiting: 0, which, all: "/console/events" };
    listed("events", &page.list, &page)
}

/// The page of the events that arrived in some time.
pub(super) fn arrived_link(at: &Arrived) -> String {
    let pairs = [
        ("since", at.from.to_string()),
        ("until", at.to.to_string()),
        ("first", at.first.to_string()),
        ("last", at.last.to_string()),
    ];
    let pairs = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("/console/events?{pairs}")
}

/// What [`arrived_link`] asks for. Errors: `Invalid`.
fn arrived(query: &Query) -> Result<Option<Arrived>> {
    if query.own("since").is_empty() {
        return Ok(None);
    }
    let number = |name| {
        query.own(name).parse().map_err(|_| Problem::invalid(name, "must be a whole number"))
    };
    let (from, to) = (instant(query, "since")?, instant(query, "until")?);
    Ok(Some(Arrived { from, to, first: number("first")?, last: number("last")? }))
}

fn instant(query: &Query, name: &'static str) -> Result<Timestamp> {
    query.own(name).parse().map_err(|rule: NotAnInstant| Problem::invalid(name, rule.to_string()))
}

/// When events are sorted by what no index has.
fn sorting() -> String {
    let most = words::count(limits::CONSOLE_SORTED_EVENTS_MAX_ROWS);
    format!(
        "type, action and person sort where a search, an app or days leave {most} events at most"
    )
}

/// The sensors as the apps that their newest events name: sensor and name. Where two have one name, the
/// sensor stands beside it.
fn apps(newest: &[Logged]) -> Vec<(String, String)> {
    let named = newest.iter().map(|one| {
        let sensor = &one.event.sensor;
        (sensor.clone(), app(&one.event.content(), sensor).to_owned())
    });
    let mut apps: Vec<(String, String)> = named.collect();
    apps.sort_by_cached_key(|(_, name)| words::folded(name));
    let shared: Vec<bool> = apps
        .iter()
        .map(|(_, name)| apps.iter().filter(|(_, other)| other == name).count() > 1)
        .collect();
    for ((sensor, name), is_shared) in apps.iter_mut().zip(shared) {
        if is_shared {
            *name = format!("{name} ({sensor})");
        }
    }
    apps
}

/// Which events a search means: an e-mail address, the IRI of an actor, or a student's id.
fn filter(text: &str, base_url: &str) -> Filter {
    let mut filter = Filter::default();
    match text {
        "" => {}
        text if text.contains("://") || text.starts_with("urn:") => {
            filter.actor_id = Some(text.to_owned());
        }
        text if text.contains('@') => filter.actor_email = Some(text.to_owned()),
        id => {
            let users = "ims/oneroster/rostering/v1p2/users";
            filter.actor_id = Some(format!("{base_url}/{users}/{id}"));
        }
    }
    filter
}

fn row(visitor: &Visitor, logged: &Logged) -> Row {
    let event = &logged.event;
    let said = event.content();
    let who = if event.email.is_empty() { &event.actor } else { &event.email };
    vec![
        at(visitor, event.time).to(one_link(&event.id)),
        Cell::text(&event.kind),
        Cell::text(said["action"].as_str().unwrap_or_default()),
        Cell::text(who).to(link("/console/events", "filter", who)),
        Cell::text(app(&said, &event.sensor)),
        Cell::of(logged.seq, logged.seq.to_string()).to(one_link(&event.id)),
    ]
}

/// The app that an event names: `edApp`, or the app of its activity, by name or IRI; else the sensor.
fn app<'e>(said: &'e Value, sensor: &'e str) -> &'e str {
    let apps = [&said["edApp"], &said["object"]["app"]];
    let named = apps.into_iter().find_map(|app| {
        app["name"].as_str().or_else(|| app["id"].as_str()).or_else(|| app.as_str())
    });
    named.unwrap_or(sensor)
}

pub(super) fn one_link(id: &str) -> String {
    link("/console/events/one", "id", id)
}

fn link(path: &str, name: &str, value: &str) -> String {
    let pair = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
    format!("{path}?{pair}")
}

/// An instant: exports hold it in UTC, people read it in their zone.
pub(super) fn at(visitor: &Visitor, instant: Timestamp) -> Cell {
    Cell::when(instant, visitor.zone.written(instant))
}

async fn live(context: Context, visitor: Visitor) -> Result<Answer> {
    let (waiting, _) = context.app.db.read(repository::refused_counts).await?;
    shown(&view::Live {
        frame: visitor.frame("Events"),
        tabs: view::tabs("Live", waiting),
        stream: "/console/events/stream",
    })
}

async fn streamed(context: Context, _: Visitor) -> Result<Answer> {
    stream::streamed(context).await
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let id = query.own("id").to_owned();
    let unknown = format!("there is no event with the id '{id}'");
    let found = context.app.db.read(move |tx| repository::read(tx, &id)).await?;
    let logged = found.ok_or_else(|| Problem::new(ProblemKind::NotFound, unknown))?;
    let event = &logged.event;
    let said = event.content();
    let who = if event.email.is_empty() { &event.actor } else { &event.email };
    let facts = Facts::new(vec![
        ("When it happened", at(&visitor, event.time)),
        ("When it was sent", at(&visitor, event.send_time)),
        ("When it arrived", at(&visitor, logged.received)),
        ("Sent to arrived", Cell::text(words::brief(lag_ms(&logged)))),
        ("Who", Cell::text(who).to(link("/console/events", "filter", who))),
        ("Action", Cell::text(said["action"].as_str().unwrap_or("–"))),
        ("App", Cell::text(app(&said, &event.sensor))),
        ("Client", Cell::text(&logged.client)),
        ("Sensor", Cell::text(&event.sensor)),
        ("Id", Cell::text(&event.id)),
        ("Number", Cell::of(logged.seq, logged.seq.to_string())),
    ]);
    let body = indented(event.body());
    shown(&view::Event { frame: visitor.frame(&event.kind), facts, body })
}

/// Milliseconds from when an event was sent to when it arrived; the sender's clock may be ahead.
pub(super) fn lag_ms(logged: &Logged) -> i64 {
    (logged.received.milliseconds() - logged.event.send_time.milliseconds()).max(0)
}

fn indented(text: &str) -> String {
    let value = serde_json::from_str::<Value>(text);
    let indented = value.and_then(|value| serde_json::to_string_pretty(&value));
    indented.unwrap_or_else(|_| text.to_owned())
}

async fn refused(context: Context, visitor: Visitor) -> Result<Answer> {
    let query: Query = query(&context);
    let read = |tx: &mut Tx<'_>| {
        let (waiting, _) = repository::refused_counts(tx)?;
        Ok((waiting, repository::refused(tx, limits::EVENT_REFUSED_KEPT_COUNT)?))
    };
    let (waiting, refused) = context.app.db.read(read).await?;
    let (client, (from, to)) = (query.own("client").to_owned(), days(&query, &visitor.zone)?);
    let state = query.own("state").to_owned();
    let since: Option<Timestamp> = match query.own("since") {
        "" => None,
        _ => Some(instant(&query, "since")?),
    };
    let mut clients: Vec<&str> = refused.iter().map(|refusal| &*refusal.client).collect();
    clients.sort_unstable();
    clients.dedup();
    let is_wanted = |refusal: &&Refusal| {
        let received: Option<Timestamp> = refusal.received.parse().ok();
        (client.is_empty() || refusal.client == client)
            && (state.is_empty() || refusal_state(refusal) == state)
            && since.is_none_or(|since| received >= Some(since))
            && from.is_none_or(|from| received >= Some(from))
            && to.is_none_or(|to| received < Some(to))
    };
    let row = |refusal: &Refusal| {
        let to = format!("/console/events/refused/{}", refusal.id);
        vec![
            Cell::of(refusal.id, refusal.id.to_string()).to(&to),
            text_at(&visitor, &refusal.received),
            Cell::text(&refusal.client),
            Cell::text(&refusal.message).to(&to),
            match &refusal.replayed {
                Some(at) => text_at(&visitor, at).toned("good"),
                None => Cell::text("waits").toned("warn"),
            },
        ]
    };
    let states = [("waits", "Waits"), ("replayed", "Replayed")];
    let rows = refused.iter().filter(is_wanted).map(row).collect();
    let list = List::new("Refused envelopes", REFUSED, query, rows)
        .or_else("No envelope was refused in the last 30 days.")
        .note(at_most(refused.len(), limits::EVENT_REFUSED_KEPT_COUNT))
        .choice(Choice::of("client", "Client", clients.iter().map(|name| (*name, *name))))
        .choice(Choice::of("state", "State", states.into_iter()))
        .days();
    let tabs = view::tabs("Refused", waiting);
    let which =
        since.map(|since| format!("Envelopes that came since {}.", visitor.zone.written(since)));
    let (frame, all) = (visitor.frame("Events"), "/console/events/refused");
    let page = view::Events { frame, tabs, list, waiting, which, all };
    listed("refused-events", &page.list, &page)
}

fn refusal_state(refusal: &Refusal) -> &'static str {
    if refusal.replayed.is_some() { "replayed" } else { "waits" }
}

/// An instant that is stored as text.
pub(super) fn text_at(visitor: &Visitor, text: &str) -> Cell {
    text.parse().map_or_else(|_| Cell::text(text), |instant| at(visitor, instant))
}

async fn refusal(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = number(context.param("id"))?;
    let found = context.app.db.read(move |tx| repository::refused_one(tx, id)).await?;
    let (refusal, body) = found.ok_or_else(|| unknown(id))?;
    let faults: Vec<Value> = serde_json::from_str(&refusal.faults).unwrap_or_default();
    let text = |fault: &Value, name: &str| fault[name].as_str().unwrap_or_default().to_owned();
    let faults = faults.iter().map(|fault| (text(fault, "path"), text(fault, "message")));
    let replayed = refusal.replayed.as_deref();
    let facts = Facts::new(vec![
        ("Received", text_at(&visitor, &refusal.received)),
        ("Client", Cell::text(&refusal.client)),
        (
            "Replayed",
            replayed.map_or_else(
                || Cell::text("not yet").toned("warn"),
                |at| text_at(&visitor, at).toned("good"),
            ),
        ),
    ]);
    shown(&view::Refusal {
        frame: visitor.frame(format!("Refused envelope {id}")),
        id,
        facts,
        message: refusal.message,
        faults: faults.collect(),
        body: indented(&body),
        is_replayed: replayed.is_some(),
    })
}

async fn replay(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let id = number(context.param("id"))?;
    take(&context, &visitor, id).await?;
    Ok(on_to(&format!("/console/events/refused/{id}")))
}

async fn replay_all(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let read = |tx: &mut Tx<'_>| repository::refused(tx, limits::EVENT_REFUSED_KEPT_COUNT);
    let mut waiting = context.app.db.read(read).await?;
    waiting.retain(|refusal| refusal.replayed.is_none());
    for refusal in waiting.iter().rev() {
        match take(&context, &visitor, refusal.id).await {
            Err(problem) if problem.cause.is_some() => return Err(problem),
            // Refused again: it stays, with its reason.
            _ => {}
        }
    }
    Ok(on_to("/console/events/refused"))
}

async fn take(context: &Context, visitor: &Visitor, id: i64) -> Result<()> {
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let taken = context.app.db.write(move |tx| {
        repository::replay(tx, now, id)?;
        let change = Change { who: &who, what: "events.replay", subject: &id.to_string() };
        change.note(tx, now, &json!(null))
    });
    taken.await
}

fn number(text: &str) -> Result<i64> {
    let unknown = format!("there is no refused envelope '{text}'");
    text.parse().map_err(|_| Problem::new(ProblemKind::NotFound, unknown))
}

fn unknown(id: i64) -> Problem {
    let message = format!("there is no refused envelope {id}; they are kept for 30 days");
    Problem::new(ProblemKind::NotFound, message)
}

fn index(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(Problem::internal)
}

fn whole(number: usize) -> Result<i64> {
    i64::try_from(number).map_err(Problem::internal)
}
