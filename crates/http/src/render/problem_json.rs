//! `application/problem+json` (RFC 9457), for areas whose standard does not define an error body.

use http::{HeaderValue, StatusCode};
use lyceum_core::Problem;
use serde_json::{Value, json};

use crate::Body;
use crate::answer::Answer;

pub(super) fn answer(problem: &Problem, status: StatusCode) -> Answer {
    let mut body = json!({
        "title": status.canonical_reason(),
        "status": status.as_u16(),
        "detail": problem.message,
    });
    if !problem.details.is_empty() {
        body["errors"] = json!(problem.details);
    }
    let media = HeaderValue::from_static("application/problem+json");
    Answer::typed(media, Body::from(body.to_string()))
}

/// The JSON Schema of the body.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["status"],
        "properties": {
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "errors": { "type": "array", "items": { "type": "object" } },
        },
    })
}
