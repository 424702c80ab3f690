//! Versions of records as entity tags (RFC 9110, 8.8.3).

use axum::http::{HeaderMap, HeaderValue, Method, header};
use lyceum_core::{Problem, ProblemKind, Result};

use crate::context::Context;
use crate::route::Route;

/// The tag of a record's version.
pub(crate) fn tag(version: i64) -> String {
    format!("\"v{version}\"")
}

/// Whether a list of tags such as `If-None-Match` has names the tag.
pub(crate) fn names(tags: &str, tag: &str) -> bool {
    tags.split(',')
        .map(|seen| seen.trim().trim_start_matches("W/"))
        .any(|seen| seen == tag || seen == "*")
}

/// Whether `If-Match` asks for any version, but for one that is there (`*`).
pub(crate) fn is_any(headers: &HeaderMap) -> bool {
    headers.get(header::IF_MATCH).is_some_and(|tag| tag.as_bytes().trim_ascii() == b"*")
}

/// The version that `If-Match` asks for; none: any. Where a change may create what is not there, its handler asks
/// [`is_any`], too.
///
/// Errors: `PreconditionFailed` for a tag that this server never gave.
pub(crate) fn expected(context: &Context) -> Result<Option<i64>> {
    match context.headers.get(header::IF_MATCH) {
        Some(tag) => version(tag),
        None => Ok(None),
    }
}

/// Refuses a change that names a version which its address does not have. Nothing that a client says of a
/// version is passed over, whatever the route.
///
/// Errors: `PreconditionFailed`.
pub(crate) fn check(route: &Route, headers: &HeaderMap) -> Result<()> {
    let Some(tag) = headers.get(header::IF_MATCH).filter(|_| route.method != Method::GET) else {
        return Ok(());
    };
    // First: a tag that a read gave, such as an object's, is no reason to read again here.
    if !route.takes_version && !is_any(headers) {
        return Err(Problem::new(
            ProblemKind::PreconditionFailed,
            "this request cannot name the version that it is meant for; send it without If-Match",
        ));
    }
    version(tag).map(drop)
}

fn version(tag: &HeaderValue) -> Result<Option<i64>> {
    let text = tag.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let version = text.strip_prefix("\"v").and_then(|rest| rest.strip_suffix('"'));
    match version.and_then(|version| version.parse().ok()) {
        Some(version) => Ok(Some(version)),
        None => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            format!("If-Match names {text}, which is no ETag of this record; read it again"),
        )),
    }
}
