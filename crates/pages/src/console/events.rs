//! Events: the event log, new events as they arrive, and rejected envelopes, which can be replayed.

pub(crate) mod view;

use lyceum_access::Scope::EventsWrite;
use lyceum_access::audit::AuditChange;
use lyceum_api::events::stream;
use lyceum_api::{Context, Route};
use lyceum_bridge::reach::actors_within;
use lyceum_console::language::message;
use lyceum_console::limits::CONSOLE_PAGE_ROWS_COUNT;
use lyceum_console::{
    Cell, Column, ExportFile, FactList, List, ListFilter, ListQuery, Row, Tabs, links, screens, t,
    words,
};
use lyceum_core::time::{NotAnInstant, Timestamp};
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_events::limits;
use lyceum_events::repository::{
    self, ArrivalRange, EventFilter, EventOrder, EventOrderKey, LoggedEvent, StoredRejection,
};
use lyceum_events::screens::{log as screen, rejected};
use lyceum_http::answer::Answer;
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::visitor::{days, query};
use super::{
    Form, Visitor, action, at_most, cut_notice, deadline, first_rows, longest_export, on_to, page,
    show_list, show_page,
};

/// The columns if few events match. Type, action and person have no index, so only few events can be sorted by them.
const FEW: [Column; 6] = [
    Column::text("time", "Time"),
    Column::text("type", "Type"),
    Column::text("action", "Action"),
    Column::text("who", "Person"),
    Column::text("app", "App"),
    Column::number("number", "Number"),
];
/// The columns if many events match.
const MANY: [Column; 6] = [FEW[0], FEW[1].fixed(), FEW[2].fixed(), FEW[3].fixed(), FEW[4], FEW[5]];
const REJECTED: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("received", "Received"),
    Column::text("client", "Client"),
    Column::text("why", "Error"),
    Column::text("replayed", "Replayed"),
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/events", &screens::EVENTS, log).within_reach(),
        page("/events/live", &screens::EVENTS, live).within_reach(),
        page("/events/stream", &screens::EVENTS, streamed).within_reach(),
        page("/events/one", &screens::EVENTS, one).within_reach(),
        // The API shows nobody what it rejected. A replay sends events.
        page("/events/refused", &screens::EVENTS, rejected_list).needing(EventsWrite),
        page("/events/refused/{id}", &screens::EVENTS, rejected_one).needing(EventsWrite),
        action("/events/refused/{id}/replay", &screens::EVENTS, replay).needing(EventsWrite),
        action("/events/replay", &screens::EVENTS, replay_all).needing(EventsWrite),
    ]
}

async fn log(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let (filter, order) = (filter(&context, &visitor, &query)?, order(&query));
    let (arrived, actors) = (filter.arrived, actors_within(&context.reach()));
    let by_words = ["type", "action", "who"].contains(&query.order().0);
    if let Some(export) = query.export.filter(|_| !by_words) {
        let add = move |tx: &mut Tx<'_>, file: &mut ExportFile, most| {
            screen::each(tx, &filter, &actors, order, most, |event| file.add(&row(&visitor, event)))
        };
        return first_rows(&context, "events", (&MANY, export), add).await;
    }
    let page = (to_i64(CONSOLE_PAGE_ROWS_COUNT)?, to_i64(query.skipped())?);
    let read = move |tx: &mut Tx<'_>| screen::read(tx, &filter, &actors, order, by_words, page);
    let longest = query.export.map_or_else(deadline, |_| longest_export());
    let found = context.app.db.scan(longest, read).await?;
    let page = view::EventsPage {
        frame: visitor.frame(t!("Events")),
        tabs: tabs(&visitor, "Log", found.waiting_count),
        list: log_list(&visitor, query, by_words, &found)?,
        waiting: 0,
        which: arrived.map(|at| {
            let [from, to] = [at.from, at.to].map(|at| visitor.calendar.moment(at));
            t!("Events that arrived from {from} to {to}.", from = from, to = to)
        }),
        all: "/console/events",
    };
    show_list("events", &page.list, &page)
}

fn filter(context: &Context, visitor: &Visitor, query: &ListQuery) -> Result<EventFilter> {
    let (start, to) = days(query, visitor.zone())?;
    Ok(EventFilter {
        sensor: Some(query.parameter("app").to_owned()).filter(|sensor| !sensor.is_empty()),
        start,
        // The log's filter includes its last instant.
        end: to.map(|to| Timestamp::from_milliseconds(to.milliseconds() - 1)),
        arrived: parse_arrival(query)?,
        ..screen::filter(&query.filter, context.base_url())
    })
}

