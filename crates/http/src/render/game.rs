//! Errors of the game platform: `{error: {code, message, details}}`.

use http::StatusCode;
use lyceum_core::{Detail, Problem, ProblemKind as Kind};
use serde_json::{Value, json};

use crate::answer::Answer;

pub(super) fn answer(problem: &Problem) -> Answer {
    body(code(problem.kind), &problem.message.to_string(), &problem.details)
}

/// A refusal with a specific error code.
pub fn refusal(status: StatusCode, code: &str, message: &str) -> Answer {
    body(code, message, &[]).status(status)
}

fn body(code: &str, message: &str, details: &[Detail]) -> Answer {
    Answer::of(&json!({ "error": { "code": code, "message": message, "details": details } }))
}

fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Malformed | Kind::BadFilter | Kind::BadSelection | Kind::BadId => "BAD_REQUEST",
        Kind::Unauthorized => "UNAUTHORIZED",
        Kind::Forbidden => "FORBIDDEN",
        Kind::NotFound => "NOT_FOUND",
        Kind::MethodNotAllowed => "METHOD_NOT_ALLOWED",
        Kind::Gone => "GONE",
        Kind::Conflict => "CONFLICT",
        Kind::Misdirected => "MISDIRECTED",
        Kind::PreconditionFailed => "PRECONDITION_FAILED",
        Kind::TooLarge => "PAYLOAD_TOO_LARGE",
        Kind::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
        Kind::Invalid => "VALIDATION_FAILED",
        Kind::TooManyRequests => "TOO_MANY_REQUESTS",
        Kind::Internal => "INTERNAL",
        Kind::Unavailable => "UNAVAILABLE",
    }
}

/// The JSON Schema of the body.
pub fn schema() -> Value {
    let detail = json!({
        "type": "object",
        "required": ["path", "message"],
        "properties": { "path": { "type": "string" }, "message": { "type": "string" } },
    });
    let error = json!({
        "type": "object",
        "required": ["code", "message", "details"],
        "properties": {
            "code": { "type": "string" },
            "message": { "type": "string" },
            "details": { "type": "array", "items": detail },
        },
    });
    json!({ "type": "object", "required": ["error"], "properties": { "error": error } })
}
