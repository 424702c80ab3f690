//! Reads the log: lists, one event, the outcome of an envelope.

use std::time::Duration;

use lyceum_access::Scope;
use lyceum_bridge::reach::actors_within;
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_core::messages::must_be_one_of;
use lyceum_core::text::whole_number;
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, message};
use lyceum_events::event_types;
use lyceum_events::repository::{self, EventFilter, EventOrder};
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::intake::Status;
use super::stored::{StoredEvent, stored_event};
use crate::{Context, Route, limits};

/// A page of events.
#[derive(Serialize, JsonSchema)]
struct EventPage {
    /// The events, in the order of their arrival.
    events: Vec<StoredEvent>,
    /// The place of the page in the list.
    pagination: Pagination,
    /// The ignored parameters, and a limit that was lowered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Detail>,
}

/// The place of a page in a list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Pagination {
    /// The number of events on all pages.
    total: u64,
    /// The number of pages.
    total_pages: u64,
    /// The number of this page, from 1.
    current_page: u64,
    /// The most events on a page.
    limit: u64,
}

/// An event of the log.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OneEvent {
    /// The event.
    event: StoredEvent,
}

/// The outcome of an envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct JobStatus {
    /// The job that stored the envelope.
    job: Job,
}

/// The job that stored an envelope.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EventsJob")]
struct Job {
    /// The id of the job.
    id: String,
    /// Always "completed": an envelope is stored before it is answered.
    state: &'static str,
    /// The stored events.
    return_value: JobResult,
    /// When the envelope was stored.
    processed_on: Timestamp,
}

/// The result of a job.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct JobResult {
    /// Always "success".
    status: Status,
    /// The stored events.
    results: Vec<NumberedEvent>,
}

/// The ids of a stored event.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct NumberedEvent {
    /// The number of the event in the log.
    allocated_id: String,
    /// The id that the sender gave the event.
    external_id: String,
}

/// `GET /caliper/events`
pub(super) fn list() -> Route {
    let page = get("/events", Scope::EventsRead, list_events)
        .within_reach()
        .named("listEvents")
        .description("Lists events in the order of their arrival. A corrected event appears once, in its latest version.")
        .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
        .param(
            ParamPlace::Query,
            "offset",
            json!({ "type": "integer", "minimum": 0 }),
            "Events before the page.",
        )
        .answers::<EventPage>(200, "A page.");
    let times = [
        ("startDate", "The earliest `eventTime`: an instant, or a date."),
        ("endDate", "The latest `eventTime`: an instant, or a date, that day included."),
    ];
    let times = times.into_iter().fold(page, |route, (name, description)| {
        route.param(ParamPlace::Query, name, json!({ "type": "string" }), description)
    });
    filters(times)
}

/// Adds the parameters that choose events, for lists and for the stream.
pub(super) fn filters(route: Route) -> Route {
    let text = [
        ("sensor", "The sensor's IRI."),
        ("actorId", "The actor's IRI."),
        ("actorEmail", "The actor's e-mail address."),
    ];
    let types = json!({ "type": "string", "enum": event_types() });
    let route = route.param(ParamPlace::Query, "type", types, "The type of the events.");
    text.into_iter().fold(route, |route, (name, description)| {
        route.param(ParamPlace::Query, name, json!({ "type": "string" }), description)
    })
}

/// `GET /caliper/events/{externalId}`
pub(super) fn read() -> Route {
    get("/events/{externalId}", Scope::EventsRead, find)
        .within_reach()
        .named("getEvent")
        .description("Reads an event by the id that its sender gave it.")
        .answers::<OneEvent>(200, "The event.")
}

/// `GET /jobs/{id}/status`
pub(super) fn job() -> Route {
    get("/{id}/status", [Scope::EventsRead, Scope::EventsWrite], status)
        .within_reach()
        .named("getJobStatus")
        .description("The outcome of a sent envelope, which is stored for 30 days.")
        .answers::<JobStatus>(200, "The job.")
}