fn order(query: &ListQuery) -> EventOrder {
    match query.order() {
        ("time", is_reversed) => EventOrder { by: EventOrderKey::Time, is_reversed },
        ("app", is_reversed) => EventOrder { by: EventOrderKey::Sensor, is_reversed },
        ("number", is_reversed) => EventOrder { by: EventOrderKey::Arrival, is_reversed },
        _ => EventOrder { by: EventOrderKey::Arrival, is_reversed: true },
    }
}

fn log_list(
    visitor: &Visitor,
    query: ListQuery,
    by_words: bool,
    log: &screen::LogPage,
) -> Result<List> {
    let screen::LogPage { page, is_few, apps, .. } = log;
    let rows = page.events.iter().map(|event| row(visitor, event)).collect();
    let list = match (is_few, by_words) {
        (true, true) => List::of_matching("Events", &FEW, query, rows),
        (false, true) if query.export.is_some() => return Err(too_many_to_sort()),
        _ => {
            let columns = if *is_few { &FEW } else { &MANY };
            let total = usize::try_from(page.total).unwrap_or_default();
            List::page("Events", columns, query, rows, total)
        }
    };
    let note = match is_few {
        true => String::new(),
        false => format!("{} {}", sorting_note(), cut_notice(page.total)),
    };
    let list = list
        .or_else(
            "No event has arrived yet. Apps send them to `/ims/caliper/v1p2/events`; \
             `lyceum trigger` sends one to try.",
        )
        .searches("E-mail, id or IRI")
        .choice(ListFilter::of("app", "App", apps.iter().cloned()))
        .days()
        .note(note);
    Ok(list)
}

/// The parameters of [`links::events_that_arrived`]. Errors: `Invalid`.
fn parse_arrival(query: &ListQuery) -> Result<Option<ArrivalRange>> {
    if query.parameter("since").is_empty() {
        return Ok(None);
    }
    let number = |name| {
        query.parameter(name).parse().map_err(|_| Problem::invalid(name, "must be a whole number"))
    };
    let (from, to) = (instant(query, "since")?, instant(query, "until")?);
    Ok(Some(ArrivalRange { from, to, first: number("first")?, last: number("last")? }))
}

fn instant(query: &ListQuery, name: &'static str) -> Result<Timestamp> {
    query.parameter(name).parse().map_err(|rule: NotAnInstant| {
        Problem::invalid(name, Message::untranslated(rule.to_string()))
    })
}

/// Says when events can be sorted by columns without an index.
fn sorting_note() -> String {
    t!(
        "This list can be sorted by type, action and person if a search, an app or days leave at most {n} events.",
        n = limits::CONSOLE_SORTED_EVENTS_MAX_ROWS,
    )
}

/// The problem with sorting more events than [`sorting_note`] says.
fn too_many_to_sort() -> Problem {
    let most = limits::CONSOLE_SORTED_EVENTS_MAX_ROWS;
    let rule = message!(
        "must not be type, action or person, unless a search, an app or days leave at most {most} events"
    );
    Problem::invalid("sort", rule)
}

fn row(visitor: &Visitor, logged: &LoggedEvent) -> Row {
    let event = &logged.event;
    let (content, to) = (event.content(), links::event(&event.id));
    vec![
        visitor.exact_time(event.time).to(&to),
        Cell::text(&event.kind),
        Cell::text(content["action"].as_str().unwrap_or_default()),
        person(event.person()),
        Cell::text(screen::app(&content, &event.sensor)),
        Cell::count(logged.seq).to(to),
    ]
}

/// A person, linked to the person's events.
fn person(person: &str) -> Cell {
    Cell::text(person).to(links::events_of(person))
}

/// The tabs of the screen. Roles that send no events do not see rejected envelopes.
fn tabs(visitor: &Visitor, here: &'static str, waiting: i64) -> Tabs {
    view::tabs(here, visitor.has(EventsWrite).then_some(waiting))
}

async fn live(context: Context, visitor: Visitor) -> Result<Answer> {
    let (waiting, _) = context.app.db.read(repository::refused_counts).await?;
    show_page(&view::LiveEventsPage {
        frame: visitor.frame(t!("Events")),
        tabs: tabs(&visitor, "Live", waiting),
        stream: "/console/events/stream",
    })
}

async fn streamed(context: Context, _: Visitor) -> Result<Answer> {
    stream::streamed(context).await
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = query(&context).parameter("id").to_owned();
    let actors = actors_within(&context.reach());
    let logged = context.app.db.read(move |tx| screen::event(tx, &id, &actors)).await?;
    let event = &logged.event;
    let fields = event.content();
    let facts = FactList::new(vec![
        ("Happened", visitor.exact_time(event.time)),
        ("Sent", visitor.exact_time(event.send_time)),
        ("Arrived", visitor.exact_time(logged.received)),
        ("Delivery delay", Cell::text(words::brief(logged.delay_ms()))),
        ("Person", person(event.person())),
        ("Action", Cell::text(fields["action"].as_str().unwrap_or("–"))),
        ("App", Cell::text(screen::app(&fields, &event.sensor))),
        ("Client", Cell::text(&logged.client)),
        ("Sensor", Cell::text(&event.sensor)),
        ("Id", Cell::text(&event.id)),
        ("Number", Cell::count(logged.seq)),
    ]);
    let body = indented(event.body());
    show_page(&view::EventPage { frame: visitor.frame(&event.kind), facts, body })
}

