//! Today: the students who need attention now and why, and who works, is idle or absent.

use askama::Template;
use lyceum_console::{Column, Frame, List, Tabs};

/// The list's columns.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("student", "Student"),
    Column::text("reasons", "Reasons"),
    Column::number("xp", "XP"),
    Column::number("goal", "Goal"),
    Column::number("accuracy", "Accuracy"),
    Column::text("seen", "Last seen"),
];

/// The page of what students do today.
#[derive(Template)]
#[template(path = "console/today/today.html")]
pub(crate) struct TodayPage {
    /// The frame.
    pub frame: Frame,
    /// The day and time in the viewer's time zone.
    pub now: String,
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
    pub rules: Vec<(String, String)>,
}

impl TodayPage {
    /// How many students need attention, as HTML.
    fn summary(&self) -> String {
        if self.student_count == 0 {
            return rich!("No student is enrolled yet. [Import a roster](/console/imports) or enroll students over the API.").0;
        }
        if self.need_count == 0 {
            return rich_plural!(
                self.student_count,
                "No student needs attention right now. The rules below were checked for [{n} student]({students}).",
                "No student needs attention right now. The rules below were checked for [{n} students]({students}).",
                students = self.students_href,
            )
            .0;
        }
        let needs = rich_plural!(
            self.need_count,
            "[**{n}**]({needs}) of [{all} students]({students}) needs attention.",
            "[**{n}**]({needs}) of [{all} students]({students}) need attention.",
            all = self.student_count,
            needs = self.needs_href,
            students = self.students_href,
        );
        if self.behind_count == 0 {
            return needs.0;
        }
        let behind = rich_plural!(
            self.behind_count,
            "[**{n}**]({behind}) of them is behind the pace of the daily goal.",
            "[**{n}**]({behind}) of them are behind the pace of the daily goal.",
            behind = self.behind_href,
        );
        format!("{needs} {behind}")
    }
}
