//! Sending: `POST` of an envelope, the check alone, the endpoint's configuration.

use axum::http::StatusCode;
use lyceum_access::Scope;
use lyceum_core::{Dialect, Problem, ProblemKind, Result};
use lyceum_events::{CONTEXTS, parse, repository};
use serde_json::Map;

use super::schema::{self, AcceptedEnvelope, EndpointConfiguration, Status, ValidatedEnvelope};
use crate::answer::Answer;
use crate::auth::Grant;
use crate::context::Context;
use crate::intake::{self, EnvelopeReceipt};
use crate::route::{Route, get, post};

/// `POST /ims/caliper/v1p2/events`
pub(super) fn standard() -> Route {
    taking("/events", "sendEnvelope")
}

/// `POST /caliper/event`
pub(super) fn platform() -> Route {
    taking("/event", "sendEvents")
}

fn taking(path: &'static str, name: &'static str) -> Route {
    post(path, Scope::EventsWrite, take)
        .named(name)
        .says("Takes an envelope: every event of it is kept, or none. Sending again is safe.")
        .reads_schema(schema::envelope())
        .checks_keys()
        .answers::<AcceptedEnvelope>(
            200,
            "Every event is kept. In the standard dialect the body is empty.",
        )
}

/// `POST /caliper/event/validate`
pub(super) fn validate() -> Route {
    post("/event/validate", [Scope::EventsWrite, Scope::EventsRead], check)
        .named("validateEvents")
        .says("Checks an envelope and keeps nothing.")
        .reads_schema(schema::envelope())
        .checks_keys()
        .answers::<ValidatedEnvelope>(200, "The envelope would be taken.")
}

/// `GET /ims/caliper/v1p2/events`
pub(super) fn configuration() -> Route {
    get("/events", [Scope::EventsWrite, Scope::EventsRead], configured)
        .named("getEndpointConfiguration")
        .says("What this endpoint takes (Caliper 1.2, endpoint configuration).")
        .answers::<EndpointConfiguration>(200, "The configuration.")
}

async fn configured(context: Context) -> Result<Answer> {
    Ok(Answer::of(&EndpointConfiguration {
        caliper_supported_versions: &CONTEXTS,
        caliper_maximum_payload_size: context.app.config.server.body_max_bytes / 1024,
        caliper_supported_extensions: Map::new(),
    }))
}

async fn check(context: Context) -> Result<Answer> {
    let envelope = parse(context.text()?)?;
    let counted = counted(envelope.events.len(), envelope.entities.len());
    Ok(Answer::of(&ValidatedEnvelope {
        status: Status::Success,
        message: format!("{counted} valid"),
    }))
}

async fn take(context: Context) -> Result<Answer> {
    let envelope = match context.text().and_then(parse) {
        Ok(envelope) => envelope,
        Err(problem) => return Err(refused(&context, problem).await),
    };
    let (events, entities) = (envelope.events.len(), envelope.entities.len());
    let receipt = intake::take(&context.app, client(&context), envelope).await?;
    let message = kept_message(events, entities, &receipt);
    Ok(match context.dialect {
        Dialect::Standard => Answer::empty(StatusCode::OK),
        Dialect::Platform => Answer::of(&AcceptedEnvelope {
            status: Status::Success,
            message,
            job_id: receipt.job.to_string(),
        }),
    })
}

/// Keeps what was refused apart, for inspection and replay, and answers why it was refused.
async fn refused(context: &Context, problem: Problem) -> Problem {
    if !matches!(problem.kind, ProblemKind::Malformed | ProblemKind::Invalid) {
        return problem;
    }
    let (now, client) = (context.app.clock.now(), client(context));
    let (message, details) = (problem.message.clone(), problem.details.clone());
    let body = context.body.clone();
    let kept = context.app.db.write(move |tx| {
        let body = String::from_utf8_lossy(&body);
        repository::refuse(tx, now, &client, (&message, &details), &body)
    });
    match kept.await {
        Ok(()) => problem,
        // Nothing is lost: its sender has it, and is told to send it again.
        Err(failure) => failure,
    }
}

fn client(context: &Context) -> String {
    context.grant.as_ref().map_or("", Grant::client_id).to_owned()
}

/// `2 events and 1 entity kept: 1 new, 1 known already`, of the events.
fn kept_message(events: usize, entities: usize, receipt: &EnvelopeReceipt) -> String {
    let new = events - receipt.known - receipt.versions;
    let versions = match receipt.versions {
        0 => String::new(),
        1 => ", 1 new version of a known event".to_owned(),
        many => format!(", {many} new versions of known events"),
    };
    let kept_of = counted(events, entities);
    format!("{kept_of} kept: {new} new{versions}, {} known already", receipt.known)
}

/// `2 events and 1 entity`
fn counted(events: usize, entities: usize) -> String {
    let events = plural(events, "event");
    match entities {
        0 => events,
        1 => format!("{events} and 1 entity"),
        many => format!("{events} and {many} entities"),
    }
}

fn plural(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
