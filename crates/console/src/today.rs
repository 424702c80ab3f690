//! Today: who needs help now, and why.

use askama::Template;

use crate::{Column, Frame, List};

/// The list's columns.
pub const COLUMNS: &[Column] = &[
    Column::text("student", "Student"),
    Column::text("reasons", "Why"),
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
    /// The day in the zone of whoever looks.
    pub day: String,
    /// The time there.
    pub time: String,
    /// How many students there are.
    pub students: usize,
    /// How many of them need somebody.
    pub needy: usize,
    /// How many of those are behind.
    pub behind: usize,
    /// Those, in the order of their need.
    pub list: List,
    /// Each rule's name, and when it speaks.
    pub rules: Vec<(&'static str, String)>,
}
