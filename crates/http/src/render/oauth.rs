//! Errors of the token endpoint (RFC 6749 section 5.2).

use lyceum_core::{Problem, ProblemKind as Kind};
use serde_json::{Value, json};

use crate::answer::Answer;

/// Problems of a token route that are not errors of the protocol itself.
pub(super) fn answer(problem: &Problem) -> Answer {
    let error = match problem.kind {
        Kind::Unauthorized => "invalid_client",
        Kind::Internal => "server_error",
        Kind::Unavailable | Kind::TooManyRequests => "temporarily_unavailable",
        _ => "invalid_request",
    };
    refusal(error, &problem.message.to_string())
}

/// The body of an error. RFC 6749 requires `error_description` to be plain ASCII without `"` and `\`.
pub fn refusal(error: &str, description: &str) -> Answer {
    let plain: String = description
        .chars()
        .map(|c| if matches!(c, ' ' | '!' | '#'..='[' | ']'..='~') { c } else { '?' })
        .collect();
    Answer::of(&json!({ "error": error, "error_description": plain }))
}

/// The JSON Schema of the body.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": { "type": "string" },
            "error_description": { "type": "string" },
        },
    })
}
