//! Today: the students who need attention now and why, and who works, is idle or absent.

use askama::Template;

use crate::{Column, Frame, List, Tabs};

/// The list's columns.
pub const COLUMNS: &[Column] = &[
    Column::text("student", "Student"),
    Column::text("reasons", "Reasons"),
    Column::number("xp", "XP"),
    Column::number("goal", "Goal"),
    Column::number("accuracy", "Accuracy"),
    Column::text("seen", "Last seen"),
];

/// The page of what students do today.
#[derive(Template)]
#[template(path = "today.html")]
pub struct TodayPage {
    /// The frame.
    pub frame: Frame,
    /// The day in the viewer's time zone.
    pub day: String,
    /// The time in the viewer's time zone.
    pub time: String,
    /// The number of students.
    pub student_count: usize,
    /// The number of students who need attention.
    pub need_count: usize,
    /// The number of those who are behind the pace of their daily goal.
    pub behind_count: usize,
    /// The page with all of these students.
    pub students_href: String,
    /// The page with those who need attention.
    pub needs_href: String,
    /// The page with those who are behind.
    pub behind_href: String,
    /// The groups of students, with their numbers.
    pub tabs: Tabs,
    /// Says who is in the list.
    pub about: String,
    /// The students of the open group.
    pub list: List,
    /// The name of each rule, and the condition under which it applies.
    pub rules: Vec<(&'static str, String)>,
}
