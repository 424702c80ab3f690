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

/// The version that `If-Match` asks for. `*` asks for any.
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
    match version(tag)? {
        Some(_) if !route.takes_version => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            "this request cannot name the version that it is meant for; send it without If-Match",
        )),
        _ => Ok(()),
    }
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
