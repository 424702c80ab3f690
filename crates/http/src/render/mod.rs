//! Renders problems: one table of status codes, and one body format for each standard.

mod caliper;
mod game;
mod imsx;
mod oauth;
mod page;
mod problem_json;
mod qti;

use http::{HeaderValue, StatusCode, header};
use lyceum_core::{PayloadDialect, Problem, ProblemKind as Kind};

use crate::answer::Answer;

pub use caliper::schema as caliper_schema;
pub use game::{refusal as game_refusal, schema as game_schema};
pub use imsx::case::schema as case_schema;
pub use imsx::credentials::schema as credentials_schema;
pub use imsx::oneroster::schema as imsx_schema;
pub use oauth::{refusal, schema as oauth_schema};
pub use page::{NO_STORE, PAGE_POLICY, SNIFF, as_page, as_page_with_frame, on_to, sentence, title};
pub use problem_json::schema as problem_schema;
pub use qti::schema as qti_schema;

/// A version of CASE. The versions differ in their error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseVersion {
    /// 1.0
    V1p0,
    /// 1.1
    V1p1,
}

/// The format of an area's error bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// Caliper: `status`, `message`, `errors`.
    Caliper,
    /// The game platform: `error` with `code`, `message`, `details`.
    Game,
    /// 1EdTech's `imsx_StatusInfo` in Open Badges and CLR (`imsx_codeMinor`).
    Credentials,
    /// 1EdTech's `imsx_StatusInfo` in OneRoster (`imsx_CodeMinor`).
    Imsx,
    /// 1EdTech's `imsx_StatusInfo` in CASE (`imsx_codeMinor`).
    Case(CaseVersion),
    /// RFC 6749 section 5.2: `error`, `error_description`.
    OAuth,
    /// A page for people. The OpenAPI document leaves out such areas.
    Page,
    /// RFC 9457: `application/problem+json`.
    Problem,
    /// Assessment content: `error`, `message`, `details` with line and column.
    Qti,
}

impl Rendering {
    /// Renders the problem as an answer. The `Standard` dialect leaves out members that the standard's closed schema
    /// does not have.
    pub fn answer(self, problem: &Problem, dialect: PayloadDialect) -> Answer {
        let status = status(problem.kind);
        let answer = match self {
            Self::Caliper => caliper::answer(problem),
            Self::Game => game::answer(problem),
            Self::Credentials => imsx::credentials::answer(problem, dialect),
            Self::Imsx => imsx::oneroster::answer(problem, dialect),
            Self::Case(version) => imsx::case::answer(problem, dialect, version),
            Self::OAuth => oauth::answer(problem),
            Self::Page => page::answer(problem, status),
            Self::Problem => problem_json::answer(problem, status),
            Self::Qti => qti::answer(problem, status),
        };
        let mut answer = answer.status(status);
        if let Some(seconds) = problem.retry_after_s {
            answer.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }
}

/// The status code of each kind of problem. Only this function maps them.
pub fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Malformed | Kind::BadFilter | Kind::BadSelection | Kind::BadId => {
            StatusCode::BAD_REQUEST
        }
        Kind::Unauthorized => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Kind::Gone => StatusCode::GONE,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Misdirected => StatusCode::MISDIRECTED_REQUEST,
        Kind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}
