//! Renders a problem as a page for browsers without a session.

use axum::http::StatusCode;
use lyceum_console::ProblemPage;
use lyceum_core::Problem;

use crate::answer::Answer;
use crate::routes::console::as_page;

pub(super) fn answer(problem: &Problem, status: StatusCode) -> Answer {
    let page = ProblemPage { title: title(status), message: &sentence(problem) };
    as_page(lyceum_console::html(&page).unwrap_or_else(|_| page.title.to_owned()))
}

/// The heading of the page.
pub(crate) fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "You don't have access",
        StatusCode::NOT_FOUND => "Page not found",
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => "This has changed",
        StatusCode::TOO_MANY_REQUESTS => "Too many requests",
        _ if status.is_server_error() => "Something went wrong",
        _ => "The request failed",
    }
}

/// The problem as a sentence.
pub(crate) fn sentence(problem: &Problem) -> String {
    let mut letters = problem.message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