async fn list_events(context: Context) -> Result<Answer> {
    let number = |name: &str, usual: u64, least: u64| {
        context.query_value(name).map_or(Ok(usual), |text| whole_number(name, &text, least))
    };
    let limit = number("limit", PAGE_DEFAULT_RECORDS, 1)?.min(PAGE_MAX_RECORDS);
    let offset = number("offset", 0, 0)?;
    let (filter, actors) = (filter(&context)?, actors_within(&context.reach()));
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (page_limit, skip) = (signed(limit)?, signed(offset)?);
    let read = move |tx: &mut Tx<'_>| {
        repository::list(tx, &filter, &actors, EventOrder::default(), page_limit, skip)
    };
    let page = context.app.db.scan(deadline, read).await.map_err(too_slow)?;
    let total = u64::try_from(page.total).unwrap_or(0);
    let events = page.events.into_iter().map(stored_event).collect();
    let pagination = Pagination {
        total,
        total_pages: total.div_ceil(limit),
        current_page: offset / limit + 1,
        limit,
    };
    Ok(Answer::of(&EventPage { events, pagination, warnings: context.notices }))
}

async fn find(context: Context) -> Result<Answer> {
    let (id, actors) = (context.param("externalId").to_owned(), actors_within(&context.reach()));
    let unknown =
        Problem::new(ProblemKind::NotFound, message!("there is no event with the id '{id}'"));
    let event = context.app.db.read(move |tx| repository::read(tx, &id, &actors)).await?;
    let event = event.ok_or(unknown)?;
    Ok(Answer::of(&OneEvent { event: stored_event(event) }))
}

async fn status(context: Context) -> Result<Answer> {
    let name = context.param("id").to_owned();
    let unknown = || Problem::new(ProblemKind::NotFound, message!("there is no job '{name}'"));
    let id: i64 = name.parse().map_err(|_| unknown())?;
    let actors = actors_within(&context.reach());
    let finished = context.app.db.read(move |tx| repository::finished_job(tx, id, &actors)).await?;
    let finished = finished.ok_or_else(unknown)?;
    let events = finished.events.into_iter();
    let results = events
        .map(|(seq, id)| NumberedEvent { allocated_id: seq.to_string(), external_id: id })
        .collect();
    let job = Job {
        id: name.clone(),
        state: "completed",
        return_value: JobResult { status: Status::Success, results },
        processed_on: finished.at,
    };
    Ok(Answer::of(&JobStatus { job }))
}

/// The query parameters that choose events.
pub(super) fn filter(context: &Context) -> Result<EventFilter> {
    let mut filter = EventFilter::default();
    for (name, value) in context.query() {
        let text = || Some(value.clone().into_owned());
        match name.as_ref() {
            "type" => filter.kind = Some(event_type(&value)?),
            "sensor" => filter.sensor = text(),
            "actorId" => filter.actor_id = text(),
            "actorEmail" => filter.actor_email = text(),
            "startDate" => filter.start = Some(instant("startDate", &value)?),
            "endDate" => {
                let end = instant("endDate", &value)?;
                // A date alone means all of that day.
                let rest = if parse_date(&value).is_some() { 86_400_000 - 1 } else { 0 };
                filter.end = Some(Timestamp::from_milliseconds(end.milliseconds() + rest));
            }
            _ => {}
        }
    }
    Ok(filter)
}

/// Checks that Caliper has events of this type. Errors: `BadFilter`, with the known types.
fn event_type(name: &str) -> Result<String> {
    let types = event_types();
    match types.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(bad("type", must_be_one_of(&types, name))),
    }
}

fn instant(name: &str, text: &str) -> Result<Timestamp> {
    text.parse().map_err(|_| bad(name, "is an instant such as 2026-01-15T08:00:00Z, or a date"))
}

fn signed(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| bad("offset", "is too large"))
}

fn bad(name: &str, rule: impl Into<Message>) -> Problem {
    let rule = rule.into();
    let detail = Detail { path: name.to_owned(), message: rule.clone() };
    Problem {
        details: vec![detail],
        ..Problem::new(ProblemKind::BadFilter, message!("the parameter '{name}' {rule}"))
    }
}

/// A list that takes too long is the caller's to narrow: trying again would not help.
fn too_slow(problem: Problem) -> Problem {
    if !lyceum_store::is_too_slow(&problem) {
        return problem;
    }
    bad("startDate", "and 'endDate' must choose fewer events: this list takes too long")
}
