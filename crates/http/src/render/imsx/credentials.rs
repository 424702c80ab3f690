//! `imsx_StatusInfo` of Open Badges 3.0 and CLR 2.0, which spell `imsx_codeMinor` with a small letter.

use lyceum_core::{PayloadDialect, Problem, ProblemKind as Kind};
use serde_json::Value;

use super::Spelling;
use crate::answer::Answer;

pub(in crate::render) fn answer(problem: &Problem, dialect: PayloadDialect) -> Answer {
    super::answer(problem, dialect, Spelling::Small, Some(code_minor(problem.kind)))
}

/// All values of `imsx_codeMinorFieldValue`. This server never sends some of them.
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

/// The JSON Schema of the body.
pub fn schema() -> Value {
    super::schema(Spelling::Small, &CODES_MINOR)
}

/// The nearest value of the standard's closed list, which has no value for some kinds of problems.
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
