//! Students: the list of all students with today's work.

use askama::Template;
use lyceum_console::{Column, Frame, List};

/// The list's columns.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "Student"),
    Column::text("grade", "Grade"),
    Column::text("school", "School"),
    Column::number("xp", "XP today"),
    Column::number("goal", "Goal"),
    Column::number("accuracy", "Accuracy"),
    Column::number("minutes", "Active min"),
    Column::text("seen", "Last seen"),
];

/// The page of all students.
#[derive(Template)]
#[template(path = "console/students/students.html")]
pub(crate) struct StudentsPage {
    /// The frame.
    pub frame: Frame,
    /// The day in the viewer's time zone.
    pub day: String,
    /// The students.
    pub list: List,
}
