//! `imsx_StatusInfo` of OneRoster 1.2 (REST binding, section 5).

use lyceum_core::{PayloadDialect, Problem, ProblemKind as Kind};
use serde_json::Value;

use super::Spelling;
use crate::answer::Answer;

pub(in crate::render) fn answer(problem: &Problem, dialect: PayloadDialect) -> Answer {
    super::answer(problem, dialect, Spelling::Capital, Some(code_minor(problem.kind)))
}

/// All values of `imsx_codeMinorFieldValue` in the three services (OneRoster 1.2). This server never sends some of
/// them.
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

/// The JSON Schema of the body.
pub fn schema() -> Value {
    super::schema(Spelling::Capital, &CODES_MINOR)
}

/// The nearest value of the standard's closed list, which has no value for some kinds of problems.
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
        | Kind::Gone
        | Kind::Conflict
        | Kind::Misdirected
        | Kind::PreconditionFailed
        | Kind::TooLarge
        | Kind::UnsupportedMediaType
        | Kind::Invalid => "invaliddata",
    }
}
