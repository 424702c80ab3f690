//! `imsx_StatusInfo` as CASE spells it (`imsx_codeMinor`), with the values of 1.0 or 1.1.

use lyceum_core::{Dialect, Problem, ProblemKind as Kind};
use serde_json::{Value, json};

use super::Case;
use crate::answer::Answer;

pub(super) fn answer(problem: &Problem, dialect: Dialect, version: Case) -> Answer {
    let mut body = json!({
        "imsx_codeMajor": "failure",
        "imsx_severity": "error",
        "imsx_description": problem.message,
    });
    let platform = (dialect == Dialect::Platform).then_some("invaliddata");
    if let Some(value) = code_minor(problem, version).or(platform) {
        let field = json!({
            "imsx_codeMinorFieldName": "TargetEndSystem",
            "imsx_codeMinorFieldValue": value,
        });
        body["imsx_codeMinor"] = json!({ "imsx_codeMinorField": [field] });
    }
    if dialect == Dialect::Platform && !problem.details.is_empty() {
        body["imsx_error_details"] = json!(problem.details);
    }
    Answer::of(&body)
}

/// The values of `imsx_codeMinorFieldValue` in both versions, some of which are never sent here, and
/// the platform's.
const CODES_MINOR: [&str; 12] = [
    "forbidden",
    "fullsuccess",
    "internal_server_error",
    "invalid_selection_field",
    "invalid_sort_field",
    "invalid_uuid",
    "invaliddata",
    "invaliduuid",
    "server_busy",
    "unauthorised_request",
    "unauthorisedrequest",
    "unknownobject",
];

/// The standard's closed list has no value for what only writes meet.
fn code_minor(problem: &Problem, version: Case) -> Option<&'static str> {
    let is_sort =
        || problem.details.first().is_some_and(|at| matches!(at.path.as_str(), "sort" | "orderBy"));
    Some(match problem.kind {
        Kind::BadSelection if is_sort() => "invalid_sort_field",
        Kind::BadSelection | Kind::BadFilter => "invalid_selection_field",
        Kind::BadId if version == Case::V1p0 => "invaliduuid",
        Kind::BadId => "invalid_uuid",
        Kind::Unauthorized if version == Case::V1p0 => "unauthorisedrequest",
        Kind::Unauthorized => "unauthorised_request",
        Kind::Forbidden => "forbidden",
        Kind::NotFound => "unknownobject",
        Kind::TooManyRequests | Kind::Unavailable => "server_busy",
        Kind::Internal => "internal_server_error",
        Kind::Malformed
        | Kind::MethodNotAllowed
        | Kind::Conflict
        | Kind::PreconditionFailed
        | Kind::TooLarge
        | Kind::UnsupportedMediaType
        | Kind::Invalid => return None,
    })
}

/// The JSON Schema of the body (`imsx_StatusInfoDType`), with the platform's details.
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
