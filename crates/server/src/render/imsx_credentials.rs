//! `imsx_StatusInfo` of Open Badges 3.0 and CLR 2.0, which spell `imsx_codeMinor` with a small letter.

use lyceum_core::{Dialect, Problem, ProblemKind as Kind};
use serde_json::{Value, json};

use crate::answer::Answer;

pub(super) fn answer(problem: &Problem, dialect: Dialect) -> Answer {
    let field = json!({
        "imsx_codeMinorFieldName": "TargetEndSystem",
        "imsx_codeMinorFieldValue": code_minor(problem.kind),
    });
    let mut body = json!({
        "imsx_codeMajor": "failure",
        "imsx_severity": "error",
        "imsx_description": problem.message,
        "imsx_codeMinor": { "imsx_codeMinorField": [field] },
    });
    if dialect == Dialect::Platform && !problem.details.is_empty() {
        body["imsx_error_details"] = json!(problem.details);
    }
    Answer::of(&body)
}

/// Every value of `imsx_codeMinorFieldValue`; some are never sent here.
const CODES_MINOR: [&str; 13] = [
    "forbidden",
    "fullsuccess",
    "internal_server_error",
    "invalid_data",
    "invalid_query_parameter",
    "misdirected_request",
    "not_acceptable",
    "not_allowed",
    "not_found",
    "not_modified",
    "server_busy",
    "unauthorizedrequest",
    "unknown",
];

/// The JSON Schema of the body (`Imsx_StatusInfo`), with the platform's details.
pub(crate) fn schema() -> Value {
    let field = json!({
        "type": "object",
        "required": ["imsx_codeMinorFieldName", "imsx_codeMinorFieldValue"],
        "properties": {
            "imsx_codeMinorFieldName": { "type": "string" },
            "imsx_codeMinorFieldValue": { "type": "string", "enum": CODES_MINOR },
        },
    });
    let detail = json!({
        "type": "object",
        "required": ["path", "message"],
        "properties": { "path": { "type": "string" }, "message": { "type": "string" } },
    });
    json!({
        "type": "object",
        "required": ["imsx_codeMajor", "imsx_severity"],
        "properties": {
            "imsx_codeMajor": { "type": "string", "enum": ["success", "processing", "failure", "unsupported"] },
            "imsx_severity": { "type": "string", "enum": ["status", "warning", "error"] },
            "imsx_description": { "type": "string" },
            "imsx_codeMinor": {
                "type": "object",
                "required": ["imsx_codeMinorField"],
                "properties": { "imsx_codeMinorField": { "type": "array", "items": field } },
            },
            "imsx_error_details": { "type": "array", "items": detail },
        },
    })
}

/// The standard's closed list has no value for some kinds; they get the nearest.
fn code_minor(kind: Kind) -> &'static str {
    match kind {
        Kind::BadFilter | Kind::BadSelection => "invalid_query_parameter",
        Kind::Unauthorized => "unauthorizedrequest",
        Kind::Forbidden => "forbidden",
        Kind::NotFound => "not_found",
        Kind::MethodNotAllowed => "not_allowed",
        Kind::UnsupportedMediaType => "not_acceptable",
        Kind::TooManyRequests | Kind::Unavailable => "server_busy",
        Kind::Internal => "internal_server_error",
        _ => "invalid_data",
    }
}
