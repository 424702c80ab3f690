//! Cross-origin calls of web pages (Fetch standard, CORS protocol). Each client has a list of allowed origins.
//!
//! tower-http's `CorsLayer` would decide before the client is known, and answer `OPTIONS` without `Allow`.

use http::{HeaderMap, HeaderValue, StatusCode, header};
use lyceum_deploy::limits;

use crate::Http;
use crate::answer::Answer;
use crate::auth::Grant;

const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Link, X-Total-Count, ETag, X-Request-Id, X-Lyceum-Notice, Location, Retry-After, Date",
);
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Content-Encoding, Accept, If-Match, If-None-Match, X-Request-Id, Idempotency-Key",
);

/// Answers `OPTIONS` with the methods of the path. A preflight is allowed if any client has the origin, or if the path
/// is open to all origins. The client itself is not known before the actual request sends its token.
pub fn options(app: &Http, headers: &HeaderMap, allow: &HeaderValue, is_open: bool) -> Answer {
    let mut answer = Answer::empty(StatusCode::NO_CONTENT).header(header::ALLOW, allow.clone());
    answer.headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let preflight = headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let origin = headers.get(header::ORIGIN);
    let may_call = |origin: &&HeaderValue| preflight && (is_open || app.gate.knows_origin(origin));
    if let Some(origin) = origin.filter(may_call) {
        answer.headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        answer.headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        answer.headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        answer
            .headers
            .insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(limits::PREFLIGHT_MAX_AGE_S));
    }
    answer
}

/// Lets a page of the origin read the answer if the calling client has that origin, or if the path is open to all
/// origins.
pub fn expose(headers: &mut HeaderMap, origin: &HeaderValue, grant: Option<&Grant>, is_open: bool) {
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if is_open || grant.is_some_and(|grant| grant.client().has_origin(origin)) {
        allow(headers, origin);
    }
}

/// Lets a page of the origin read the answer.
pub fn allow(headers: &mut HeaderMap, origin: &HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}