fn indented(text: &str) -> String {
    let value = serde_json::from_str::<Value>(text);
    let indented = value.and_then(|value| serde_json::to_string_pretty(&value));
    indented.unwrap_or_else(|_| text.to_owned())
}

async fn rejected_list(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let since = match query.parameter("since") {
        "" => None,
        _ => Some(instant(&query, "since")?),
    };
    let (from, to) = days(&query, visitor.zone())?;
    let filter = rejected::RejectedFilter {
        client: query.parameter("client").to_owned(),
        is_replayed: match query.parameter("state") {
            "" => None,
            state => Some(state == "replayed"),
        },
        from: from.max(since),
        to,
    };
    let found = context.app.db.scan(deadline(), move |tx| rejected::read(tx, &filter)).await?;
    let states = [("waiting", t!("Waiting")), ("replayed", t!("Replayed"))];
    let rows = found.envelopes.iter().map(|envelope| rejected_row(&visitor, envelope)).collect();
    let list = List::new("Rejected envelopes", REJECTED, query, rows)
        .or_else("No envelope was rejected in the last 30 days.")
        .note(at_most(found.read_count, limits::EVENT_REFUSED_KEPT_COUNT))
        .choice(ListFilter::of("client", "Client", found.clients.iter().map(|name| (name, name))))
        .choice(ListFilter::of("state", "State", states.into_iter()))
        .days();
    let page = view::EventsPage {
        frame: visitor.frame(t!("Events")),
        tabs: view::tabs("Rejected", Some(found.waiting_count)),
        list,
        waiting: found.waiting_count,
        which: since.map(|since| {
            t!("Envelopes that arrived since {time}.", time = visitor.calendar.moment(since))
        }),
        all: "/console/events/refused",
    };
    show_list("rejected-envelopes", &page.list, &page)
}

fn rejected_row(visitor: &Visitor, envelope: &StoredRejection) -> Row {
    let to = links::rejected_envelope(envelope.id);
    vec![
        Cell::count(envelope.id).to(&to),
        visitor.time(envelope.received),
        Cell::text(&envelope.client),
        Cell::text(message(&envelope.message)).to(&to),
        replayed(visitor, envelope),
    ]
}

fn replayed(visitor: &Visitor, envelope: &StoredRejection) -> Cell {
    match envelope.replayed {
        Some(at) => visitor.time(at).toned("good"),
        None => Cell::text(t!("waiting")).toned("warn"),
    }
}

async fn rejected_one(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = number(context.param("id"))?;
    let found = context.app.db.read(move |tx| rejected::one(tx, id)).await?;
    let envelope = found.envelope;
    let facts = FactList::new(vec![
        ("Received", visitor.time(envelope.received)),
        ("Client", Cell::text(&envelope.client)),
        ("Replayed", replayed(&visitor, &envelope)),
    ]);
    show_page(&view::RejectedPage {
        frame: visitor.frame(t!("Rejected envelope {n}", n = id)),
        id,
        facts,
        is_replayed: envelope.replayed.is_some(),
        message: message(&envelope.message),
        errors: envelope
            .faults
            .iter()
            .map(|error| (error.path.clone(), message(&error.message)))
            .collect(),
        body: indented(&found.body),
    })
}

async fn replay(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let id = number(context.param("id"))?;
    replay_one(&context, &visitor, id).await?;
    Ok(on_to(&links::rejected_envelope(id)))
}

async fn replay_all(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    for id in context.app.db.scan(deadline(), rejected::waiting).await? {
        match replay_one(&context, &visitor, id).await {
            Err(problem) if problem.cause.is_some() => return Err(problem),
            // The envelope was rejected again. Its page shows the errors.
            _ => {}
        }
    }
    Ok(on_to("/console/events/refused"))
}

async fn replay_one(context: &Context, visitor: &Visitor, id: i64) -> Result<()> {
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let replayed = context.app.db.write(move |tx| {
        repository::replay(tx, now, id)?;
        let change = AuditChange { who: &who, what: "events.replay", subject: &id.to_string() };
        change.note(tx, now, &json!(null))
    });
    replayed.await
}

fn number(text: &str) -> Result<i64> {
    let unknown = message!("there is no rejected envelope '{text}'");
    text.parse().map_err(|_| Problem::new(ProblemKind::NotFound, unknown))
}

fn to_i64(number: usize) -> Result<i64> {
    i64::try_from(number).map_err(Problem::internal)
}
