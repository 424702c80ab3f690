//! Classes: the list of classes, and a page for each class with the work of its students by day.

use askama::Template;
use lyceum_console::chart::Svg;
use lyceum_console::{Column, Frame, List};

use crate::console::teaching::view::TeachingForms;

/// The columns of the list of classes.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("title", "Class"),
    Column::text("code", "Code"),
    Column::text("course", "Course"),
    Column::text("school", "School"),
    Column::number("students", "Students"),
    Column::number("teachers", "Teachers"),
];

/// The columns of the list of a class's students.
pub(crate) const STUDENTS: &[Column] = &[
    Column::text("name", "Student"),
    Column::number("xp", "XP"),
    Column::number("minutes", "Active min"),
    Column::number("xpPerMinute", "XP per minute"),
    Column::number("answers", "Answers"),
    Column::number("accuracy", "Accuracy"),
    Column::number("mastered", "Mastered"),
    Column::number("days", "Days"),
];

/// An option of a filter.
pub(crate) struct FilterOption {
    /// The value that the form sends.
    pub value: String,
    /// The text that the page shows.
    pub name: String,
    /// Whether the option is selected.
    pub is_chosen: bool,
}

/// A student's row in the heat map.
pub(crate) struct HeatRow {
    /// The student's name.
    pub name: String,
    /// The student's page.
    pub href: String,
    /// A cell for each day.
    pub cells: Vec<HeatCell>,
}

/// The XP that a student earned on one day.
pub(crate) struct HeatCell {
    /// The shade, from 0 for no XP to 4.
    pub level: usize,
    /// The XP; empty if there were none.
    pub shown: String,
    /// Describes the cell for screen readers.
    pub description: String,
    /// The page that lists the events behind the value.
    pub href: String,
}

/// The accuracy of a student.
pub(crate) struct StudentAccuracy {
    /// The student's name.
    pub name: String,
    /// The drawing.
    pub line: Svg,
    /// The accuracy in percent.
    pub shown: String,
    /// The page that lists the answers behind the value.
    pub href: String,
}

/// An app that the students of a class may open, or could.
pub(crate) struct AppChoice {
    /// The slug.
    pub slug: String,
    /// The name.
    pub name: String,
}

/// The page of one class.
#[derive(Template)]
#[template(path = "console/classes/class.html")]
pub(crate) struct ClassPage {
    /// The frame.
    pub frame: Frame,
    /// The path of the page.
    pub path: String,
    /// Course, school and code, each perhaps with its page.
    pub about: Vec<(String, Option<String>)>,
    /// The date ranges to choose from.
    pub spans: Vec<FilterOption>,
    /// The subjects to choose from.
    pub subjects: Vec<FilterOption>,
    /// The days, such as `15 Jan`.
    pub days: Vec<String>,
    /// The heat map; empty if the class has no students.
    pub heat: Vec<HeatRow>,
    /// Whether any student worked on these days.
    pub has_work: bool,
    /// XP against active time.
    pub scatter: Svg,
    /// The students who answered at least one question.
    pub accuracy: Vec<StudentAccuracy>,
    /// The forms for all students of the class.
    pub teaching: Option<TeachingForms>,
    /// The same numbers as a list.
    pub list: List,
    /// The apps that its students may open.
    pub apps: Vec<AppChoice>,
    /// The other deployed apps.
    pub other_apps: Vec<AppChoice>,
}
