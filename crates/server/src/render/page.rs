//! A page for people, where nobody is known to be signed in.

use axum::http::StatusCode;
use lyceum_console::Lost;
use lyceum_core::Problem;

use crate::answer::Answer;
use crate::routes::console::as_page;

pub(super) fn answer(problem: &Problem, status: StatusCode) -> Answer {
    let page = Lost { title: title(status), message: &sentence(problem) };
    as_page(lyceum_console::html(&page).unwrap_or_else(|_| page.title.to_owned()))
}

/// What is said above a problem.
pub(crate) fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "Not for you",
        StatusCode::NOT_FOUND => "Nothing is here",
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => "That does not fit any more",
        StatusCode::TOO_MANY_REQUESTS => "Too many requests",
        _ if status.is_server_error() => "Something went wrong here",
        _ => "That did not work",
    }
}

/// A problem as a page tells it.
pub(crate) fn sentence(problem: &Problem) -> String {
    let mut letters = problem.message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
