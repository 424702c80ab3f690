//! `imsx_StatusInfo` in CASE (`imsx_codeMinor`), with the values of version 1.0 or 1.1.

use lyceum_core::{PayloadDialect, Problem, ProblemKind as Kind};
use serde_json::Value;

use super::Spelling;
use crate::answer::Answer;
use crate::render::CaseVersion;

pub(in crate::render) fn answer(
    problem: &Problem,
    dialect: PayloadDialect,
    version: CaseVersion,
) -> Answer {
    let platform = (dialect == PayloadDialect::Platform).then_some("invaliddata");
    let code = code_minor(problem, version).or(platform);
    super::answer(problem, dialect, Spelling::Small, code)
}

/// The values of `imsx_codeMinorFieldValue` in both versions, some of which this server never sends, and the
/// platform's own values.
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

/// The standard's closed list has no values for problems that only writes have.
fn code_minor(problem: &Problem, version: CaseVersion) -> Option<&'static str> {
    let is_sort =
        || problem.details.first().is_some_and(|at| matches!(at.path.as_str(), "sort" | "orderBy"));
    Some(match problem.kind {
        Kind::BadSelection if is_sort() => "invalid_sort_field",
        Kind::BadSelection | Kind::BadFilter => "invalid_selection_field",
        Kind::BadId if version == CaseVersion::V1p0 => "invaliduuid",
        Kind::BadId => "invalid_uuid",
        Kind::Unauthorized if version == CaseVersion::V1p0 => "unauthorisedrequest",
        Kind::Unauthorized => "unauthorised_request",
        Kind::Forbidden => "forbidden",
        Kind::NotFound => "unknownobject",
        Kind::TooManyRequests | Kind::Unavailable => "server_busy",
        Kind::Internal => "internal_server_error",
        Kind::Malformed
        | Kind::MethodNotAllowed
        | Kind::Gone
        | Kind::Conflict
        | Kind::Misdirected
        | Kind::PreconditionFailed
        | Kind::TooLarge
        | Kind::UnsupportedMediaType
        | Kind::Invalid => return None,
    })
}

/// The JSON Schema of the body.
pub fn schema() -> Value {
    super::schema(Spelling::Small, &CODES_MINOR)
}
