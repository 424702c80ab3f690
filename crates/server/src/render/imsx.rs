//! `imsx_StatusInfo` of OneRoster 1.2 (REST binding, section 5).

use lyceum_core::{Detail, Dialect, Problem, ProblemKind as Kind};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::Answer;

#[derive(Serialize)]
struct StatusInfo<'a> {
    #[serde(rename = "imsx_codeMajor")]
    code_major: &'static str,
    #[serde(rename = "imsx_severity")]
    severity: &'static str,
    #[serde(rename = "imsx_description")]
    description: &'a str,
    #[serde(rename = "imsx_CodeMinor")]
    code_minor: CodeMinor,
    #[serde(rename = "imsx_error_details", skip_serializing_if = "<[_]>::is_empty")]
    details: &'a [Detail],
}

#[derive(Serialize)]
struct CodeMinor {
    #[serde(rename = "imsx_codeMinorField")]
    fields: [CodeMinorField; 1],
}

#[derive(Serialize)]
struct CodeMinorField {
    #[serde(rename = "imsx_codeMinorFieldName")]
    name: &'static str,
    #[serde(rename = "imsx_codeMinorFieldValue")]
    value: &'static str,
}

pub(super) fn answer(problem: &Problem, dialect: Dialect) -> Answer {
    let value = code_minor(problem.kind);
    Answer::of(&StatusInfo {
        code_major: "failure",
        severity: "error",
        description: &problem.message,
        code_minor: CodeMinor { fields: [CodeMinorField { name: "TargetEndSystem", value }] },
        details: if dialect == Dialect::Platform { &problem.details } else { &[] },
    })
}

/// Every value of `imsx_codeMinorFieldValue` in the three services (OneRoster 1.2); some are never
/// sent here.
const CODES_MINOR: [&str; 12] = [
    "deletefailure",
    "forbidden",
    "fullsuccess",
    "internal_server_error",
    "invalid_filter_field",
    "invalid_selection_field",
    "invalid_sort_field",
    "invaliddata",
    "server_busy",
    "unauthorisedrequest",
    "unknownobject",
    "unsupported",
];

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
            "imsx_CodeMinor": {
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
        Kind::BadFilter => "invalid_filter_field",
        Kind::BadSelection => "invalid_selection_field",
        Kind::Unauthorized => "unauthorisedrequest",
        Kind::Forbidden => "forbidden",
        Kind::NotFound => "unknownobject",
        Kind::TooManyRequests | Kind::Unavailable => "server_busy",
        Kind::Internal => "internal_server_error",
        Kind::Malformed
        | Kind::BadId
        | Kind::MethodNotAllowed
        | Kind::Conflict
        | Kind::PreconditionFailed
        | Kind::TooLarge
        | Kind::UnsupportedMediaType
        | Kind::Invalid => "invaliddata",
    }
}
