//! `imsx_StatusInfo` of 1EdTech's services. The standards share this body but name its code member differently.

pub(super) mod case;
pub(super) mod credentials;
pub(super) mod oneroster;

use lyceum_core::{PayloadDialect, Problem};
use serde_json::{Value, json};

use crate::answer::Answer;

/// The name of the member that contains the codes.
#[derive(Clone, Copy)]
enum Spelling {
    /// OneRoster.
    Capital,
    /// Open Badges, CLR, CASE.
    Small,
}

impl Spelling {
    fn code_minor(self) -> &'static str {
        match self {
            Self::Capital => "imsx_CodeMinor",
            Self::Small => "imsx_codeMinor",
        }
    }
}

/// The body for a problem. The standard may not have a code for it.
fn answer(
    problem: &Problem,
    dialect: PayloadDialect,
    spelling: Spelling,
    code: Option<&'static str>,
) -> Answer {
    let mut body = json!({
        "imsx_codeMajor": "failure",
        "imsx_severity": "error",
        "imsx_description": problem.message,
    });
    if let Some(code) = code {
        let field = json!({
            "imsx_codeMinorFieldName": "TargetEndSystem",
            "imsx_codeMinorFieldValue": code,
        });
        body[spelling.code_minor()] = json!({ "imsx_codeMinorField": [field] });
    }
    if dialect == PayloadDialect::Platform && !problem.details.is_empty() {
        body["imsx_error_details"] = json!(problem.details);
    }
    Answer::of(&body)
}

/// The JSON Schema of the body (`imsx_StatusInfoDType`), with the platform's details.
fn schema(spelling: Spelling, codes: &[&str]) -> Value {
    let field = json!({
        "type": "object",
        "required": ["imsx_codeMinorFieldName", "imsx_codeMinorFieldValue"],
        "properties": {
            "imsx_codeMinorFieldName": { "type": "string" },
            "imsx_codeMinorFieldValue": { "type": "string", "enum": codes },
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
            spelling.code_minor(): {
                "type": "object",
                "required": ["imsx_codeMinorField"],
                "properties": { "imsx_codeMinorField": { "type": "array", "items": field } },
            },
            "imsx_error_details": { "type": "array", "items": detail },
        },
    })
}
