//! Students: everybody who learns, with what they did today.

use askama::Template;

use crate::{Column, Frame, List};

/// The list's columns.
pub const COLUMNS: &[Column] = &[
    Column::text("name", "Student"),
    Column::text("grade", "Grade"),
    Column::text("school", "School"),
    Column::number("xp", "XP today"),
    Column::number("goal", "Goal"),
    Column::number("accuracy", "Accuracy"),
    Column::number("minutes", "Active min"),
    Column::text("seen", "Last seen"),
];

/// The page.
#[derive(Template)]
#[template(path = "students.html")]
pub struct Students {
    /// The frame.
    pub frame: Frame,
    /// The day in the zone of whoever looks.
    pub day: String,
    /// The students.
    pub list: List,
}
