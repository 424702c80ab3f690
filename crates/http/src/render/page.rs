//! Pages for browsers, with their security headers; and a problem as a page for a browser without a session.

use http::{HeaderName, HeaderValue, StatusCode, header};
use lyceum_console::language::ProblemText;
use lyceum_console::{ProblemPage, t};
use lyceum_core::{Problem, Result};

use crate::Body;
use crate::answer::Answer;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Pages load files only from this server and contain no inline code. Forms send only to this server, and other pages
/// cannot embed them.
pub const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      media-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";
/// No cache may store the answer.
pub const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Lets browsers not guess a media type.
pub const SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

pub(super) fn answer(problem: &Problem, status: StatusCode) -> Answer {
    let title = title(status);
    let page = ProblemPage { title: &title, message: sentence(problem) };
    as_page(lyceum_console::html(&page).unwrap_or_else(|_| title.clone()))
}

/// The heading of the page.
pub fn title(status: StatusCode) -> String {
    match status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => t!("You don't have access"),
        StatusCode::NOT_FOUND => t!("Page not found"),
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => t!("This has changed"),
        StatusCode::TOO_MANY_REQUESTS => t!("Too many requests"),
        _ if status.is_server_error() => t!("Something went wrong"),
        _ => t!("The request failed"),
    }
}

/// The problem as a sentence in the reader's language.
pub fn sentence(problem: &Problem) -> ProblemText {
    ProblemText::of(problem.message.clone())
}

/// Redirects to a page after a form.
pub fn on_to(path: &str) -> Answer {
    Answer::empty(StatusCode::SEE_OTHER)
        .header(header::LOCATION, path)
        .header(header::CACHE_CONTROL, NO_STORE)
}

/// Sends HTML with the security headers of every page. Shared caches must not store it.
pub fn as_page(html: String) -> Answer {
    Answer::typed(HTML, Body::from(html))
        .header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY))
        .header(header::CACHE_CONTROL, NO_STORE)
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

/// A page as of [`as_page`] that also embeds one frame, with pages of this origin.
pub fn as_page_with_frame(html: String, origin: &str) -> Result<Answer> {
    let policy = format!("{PAGE_POLICY}; frame-src {origin};");
    let mut answer = as_page(html);
    let policy = HeaderValue::try_from(policy).map_err(Problem::internal)?;
    answer.headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(answer)
}
