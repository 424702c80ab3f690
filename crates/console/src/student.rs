//! One student: what they did, by subject and day, every answer, and the events behind each number.

use askama::Template;

use crate::chart::Svg;
use crate::{Column, Frame, Label, List};

/// A ring of a subject.
#[derive(Debug)]
pub struct Ring {
    /// The subject.
    pub subject: String,
    /// XP of today against the daily goal.
    pub ring: Svg,
    /// The same in words.
    pub says: String,
    /// The events behind it.
    pub href: String,
}

/// What a student did in a range, in a subject or in all.
#[derive(Debug)]
pub struct Total {
    /// The subject; empty in all.
    pub subject: String,
    /// The events behind the numbers.
    pub href: String,
    /// XP.
    pub xp: String,
    /// Answers.
    pub questions: String,
    /// Right ones of them.
    pub correct: String,
    /// Their share.
    pub accuracy: String,
    /// Units that were mastered.
    pub units: String,
    /// Time at work.
    pub active: String,
    /// Time that was wasted.
    pub waste: String,
}

/// The columns of the answers.
pub const ANSWERS: &[Column] = &[
    Column::text("when", "When"),
    Column::text("lesson", "Lesson"),
    Column::number("attempt", "Attempt"),
    Column::text("question", "Question"),
    Column::text("outcome", "Answer"),
    Column::number("score", "Lesson score"),
    Column::text("why", "Why it was asked"),
];

/// The columns of an attempt's questions.
pub const ATTEMPT: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("when", "When"),
    Column::text("question", "Question"),
    Column::text("given", "Given"),
    Column::text("outcome", "Answer"),
    Column::number("points", "Points"),
    Column::number("score", "Score so far"),
    Column::text("why", "Why it was asked"),
];

/// The page.
#[derive(Template)]
#[template(path = "student.html")]
pub struct Student {
    /// The frame.
    pub frame: Frame,
    /// The sourcedId.
    pub id: String,
    /// Grade, school and the like.
    pub about: Vec<String>,
    /// What the rules of today say.
    pub reasons: Vec<Label>,
    /// A ring a subject.
    pub rings: Vec<Ring>,
    /// Days that are looked at, and whether they are chosen, each with its address.
    pub ranges: Vec<(u32, bool, String)>,
    /// Whether anything was done in the days that are shown.
    pub has_work: bool,
    /// XP by day.
    pub xp: Svg,
    /// Minutes at work by day.
    pub time: Svg,
    /// The range, subject by subject, and all of them at last.
    pub totals: Vec<Total>,
    /// Every answer.
    pub answers: List,
}

/// The columns of the events behind a number.
pub const FACTS: &[Column] = &[
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

/// The events behind a number.
#[derive(Template)]
#[template(path = "student_facts.html")]
pub struct Facts {
    /// The frame.
    pub frame: Frame,
    /// The student's page and name.
    pub student: (String, String),
    /// Which events: days and subject.
    pub which: String,
    /// What they add up to.
    pub total: Total,
    /// The events.
    pub list: List,
}

/// One event as it was sent.
#[derive(Template)]
#[template(path = "student_event.html")]
pub struct Event {
    /// The frame.
    pub frame: Frame,
    /// The student's page and name.
    pub student: (String, String),
    /// What is known of it.
    pub facts: Vec<(&'static str, String)>,
    /// Its JSON.
    pub body: String,
}

/// One attempt at a lesson, question by question.
#[derive(Template)]
#[template(path = "student_attempt.html")]
pub struct Attempt {
    /// The frame.
    pub frame: Frame,
    /// The student's page and name.
    pub student: (String, String),
    /// The questions.
    pub list: List,
}
