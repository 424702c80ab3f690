//! An event of the log as clients read it.

use std::borrow::Cow;

use lyceum_core::time::Timestamp;
use lyceum_events::repository::LoggedEvent;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

/// An event of the log. The members of the event are as its sender wrote them; null if they are missing.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredEvent {
    /// The number of the event in the log.
    id: i64,
    /// The id that the sender gave the event.
    external_id: String,
    /// The IRI of the sensor.
    sensor: String,
    /// The type of the event.
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    event_type: Value,
    /// The metric profile.
    #[schemars(with = "Option<String>")]
    profile: Value,
    /// The action.
    #[schemars(with = "String")]
    action: Value,
    /// When the event happened.
    #[schemars(with = "Timestamp")]
    event_time: Value,
    /// The person, group or software that did something.
    actor: Entity,
    /// The entity to which it was done.
    object: Entity,
    /// The entity that was created.
    generated: Entity,
    /// The part of the object that is meant.
    target: Entity,
    /// The entity from which the actor came.
    referrer: Entity,
    /// The app that sent the event.
    ed_app: Entity,
    /// The class or group in which it happened.
    group: Entity,
    /// The actor's membership in the group.
    membership: Entity,
    /// The session of the actor.
    session: Entity,
    /// The session of the platform that launched the app.
    federated_session: Entity,
    /// Members that the standard does not define.
    #[schemars(with = "Option<Map<String, Value>>")]
    extensions: Value,
    /// When the sender sent the event.
    send_time: Timestamp,
    /// When the server first stored the event.
    #[serde(rename = "created_at")]
    created: Timestamp,
    /// When the server stored this version of the event.
    #[serde(rename = "updated_at")]
    updated: Timestamp,
    /// Always null: events are not deleted.
    #[serde(rename = "deleted_at")]
    deleted: Option<Timestamp>,
    /// The id of the client that sent the event.
    client_app_id: String,
}

/// An entity as an object or by its IRI; null if the event does not name it.
#[derive(Serialize)]
#[serde(transparent)]
struct Entity(Value);

impl JsonSchema for Entity {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Entity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "string", "null"] })
    }
}

/// The event as the API shows it.
pub(super) fn stored_event(logged: LoggedEvent) -> StoredEvent {
    let mut tree = logged.event.content();
    StoredEvent {
        id: logged.seq,
        external_id: logged.event.id,
        sensor: logged.event.sensor,
        event_type: tree["type"].take(),
        profile: tree["profile"].take(),
        action: tree["action"].take(),
        event_time: tree["eventTime"].take(),
        actor: Entity(tree["actor"].take()),
        object: Entity(tree["object"].take()),
        generated: Entity(tree["generated"].take()),
        target: Entity(tree["target"].take()),
        referrer: Entity(tree["referrer"].take()),
        ed_app: Entity(tree["edApp"].take()),
        group: Entity(tree["group"].take()),
        membership: Entity(tree["membership"].take()),
        session: Entity(tree["session"].take()),
        federated_session: Entity(tree["federatedSession"].take()),
        extensions: tree["extensions"].take(),
        send_time: logged.event.send_time,
        created: logged.received,
        updated: logged.changed,
        deleted: None,
        client_app_id: logged.client,
    }
}
