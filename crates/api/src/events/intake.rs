//! Receives envelopes, checks them without storing them, and shows the configuration of the endpoint.
//!
//! The way of an envelope:
//!
//! 1. [`Envelope`] parses it; the facts of each event follow from it there. A limited caller sends only events of actors
//!    within the reach. A faulty envelope is stored as rejected, so that it can be read and replayed.
//! 2. [`intake`] puts it into a queue. One write transaction takes all envelopes that wait.
//! 3. `append` in `repository` of `lyceum_events` claims the ids and writes the events, their facts, and the changes that
//!    webhooks deliver. The sender gets the answer after the commit.
//! 4. [`gathering`](crate::work::gathering) adds the facts to sums every few seconds, and
//!    [`webhooks`](crate::work::webhooks) sends the changes.
//! 5. A page such as a student's reads sums and newer facts together (`lyceum_events::facts`), through the reports of
//!    `lyceum_bridge::analytics`.

use http::StatusCode;
use lyceum_access::Scope;
use lyceum_bridge::reach::actors_within;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Result};
use lyceum_events::{ActorFilter, CONTEXTS, CaliperEnvelope, Envelope, parse, repository};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::route::{get, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::work::intake::{self, EnvelopeReceipt};
use crate::{Context, Route};

/// The outcome of a request that succeeded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Status {
    /// The request succeeded.
    Success,
}

/// The result of a check: the server would accept the envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ValidatedEnvelope {
    /// Always "success".
    status: Status,
    /// How many events and entities are valid.
    message: String,
}

/// The result of an accepted envelope.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AcceptedEnvelope {
    /// Always "success".
    status: Status,
    /// How many events were stored, how many of them are new and how many the server had already.
    message: String,
    /// The id of the job. `GET /jobs/{id}/status` reads it.
    job_id: String,
}

/// The configuration of an endpoint (Caliper 1.2, section 4.4.3).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(clippy::struct_field_names, reason = "the names of Caliper 1.2, 4.4.3")]
struct EndpointConfiguration {
    /// The accepted values of `dataVersion`.
    caliper_supported_versions: &'static [&'static str],
    /// The most bytes of an envelope, in KB.
    caliper_maximum_payload_size: usize,
    /// Always empty.
    caliper_supported_extensions: Map<String, Value>,
}

/// `POST /ims/caliper/v1p2/events`
pub(super) fn standard() -> Route {
    intake("/events", "sendEnvelope")
}

/// `POST /caliper/event`
pub(super) fn platform() -> Route {
    intake("/event", "sendEvents")
}

fn intake(path: &'static str, name: &'static str) -> Route {
    post(path, Scope::EventsWrite, store)
        .within_reach()
        .named(name)
        .description("Stores an envelope: all of its events, or none. An envelope can be sent again without harm.")
        .reads::<CaliperEnvelope>()
        .checks_keys()
        .answers::<AcceptedEnvelope>(
            200,
            "All events are stored. In the standard dialect, the body is empty.",
        )
}

/// `POST /caliper/event/validate`
pub(super) fn validate() -> Route {
    post("/event/validate", [Scope::EventsWrite, Scope::EventsRead], check)
        .within_reach()
        .named("validateEvents")
        .description("Checks an envelope without storing it.")
        .reads::<CaliperEnvelope>()
        .checks_keys()
        .answers::<ValidatedEnvelope>(200, "The server would accept the envelope.")
}

/// `GET /ims/caliper/v1p2/events`
pub(super) fn configuration() -> Route {
    get("/events", [Scope::EventsWrite, Scope::EventsRead], configured)
        .of_no_organization()
        .named("getEndpointConfiguration")
        .description("Reads the configuration of the endpoint (Caliper 1.2, section 4.4.3).")
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
    let envelope = check_actors(&context, parse(context.text()?, context.app.clock.now())?).await?;
    let counted = counted(envelope.events.len(), envelope.entities.len());
    Ok(Answer::of(&ValidatedEnvelope {
        status: Status::Success,
        message: format!("{counted} valid"),
    }))
}

async fn store(context: Context) -> Result<Answer> {
    let now = context.app.clock.now();
    let envelope = match context.text().and_then(|text| parse(text, now)) {
        Ok(envelope) => envelope,
        Err(problem) => return Err(refused(&context, problem).await),
    };
    let envelope = check_actors(&context, envelope).await?;
    let (events, entities) = (envelope.events.len(), envelope.entities.len());
    let receipt = intake::store_envelope(&context.app, client(&context), envelope).await?;
    let message = stored_message(events, entities, &receipt);
    Ok(match context.dialect {
        PayloadDialect::Standard => Answer::empty(StatusCode::OK),
        PayloadDialect::Platform => Answer::of(&AcceptedEnvelope {
            status: Status::Success,
            message,
            job_id: receipt.job.to_string(),
        }),
    })
}

/// Refuses an envelope with events of people beyond the caller's reach. Without a limit, it reads nothing.
async fn check_actors(context: &Context, envelope: Envelope) -> Result<Envelope> {
    let actors = actors_within(&context.reach());
    if matches!(actors, ActorFilter::Everyone) {
        return Ok(envelope);
    }
    let check = move |tx: &mut Tx<'_>| actors.check(tx, &envelope).map(|()| envelope.clone());
    context.app.db.read(check).await
}

/// Stores a rejected body separately, for inspection and replay. Returns the reason.
async fn refused(context: &Context, problem: Problem) -> Problem {
    if !matches!(problem.kind, ProblemKind::Malformed | ProblemKind::Invalid) {
        return problem;
    }
    let (now, client) = (context.app.clock.now(), client(context));
    let (message, details) = (problem.message.clone(), problem.details.clone());
    let body = context.body.clone();
    let stored = context.app.db.write(move |tx| {
        let body = String::from_utf8_lossy(&body);
        repository::refuse(tx, now, &client, (&message, &details), &body)
    });
    match stored.await {
        Ok(()) => problem,
        // Nothing is lost: the sender still has the body, and the answer asks it to send the body again.
        Err(failure) => failure,
    }
}

fn client(context: &Context) -> String {
    context.grant.as_ref().map_or("", Grant::client_id).to_owned()
}

/// `2 events and 1 entity kept: 1 new, 1 known already`. The numbers after the colon count events.
fn stored_message(events: usize, entities: usize, receipt: &EnvelopeReceipt) -> String {
    let new = events - receipt.known - receipt.versions;
    let versions = match receipt.versions {
        0 => String::new(),
        1 => ", 1 new version of a known event".to_owned(),
        many => format!(", {many} new versions of known events"),
    };
    let counted = counted(events, entities);
    format!("{counted} kept: {new} new{versions}, {} known already", receipt.known)
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
