//! Renders a problem as a page for browsers without a session.

use axum::http::StatusCode;
use lyceum_console::language::ProblemText;
use lyceum_console::{ProblemPage, t};
use lyceum_core::Problem;

use crate::answer::Answer;
use crate::routes::console::as_page;

pub(super) fn answer(problem: &Problem, status: StatusCode) -> Answer {
    let title = title(status);
    let page = ProblemPage { title: &title, message: sentence(problem) };
    as_page(lyceum_console::html(&page).unwrap_or_else(|_| title.clone()))
}

/// The heading of the page.
pub(crate) fn title(status: StatusCode) -> String {
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
pub(crate) fn sentence(problem: &Problem) -> ProblemText {
    ProblemText::of(&problem.message)
}
