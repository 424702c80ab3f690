//! `GET /events/stream`: events as they arrive, as server-sent events.
//!
//! A stream looks into the log when it has grown, whatever process wrote it ([`crate::work::live`]), and holds neither lock
//! nor transaction between two looks. It reads on only when its client has taken what was read before, so that a slow
//! client costs a few events of memory.
//!
//! An event is sent once it is durable. Its number is where its client goes on: were it lost with the
//! power, another event would get the number, and the client would never see that one.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use lyceum_access::{RequestSubject, Scope};
use lyceum_bridge::reach::actors_within;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_events::ActorFilter;
use lyceum_events::repository::{self, EventFilter, Follow, LoggedEvent};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{self, Grant, people};
use lyceum_http::route::{Access, ParamPlace, get};
use lyceum_http::sse::{self, EventFeed};
use serde_json::json;
use tokio::sync::mpsc::channel;
use tokio::time::Instant;

use super::log;
use super::stored::stored_event;
use crate::{Context, Route, limits};

/// `GET /events/stream`
pub(super) fn route() -> Route {
    let route = get("/stream", Scope::EventsRead, streamed)
        .within_reach()
        .named("streamEvents")
        .description("Sends events as they arrive. A later stream can continue after the id of any event, or of a comment between events.")
        .param(
            ParamPlace::Header,
            "Last-Event-ID",
            json!({ "type": "string" }),
            "The id of the last event that was seen; without it only new events are sent.",
        )
        .param(
            ParamPlace::Query,
            "follow",
            json!({ "type": "boolean", "default": true }),
            "Whether to wait for further events when all that are there were sent.",
        )
        .answers_as(200, "The stream.", Some((sse::MEDIA, json!({ "type": "string" }))));
    log::filters(route)
}

/// Answers with the stream of events that the query asks for.
pub async fn streamed(context: Context) -> Result<Answer> {
    let filter = log::filter(&context)?;
    let follows = !context.query().any(|(name, value)| name == "follow" && value == "false");
    let last_seen = context.header(sse::LAST_EVENT_ID).map(str::trim);
    let newest = context.app.db.read(repository::newest).await?;
    context.app.db.synced().await?;
    let from = match last_seen {
        Some(text) => parse_event_number(text, newest)?,
        None => newest,
    };
    let (sender, receiver) = channel(1);
    let context = Arc::new(context);
    let feed = EventFeed::new(sender, check(Arc::clone(&context)));
    tokio::spawn(follow_log(context, filter, Follow::from(from), follows, feed));
    Ok(sse::answer(receiver))
}

/// The number of the last event that a client saw. Errors: `BadFilter` where the log has no such number; it ends
/// before it after an older backup was restored, and what comes next would get numbers that the client passes over.
fn parse_event_number(text: &str, newest: i64) -> Result<i64> {
    let refuse = |message: Message| Err(Problem::new(ProblemKind::BadFilter, message));
    match text.parse() {
        Ok(seen) if seen <= newest => Ok(seen),
        Ok(seen) => refuse(message!(
            "the last event of the log is {newest}, and Last-Event-ID is {seen}: an older backup of the log was \
             restored; read it again from a number up to {newest}"
        )),
        Err(_) => refuse(message!("this stream has no event with the id '{text}'")),
    }
}

/// Sends what arrives until the client goes, its token ends, or the server stops.
async fn follow_log(
    context: Arc<Context>,
    filter: EventFilter,
    mut follow: Follow,
    follows: bool,
    mut feed: EventFeed,
) {
    let actors = actors_within(&context.reach());
    let heartbeat = Duration::from_secs(limits::EVENT_STREAM_HEARTBEAT_S);
    let mut last_sent = Instant::now();
    let mut log = context.app.live.subscribe();
    let mut may_be_new = true;
    if !feed.send(place("begin", &follow)).await {
        return;
    }
    while !context.app.draining.load(Relaxed) {
        let (mut events, mut is_idle) = (Vec::new(), true);
        if may_be_new {
            let former = follow.clone();
            let Ok(found) = next_events(&context, &mut follow, &actors).await else { return };
            events = found;
            is_idle = follow == former;
        }
        let mut text = String::new();
        for event in events.into_iter().filter(|event| filter.takes(event)) {
            let id = event.seq;
            let event = serde_json::to_string(&stored_event(event)).expect("its keys are texts");
            let _ = write!(text, "id: {id}\ndata: {event}\n\n");
        }
        if is_idle && !follows && !follow.waits() {
            return;
        }
        if last_sent.elapsed() >= heartbeat {
            last_sent = Instant::now();
            text.push_str(&place("alive", &follow));
        }
        if !feed.send(text).await {
            return;
        }
        if !is_idle {
            continue;
        }
        let wait = if follow.waits() { sse::POLL } else { sse::CHECK };
        may_be_new = tokio::select! {
            _ = log.changed() => true,
            is_open = feed.pause(wait) => match is_open {
                true => follow.waits(),
                false => return,
            },
        };
    }
}

/// The next events of the log, once they are durable.
async fn next_events(
    context: &Context,
    follow: &mut Follow,
    actors: &ActorFilter,
) -> Result<Vec<LoggedEvent>> {
    let (state, actors, now) = (follow.clone(), actors.clone(), context.app.clock.now());
    let look = context.app.db.read(move |tx| state.clone().look(tx, now, &actors));
    let (next, events) = look.await?;
    if next != *follow {
        context.app.db.synced().await?;
        *follow = next;
    }
    Ok(events)
}

/// A comment with the place from which a later stream goes on, also where no event was sent yet.
fn place(comment: &str, follow: &Follow) -> String {
    format!(": {comment}\nid: {}\n\n", follow.seen())
}

/// Whether the stream may go on. It ends where the caller's reach has changed; the caller's next one has the new reach.
pub fn check(context: Arc<Context>) -> sse::StillAllowed {
    Box::new(move || {
        let context = Arc::clone(&context);
        Box::pin(async move {
            let grant = still_allowed(&context).await;
            grant.is_some_and(|grant| *grant.reach() == context.reach())
        })
    })
}

/// The caller with its present access; `None` if the server would refuse a new request. A client may be
/// revoked since the stream began, its token may have ended, a person may be disabled, signed out or in
/// another role.
pub async fn still_allowed(context: &Context) -> Option<Grant> {
    let (app, headers, access) = (&context.app, &context.headers, context.route.access);
    let grant = match access {
        Access::Page(_) | Access::Student(_) => people::open_page(app, headers).await.ok()??,
        _ => {
            let scopes = access.scopes().unwrap_or_default();
            auth::authenticate(app, headers, scopes).await.ok()?
        }
    };
    auth::decide(Some(&grant), access, RequestSubject::Route(context.route.limited_callers))
        .ok()?;
    Some(grant)
}
