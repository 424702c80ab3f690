//! Today: the students who need attention now, and why.

use askama::Template;

use crate::{Column, Frame, List};

/// The list's columns.
pub const COLUMNS: &[Column] = &[
    Column::text("student", "Student"),
    Column::text("reasons", "Reasons"),
    Column::number("xp", "XP"),
    Column::number("goal", "Goal"),
    Column::number("accuracy", "Accuracy"),
    Column::text("seen", "Last seen"),
];

/// The page.
#[derive(Template)]
#[template(path = "today.html")]
pub struct Today {
    /// The frame.
    pub frame: Frame,
    /// The day in the viewer's time zone.
    pub day: String,
    /// The time there.
    pub time: String,
    /// How many students there are.
    pub student_count: usize,
    /// How many of them need attention.
    pub need_count: usize,
    /// How many of those are behind.
    pub behind_count: usize,
    /// The students who need attention.
    pub list: List,
    /// Each rule's name, and when it gives a reason.
    pub rules: Vec<(&'static str, String)>,
}
