//! Errors of the event routes: `{status, message, errors}`.

use lyceum_core::Problem;
use serde_json::{Value, json};

use crate::answer::Answer;

pub(super) fn answer(problem: &Problem) -> Answer {
    Answer::of(&json!({
        "status": "error",
        "message": problem.message,
        "errors": problem.details,
    }))
}

/// The JSON Schema of the body.
pub fn schema() -> Value {
    let fault = json!({
        "type": "object",
        "required": ["path", "message"],
        "properties": { "path": { "type": "string" }, "message": { "type": "string" } },
    });
    json!({
        "type": "object",
        "required": ["status", "message", "errors"],
        "properties": {
            "status": { "type": "string", "const": "error" },
            "message": { "type": "string" },
            "errors": { "type": "array", "items": fault },
        },
    })
}
