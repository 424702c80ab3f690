//! Cross-origin calls of web pages (Fetch standard, CORS protocol): each client has its origins.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use lyceum_core::limits;

use crate::answer::Answer;
use crate::auth::Grant;
use crate::state::App;

const EXPOSED: HeaderValue =
    HeaderValue::from_static("Link, X-Total-Count, ETag, X-Request-Id, Location, Retry-After");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Accept, If-Match, If-None-Match, X-Request-Id",
);

/// Answers `OPTIONS`: the methods of the path, and for a preflight of an origin that some client
/// has, leave to call. Which client will call is not known before its token comes.
pub(crate) fn options(app: &App, headers: &HeaderMap, allow: &HeaderValue) -> Answer {
    let mut answer = Answer::empty(StatusCode::NO_CONTENT).header(header::ALLOW, allow.clone());
    answer.headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let preflight = headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let origin = headers.get(header::ORIGIN);
    if let Some(origin) = origin.filter(|origin| preflight && app.gate.knows_origin(origin)) {
        answer.headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        answer.headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        answer.headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        answer
            .headers
            .insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(limits::PREFLIGHT_MAX_AGE_S));
    }
    answer
}

/// Lets a page of the origin read the answer if the client that called has that origin.
pub(crate) fn expose(headers: &mut HeaderMap, origin: &HeaderValue, grant: Option<&Grant>) {
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if grant.is_some_and(|grant| grant.client().has_origin(origin)) {
        allow(headers, origin);
    }
}

/// Lets a page of the origin read the answer.
pub(crate) fn allow(headers: &mut HeaderMap, origin: &HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}
