//! Errors of the routes of assessment content: `{error, message, details}`.

use http::StatusCode;
use lyceum_core::Problem;
use serde_json::{Map, Value, json};

use crate::answer::Answer;

pub(super) fn answer(problem: &Problem, status: StatusCode) -> Answer {
    let detail = |(index, detail): (usize, &lyceum_core::Detail)| {
        let mut shown = Map::new();
        if let Some((line, column)) = problem.places.get(index) {
            shown.insert("line".to_owned(), (*line).into());
            shown.insert("column".to_owned(), (*column).into());
        }
        shown.insert("path".to_owned(), detail.path.as_str().into());
        shown.insert("message".to_owned(), detail.message.to_string().into());
        Value::Object(shown)
    };
    Answer::of(&json!({
        "error": status.canonical_reason().unwrap_or("Error"),
        "message": problem.message,
        "details": problem.details.iter().enumerate().map(detail).collect::<Vec<_>>(),
    }))
}

/// The JSON Schema of the body.
pub fn schema() -> Value {
    let place = json!({ "type": "integer", "minimum": 1 });
    let detail = json!({
        "type": "object",
        "required": ["path", "message"],
        "properties": {
            "line": place,
            "column": place,
            "path": { "type": "string" },
            "message": { "type": "string" },
        },
    });
    json!({
        "type": "object",
        "required": ["error", "message", "details"],
        "properties": {
            "error": { "type": "string" },
            "message": { "type": "string" },
            "details": { "type": "array", "items": detail },
        },
    })
}
