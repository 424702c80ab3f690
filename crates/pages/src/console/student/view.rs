//! A student: work by subject and day, all answers, and the events behind each number.

use askama::Template;
use lyceum_console::chart::Svg;
use lyceum_console::{Column, Frame, Label, List};

use crate::console::teaching::view::TeachingForms;

/// The daily goal of a subject, drawn as a ring.
#[derive(Debug)]
pub(crate) struct GoalRing {
    /// The subject.
    pub subject: String,
    /// Today's XP against the daily goal.
    pub ring: Svg,
    /// Describes the ring in words.
    pub description: String,
    /// The page that lists the events behind the ring.
    pub href: String,
}

/// The totals of a student in a date range, for one subject or for all subjects.
#[derive(Debug)]
pub(crate) struct StudentTotals {
    /// The subject; empty for all subjects.
    pub subject: String,
    /// The page that lists the events behind the numbers.
    pub href: String,
    /// XP.
    pub xp: String,
    /// Answers.
    pub questions: String,
    /// Correct answers.
    pub correct: String,
    /// The share of correct answers.
    pub accuracy: String,
    /// Mastered units.
    pub units: String,
    /// Active time.
    pub active: String,
    /// Wasted time.
    pub waste: String,
}

/// The columns of the answers.
pub(crate) const ANSWERS: &[Column] = &[
    Column::text("when", "When"),
    Column::text("lesson", "Lesson"),
    Column::number("attempt", "Attempt"),
    Column::text("item", "Item"),
    Column::text("question", "Question"),
    Column::text("given", "Answer given"),
    Column::text("outcome", "Result"),
    Column::number("score", "Lesson score"),
    Column::text("why", "Why it was asked"),
];

/// The columns of an attempt's questions.
pub(crate) const ATTEMPT: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("when", "When"),
    Column::text("question", "Question"),
    Column::text("given", "Answer given"),
    Column::text("correct", "Correct answer"),
    Column::text("outcome", "Result"),
    Column::number("points", "Points"),
    Column::number("score", "Score so far"),
    Column::text("why", "Why it was asked"),
];

/// The page of a student.
#[derive(Template)]
#[template(path = "console/student/student.html")]
pub(crate) struct StudentPage {
    /// The frame.
    pub frame: Frame,
    /// The page for exporting and erasing the student.
    pub person: String,
    /// Grade, school and other facts.
    pub about: Vec<String>,
    /// The reasons to help the student today.
    pub reasons: Vec<Label>,
    /// A ring for each subject.
    pub rings: Vec<GoalRing>,
    /// The date ranges to choose from: the number of days, whether it is selected, and its address.
    pub ranges: Vec<(u32, bool, String)>,
    /// Whether the student worked in the selected range.
    pub has_work: bool,
    /// A chart of XP by day.
    pub xp: Svg,
    /// A chart of active minutes by day.
    pub time: Svg,
    /// The totals of the range for each subject, followed by the totals for all subjects.
    pub totals: Vec<StudentTotals>,
    /// The forms for this student.
    pub teaching: Option<TeachingForms>,
    /// All answers.
    pub answers: List,
}

/// The columns of the events behind a number.
pub(crate) const FACTS: &[Column] = &[
    Column::text("when", "When"),
    Column::text("subject", "Subject"),
    Column::text("app", "App"),
    Column::text("what", "What"),
    Column::number("xp", "XP"),
    Column::number("questions", "Answers"),
    Column::number("correct", "Right"),
    Column::number("units", "Units"),
    Column::number("active", "Active min"),
    Column::number("waste", "Waste min"),
];

/// The page that lists the events behind a number.
#[derive(Template)]
#[template(path = "console/student/student_facts.html")]
pub(crate) struct StudentFactsPage {
    /// The frame.
    pub frame: Frame,
    /// The student's page and name.
    pub student: (String, String),
    /// The days and the subject of the events.
    pub which: String,
    /// The totals of the events.
    pub total: StudentTotals,
    /// The events.
    pub list: List,
}

/// The page of one event as it was sent.
#[derive(Template)]
#[template(path = "console/student/student_event.html")]
pub(crate) struct StudentEventPage {
    /// The frame.
    pub frame: Frame,
    /// The student's page and name.
    pub student: (String, String),
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// The event as JSON.
    pub body: String,
}

/// The page of one attempt at a lesson, question by question.
#[derive(Template)]
#[template(path = "console/student/student_attempt.html")]
pub(crate) struct AttemptPage {
    /// The frame.
    pub frame: Frame,
    /// The student's page and name.
    pub student: (String, String),
    /// The questions.
    pub list: List,
}
