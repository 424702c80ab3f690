//! Events: the log, its live tail, what was refused and its replay.

use std::time::Duration;

use lyceum_access::audit::Change;
use lyceum_console::{Cell, Column, Facts, List, Query, Row, events as view, screens};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_events::repository::{self, Filter, Logged, Refusal};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::visitor::query;
use super::{Form, Visitor, action, listed, on_to, page, shown};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;
use crate::routes::events::stream;

const LOG: &[Column] = &[
    Column::text("time", "Time"),
    Column::text("type", "Type"),
    Column::text("action", "Action"),
    Column::text("who", "Who"),
    Column::text("app", "App"),
    Column::number("number", "Number"),
];
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
    let filter = filter(&query.filter, context.base_url());
    let oldest_first = query.sort == "number" || query.sort == "time";
    let rows = match query.export {
        Some(_) => limits::CONSOLE_EXPORT_MAX_ROWS,
        None => limits::CONSOLE_PAGE_ROWS_COUNT,
    };
    let (skip, wanted) = (whole(query.skipped())?, whole(rows)?);
    let read = move |tx: &mut Tx<'_>| {
        let total = repository::list(tx, &filter, 1, 0)?.total;
        // The log is read in the order of arrival: its end backwards.
        let (offset, wanted) = match oldest_first {
            true => (skip, wanted),
            false => ((total - skip - wanted).max(0), wanted.min((total - skip).max(0))),
        };
        let mut events = match wanted {
            0 => Vec::new(),
            wanted => repository::list(tx, &filter, wanted, offset)?.events,
        };
        if !oldest_first {
            events.reverse();
        }
        let (waiting, _) = repository::refused_counts(tx)?;
        Ok((events, total, waiting))
    };
    let scan = context.app.db.scan(Duration::from_millis(limits::SCAN_MAX_MS), read);
    let (events, total, waiting) = scan.await?;
    let rows = events.iter().map(|event| row(&visitor, event)).collect();
    let total = usize::try_from(total).unwrap_or_default();
    let list = List::page("Events", LOG, query, rows, total).or_else(
        "No event has arrived yet. Apps send them to /ims/caliper/v1p2/events; \
         `lyceum trigger` sends one to try.",
    );
    let tabs = view::tabs("Log", waiting);
    let page = view::Events { frame: visitor.frame("Events"), tabs, list, waiting: 0 };
    listed("events", &page.list, &page)
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

/// The app that an event names: `edApp` by its name or IRI, else the sensor.
fn app<'e>(said: &'e Value, sensor: &'e str) -> &'e str {
    let app = &said["edApp"];
    let named = app["name"].as_str().or_else(|| app["id"].as_str()).or_else(|| app.as_str());
    named.unwrap_or(sensor)
}

fn one_link(id: &str) -> String {
    link("/console/events/one", "id", id)
}

fn link(path: &str, name: &str, value: &str) -> String {
    let pair = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
    format!("{path}?{pair}")
}

/// An instant: exports hold it in UTC, people read it in their zone.
pub(super) fn at(visitor: &Visitor, instant: Timestamp) -> Cell {
    Cell::of(instant.to_string(), visitor.zone.written(instant))
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
    let rows = refused.iter().map(row).collect();
    let list = List::new("Refused envelopes", REFUSED, query, rows)
        .or_else("No envelope was refused in the last 30 days.");
    let tabs = view::tabs("Refused", waiting);
    let page = view::Events { frame: visitor.frame("Events"), tabs, list, waiting };
    listed("refused-events", &page.list, &page)
}

/// An instant that is stored as text.
fn text_at(visitor: &Visitor, text: &str) -> Cell {
    text.parse().map_or_else(|_| Cell::text(text), |instant| at(visitor, instant))
}

async fn refusal(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = number(context.param("id"))?;
    let found = context.app.db.read(move |tx| repository::refused_one(tx, id)).await?;
    let refusal = found.ok_or_else(|| unknown(id))?;
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
        body: indented(&refusal.body),
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

fn whole(number: usize) -> Result<i64> {
    i64::try_from(number).map_err(Problem::internal)
}
