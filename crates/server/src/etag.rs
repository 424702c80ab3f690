//! Versions of records as entity tags (RFC 9110, 8.8.3).

use axum::http::header;
use lyceum_core::{Problem, ProblemKind, Result};

use crate::context::Context;

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
    let Some(tag) = context.header(header::IF_MATCH) else { return Ok(None) };
    if tag.trim() == "*" {
        return Ok(None);
    }
    let version = tag.trim().strip_prefix("\"v").and_then(|rest| rest.strip_suffix('"'));
    match version.and_then(|version| version.parse().ok()) {
        Some(version) => Ok(Some(version)),
        None => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            format!("If-Match names {tag}, which is no ETag of this record; read it again"),
        )),
    }
}
