//! Previews of stored versions that are not served, at `/_v/<version>/…` of a project. Production has no previews,
//! because a version may have been replaced there for a reason.

use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use lyceum_core::config::Environment;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;

use super::{ProjectAddress, is_navigation};
use crate::App;

const PREFIX: &str = "/_v/";
/// The word that leads back to the served version.
const SERVED: &str = "served";
const COOKIE: &str = "lyceum-version";

/// The version that a request names.
pub(super) enum PreviewRequest {
    /// The served version.
    Current,
    /// This version.
    Version(i64),
    /// This version if it is still stored.
    VersionOfCookie(i64),
    /// Redirects the browser and sets a cookie with the version, because links in a page lead to the root of its host.
    Redirect(Answer),
}

/// Parses path and cookie, and removes the prefix from the path.
///
/// Errors: `NotFound` if the version is not valid, and in production.
pub(super) fn preview_request(
    app: &App,
    address: &mut ProjectAddress,
    parts: &Parts,
) -> Result<PreviewRequest> {
    let may = app.sandbox.is_some() || app.config.server.env == Environment::Staging;
    let Some(rest) = address.path.strip_prefix(PREFIX) else {
        let kept = cookie(parts).filter(|_| may && !address.is_by_path);
        return Ok(kept.map_or(PreviewRequest::Current, PreviewRequest::VersionOfCookie));
    };
    let (version, path) = rest.split_once('/').unwrap_or((rest, ""));
    let number = version.parse::<i64>().ok();
    if !may || (number.is_none() && version != SERVED) {
        let message = message!("there is no page '{address.path}'");
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    // Two leading slashes would redirect to another host.
    let path = format!("/{}", path.trim_start_matches('/'));
    if !address.is_by_path && is_navigation(&path, parts) {
        return Ok(PreviewRequest::Redirect(redirect(number, &path, parts)));
    }
    address.path = path;
    Ok(number.map_or(PreviewRequest::Current, PreviewRequest::Version))
}

fn redirect(version: Option<i64>, path: &str, parts: &Parts) -> Answer {
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let cookie = match version {
        Some(version) => format!("{COOKIE}={version}; Path=/; HttpOnly; SameSite=Lax"),
        None => format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"),
    };
    let value = |text: String| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("/"));
    Answer::empty(StatusCode::FOUND)
        .header(header::LOCATION, value(format!("{path}{query}")))
        .header(header::SET_COOKIE, value(cookie))
        .header(header::CACHE_CONTROL, "no-store")
}

fn cookie(parts: &Parts) -> Option<i64> {
    let cookies = parts.headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then(|| value.parse().ok())?
    })
}
