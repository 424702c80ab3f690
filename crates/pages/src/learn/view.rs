//! The pages of students.

use askama::Template;
use lyceum_console::assets;
use lyceum_console::language::ProblemText;

/// The values that the frame of a student's page shows.
#[derive(Clone, Debug)]
pub(crate) struct StudentFrame {
    /// The name of the student.
    pub name: String,
    /// Whether the student signed in alone, so that the page of the account is open.
    pub has_account: bool,
    /// The environment of the server: `staging`, `production` or `local`.
    pub environment: &'static str,
    /// The title of the page.
    pub title: String,
    /// The token that each form of the page sends in its field `token`, against forged requests.
    pub token: String,
}

/// The page that shows a problem to a student.
#[derive(Template)]
#[template(path = "learn/problem.html")]
pub(crate) struct StudentProblemPage<'a> {
    /// The frame.
    pub frame: &'a StudentFrame,
    /// Explains the problem and what to do next.
    pub message: ProblemText,
}

/// The address of the stylesheet of all pages of students.
pub(crate) fn style() -> Option<String> {
    assets::address("learn.css")
}

/// The address of the script of all pages of signed-in students.
pub(crate) fn script() -> Option<String> {
    assets::address("learn.js")
}
