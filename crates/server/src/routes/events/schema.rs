//! Bodies of the event routes. Envelopes are read by the crate of events, which keeps what it refuses.

use std::borrow::Cow;

use lyceum_core::schema::TypeSchema;
use lyceum_core::time::Timestamp;
use lyceum_events::CONTEXTS;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::stored::ENTITIES;

/// An envelope of Caliper 1.2.
pub(super) fn envelope() -> TypeSchema {
    let schema = json!({
        "type": "object",
        "required": ["sensor", "sendTime", "dataVersion", "data"],
        "additionalProperties": false,
        "properties": {
            "sensor": { "type": "string", "format": "iri" },
            "sendTime": { "type": "string", "format": "date-time" },
            "dataVersion": { "type": "string", "enum": CONTEXTS },
            "data": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "description": "An event of a metric profile of Caliper 1.2, an ActivityEvent or TimeSpentEvent of the custom profile, or an entity.",
                    "required": ["type"],
                    "properties": { "type": { "type": "string" } },
                },
            },
        },
    });
    TypeSchema::named("CaliperEnvelope", schema)
}

/// Whether something succeeded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Status {
    Success,
}

/// The result of a check: the server would accept the envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct ValidatedEnvelope {
    pub(super) status: Status,
    pub(super) message: String,
}

/// The result of an accepted envelope.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcceptedEnvelope {
    pub(super) status: Status,
    /// How many events were kept, how many of them are new and how many were known already.
    pub(super) message: String,
    /// The id under which the envelope's status is told.
    pub(super) job_id: String,
}

/// What an endpoint takes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(clippy::struct_field_names, reason = "the names of Caliper 1.2, 4.4.3")]
pub(super) struct EndpointConfiguration {
    pub(super) caliper_supported_versions: &'static [&'static str],
    /// In KB.
    pub(super) caliper_maximum_payload_size: usize,
    pub(super) caliper_supported_extensions: Map<String, Value>,
}

/// An event as it is shown.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct StoredEvent(pub(super) Value);

impl JsonSchema for StoredEvent {
    fn schema_name() -> Cow<'static, str> {
        "StoredEvent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let entity = json!({ "type": ["object", "string", "null"] });
        let time = json!({ "type": "string", "format": "date-time" });
        let mut properties = json!({
            "id": { "type": "integer" },
            "externalId": { "type": "string" },
            "sensor": { "type": "string" },
            "type": { "type": "string" },
            "profile": { "type": ["string", "null"] },
            "action": { "type": "string" },
            "eventTime": time,
            "sendTime": time,
            "created_at": time,
            "updated_at": time,
            "deleted_at": { "type": ["string", "null"] },
            "extensions": { "type": ["object", "null"] },
            "clientAppId": { "type": "string" },
        });
        for member in ENTITIES {
            properties[member] = entity.clone();
        }
        schemars::json_schema!({
            "type": "object",
            "required": ["id", "externalId", "sensor", "type", "action", "eventTime", "sendTime", "created_at"],
            "properties": properties,
        })
    }
}

/// A page of events.
#[derive(Serialize, JsonSchema)]
pub(super) struct EventPage {
    pub(super) events: Vec<StoredEvent>,
    pub(super) pagination: Pagination,
}

/// Which page it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct Pagination {
    pub(super) total: u64,
    pub(super) total_pages: u64,
    pub(super) current_page: u64,
    pub(super) limit: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct OneEvent {
    pub(super) event: StoredEvent,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct JobStatus {
    pub(super) job: Job,
}

/// What became of an envelope.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EventsJob")]
pub(super) struct Job {
    pub(super) id: String,
    /// Always completed: an envelope is kept before it is answered.
    pub(super) state: &'static str,
    pub(super) return_value: ReturnValue,
    pub(super) processed_on: Timestamp,
}

/// The events that were kept.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct ReturnValue {
    pub(super) status: Status,
    pub(super) results: Vec<KeptEvent>,
}

/// An event that was kept.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct KeptEvent {
    pub(super) allocated_id: String,
    pub(super) external_id: String,
}
