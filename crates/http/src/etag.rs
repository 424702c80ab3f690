//! Versions of records as entity tags (RFC 9110, 8.8.3).

use http::{HeaderMap, HeaderValue, Method, header};
use lyceum_core::{Problem, ProblemKind, Result, message};

use crate::Application;
use crate::context::Context;
use crate::route::Route;

/// The entity tag of a record's version.
pub fn tag(version: i64) -> String {
    format!("\"v{version}\"")
}

/// The entity tag of a file. An answer that is compressed while it is sent has different bytes, so its tag must be weak.
pub fn of_content(strong: &str, is_compressed: bool) -> String {
    if is_compressed { format!("W/{strong}") } else { strong.to_owned() }
}

/// Whether a list of tags, as in `If-None-Match`, contains the tag.
pub fn names(tags: &str, tag: &str) -> bool {
    tags.split(',')
        .map(|seen| seen.trim().trim_start_matches("W/"))
        .any(|seen| seen == tag || seen == "*")
}

/// Whether `If-Match` is `*`, which requires that the record exists in any version.
pub fn is_any(headers: &HeaderMap) -> bool {
    headers.get(header::IF_MATCH).is_some_and(|tag| tag.as_bytes().trim_ascii() == b"*")
}

/// The version that `If-Match` requires; `None` for any version. Handlers that may create a record must also check
/// [`is_any`].
///
/// Errors: `PreconditionFailed` for a tag that this server never issued.
pub fn expected(context: &Context<impl Application>) -> Result<Option<i64>> {
    match context.headers.get(header::IF_MATCH) {
        Some(tag) => version(tag),
        None => Ok(None),
    }
}

/// Refuses a change if its address does not have the version that the client names. No route ignores a precondition.
///
/// Errors: `PreconditionFailed`.
pub fn check(route: &Route<impl Application>, headers: &HeaderMap) -> Result<()> {
    let Some(tag) = headers.get(header::IF_MATCH).filter(|_| route.method != Method::GET) else {
        return Ok(());
    };
    // Check this first: other tags, such as those of bucket objects, must not cause a read here.
    if !route.takes_version && !is_any(headers) {
        return Err(Problem::new(
            ProblemKind::PreconditionFailed,
            "this route does not support If-Match; send the request without it",
        ));
    }
    version(tag).map(drop)
}

fn version(tag: &HeaderValue) -> Result<Option<i64>> {
    let text = tag.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let versions = text.split(',').filter_map(|tag| {
        let version = tag.trim().strip_prefix("\"v").and_then(|rest| rest.strip_suffix('"'))?;
        version.parse::<i64>().ok()
    });
    // Versions only grow, so of several only the newest can be the present one.
    match versions.max() {
        Some(version) => Ok(Some(version)),
        None => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            message!(
                "If-Match is {text}, which contains no ETag of this record; read the record again"
            ),
        )),
    }
}
