//! JSON Schemas of the event routes.

use lyceum_events::CONTEXTS;
use serde_json::{Value, json};

use super::stored::ENTITIES;

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

pub(super) fn envelope() -> Value {
    json!({
        "type": "object",
        "required": ["sensor", "sendTime", "dataVersion", "data"],
        "additionalProperties": false,
        "properties": {
            "sensor": { "type": "string", "format": "iri" },
            "sendTime": time(),
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
    })
}

pub(super) fn checked() -> Value {
    json!({
        "type": "object",
        "required": ["status", "message"],
        "properties": {
            "status": { "type": "string", "const": "success" },
            "message": { "type": "string" },
        },
    })
}

pub(super) fn accepted() -> Value {
    let mut schema = checked();
    schema["required"] = json!(["status", "message", "jobId"]);
    schema["properties"]["message"]["description"] = json!(
        "How many events were kept, how many of them are new and how many were known already."
    );
    schema["properties"]["jobId"] = json!({ "type": "string" });
    schema
}

pub(super) fn configuration() -> Value {
    json!({
        "type": "object",
        "required": ["caliperSupportedVersions"],
        "properties": {
            "caliperSupportedVersions": { "type": "array", "items": { "type": "string" } },
            "caliperMaximumPayloadSize": { "type": "integer", "description": "In KB." },
            "caliperSupportedExtensions": { "type": "object" },
        },
    })
}

pub(super) fn stored() -> Value {
    let entity = json!({ "type": ["object", "string", "null"] });
    let mut properties = json!({
        "id": { "type": "integer" },
        "externalId": { "type": "string" },
        "sensor": { "type": "string" },
        "type": { "type": "string" },
        "profile": { "type": ["string", "null"] },
        "action": { "type": "string" },
        "eventTime": time(),
        "sendTime": time(),
        "created_at": time(),
        "updated_at": time(),
        "deleted_at": { "type": ["string", "null"] },
        "extensions": { "type": ["object", "null"] },
        "clientAppId": { "type": "string" },
    });
    for member in ENTITIES {
        properties[member] = entity.clone();
    }
    json!({
        "type": "object",
        "required": ["id", "externalId", "sensor", "type", "action", "eventTime", "sendTime", "created_at"],
        "properties": properties,
    })
}

pub(super) fn page() -> Value {
    let whole = json!({ "type": "integer" });
    json!({
        "type": "object",
        "required": ["events", "pagination"],
        "properties": {
            "events": { "type": "array", "items": stored() },
            "pagination": {
                "type": "object",
                "required": ["total", "totalPages", "currentPage", "limit"],
                "properties": {
                    "total": whole, "totalPages": whole, "currentPage": whole, "limit": whole,
                },
            },
        },
    })
}

pub(super) fn one() -> Value {
    json!({ "type": "object", "required": ["event"], "properties": { "event": stored() } })
}

pub(super) fn job() -> Value {
    let result = json!({
        "type": "object",
        "required": ["allocatedId", "externalId"],
        "properties": {
            "allocatedId": { "type": "string" }, "externalId": { "type": "string" },
        },
    });
    let value = json!({
        "type": "object",
        "required": ["status", "results"],
        "properties": {
            "status": { "type": "string", "enum": ["success", "error"] },
            "results": { "type": "array", "items": result },
        },
    });
    let job = json!({
        "type": "object",
        "required": ["id", "state"],
        "properties": {
            "id": { "type": "string" },
            "state": { "type": "string", "enum": ["waiting", "active", "completed", "failed"] },
            "returnValue": value,
            "processedOn": time(),
        },
    });
    json!({ "type": "object", "required": ["job"], "properties": { "job": job } })
}
