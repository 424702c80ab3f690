//! Classes: all of them; one with what its students did by day.

use askama::Template;

use crate::chart::Svg;
use crate::{Column, Frame, List};

/// The columns of the list of classes.
pub const COLUMNS: &[Column] = &[
    Column::text("title", "Class"),
    Column::text("code", "Code"),
    Column::text("course", "Course"),
    Column::text("school", "School"),
    Column::number("students", "Students"),
    Column::number("teachers", "Teachers"),
];

/// The columns of the list of a class's students.
pub const STUDENTS: &[Column] = &[
    Column::text("name", "Student"),
    Column::number("xp", "XP"),
    Column::number("minutes", "Active min"),
    Column::number("xpPerMinute", "XP per minute"),
    Column::number("answers", "Answers"),
    Column::number("accuracy", "Accuracy"),
    Column::number("mastered", "Mastered"),
    Column::number("days", "Days"),
];

/// The page of all classes.
#[derive(Template)]
#[template(path = "classes.html")]
pub struct Classes {
    /// The frame.
    pub frame: Frame,
    /// The classes.
    pub list: List,
}

/// A value to choose, and its name.
pub struct Chosen {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub name: String,
    /// Whether it is the one that is shown now.
    pub is_chosen: bool,
}

/// A student's row of the heat map.
pub struct HeatRow {
    /// Who.
    pub name: String,
    /// Their page.
    pub href: String,
    /// A cell a day.
    pub cells: Vec<HeatCell>,
}

/// What a student earned on a day.
pub struct HeatCell {
    /// How dark, from 0 for nothing to 4.
    pub level: usize,
    /// The XP; empty for none.
    pub shown: String,
    /// The same in words.
    pub says: String,
    /// The events behind it.
    pub href: String,
}

/// A student's accuracy.
pub struct Accuracy {
    /// Who.
    pub name: String,
    /// The picture.
    pub line: Svg,
    /// The share.
    pub shown: String,
    /// The answers behind it.
    pub href: String,
}

/// The page of one class.
#[derive(Template)]
#[template(path = "class.html")]
pub struct Class {
    /// The frame.
    pub frame: Frame,
    /// The path of the page.
    pub path: String,
    /// Course, school, code.
    pub about: Vec<(String, Option<String>)>,
    /// Spans of days to choose from.
    pub spans: Vec<Chosen>,
    /// Subjects to choose from.
    pub subjects: Vec<Chosen>,
    /// The days: `01-15`.
    pub days: Vec<String>,
    /// The heat map; empty where nobody is in the class.
    pub heat: Vec<HeatRow>,
    /// Whether anybody did anything.
    pub has_work: bool,
    /// XP against time.
    pub scatter: Svg,
    /// Those who answered something.
    pub accuracy: Vec<Accuracy>,
    /// The same figures as a list.
    pub list: List,
}
