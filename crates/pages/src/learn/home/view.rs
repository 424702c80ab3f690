//! The home of a student.

use askama::Template;
use lyceum_console::chart::Svg;

use crate::learn::view::StudentFrame;

/// A lesson in a list.
#[derive(Debug)]
pub(crate) struct LessonLine {
    /// The title.
    pub title: String,
    /// The page; empty if the lesson cannot be opened.
    pub href: String,
    /// The sort of the lesson, such as `Practice`.
    pub kind: String,
    /// Further words, such as the day until which it is open.
    pub about: String,
    /// How far the student is, in words.
    pub state: String,
    /// The tone of the state: `good`, `warn` or none.
    pub tone: &'static str,
    /// Whether the student started it and is not done.
    pub is_started: bool,
}

/// A unit of a course.
#[derive(Debug)]
pub(crate) struct UnitLines {
    /// The title.
    pub title: String,
    /// The number of lessons that are done.
    pub done: usize,
    /// Whether the list is unfolded at first.
    pub is_open: bool,
    /// The lessons.
    pub lessons: Vec<LessonLine>,
}

/// A course.
#[derive(Debug)]
pub(crate) struct CourseLines {
    /// The title.
    pub title: String,
    /// The number of lessons that are done.
    pub done: usize,
    /// The number of lessons.
    pub total: usize,
    /// The units.
    pub units: Vec<UnitLines>,
}

/// Today's XP in a subject.
#[derive(Debug)]
pub(crate) struct SubjectRing {
    /// The subject.
    pub subject: String,
    /// XP against the daily goal.
    pub ring: Svg,
    /// The same in words.
    pub description: String,
}

/// An app that the student may open.
#[derive(Debug)]
pub(crate) struct AppLine {
    /// The name.
    pub name: String,
    /// The emoji; empty if it has none.
    pub emoji: String,
    /// The page on which it is played.
    pub href: String,
}

/// A badge of the student.
#[derive(Debug)]
pub(crate) struct BadgeLine {
    /// The title.
    pub title: String,
    /// The day from which it is valid.
    pub day: String,
    /// Its public page.
    pub href: String,
    /// The address of its picture.
    pub image: String,
}

/// The first page of a student.
#[derive(Template)]
#[template(path = "learn/home/home.html")]
pub(crate) struct StudentHomePage {
    /// The frame.
    pub frame: StudentFrame,
    /// The lesson to go on with, if there is one.
    pub next: Option<LessonLine>,
    /// A ring for each subject.
    pub rings: Vec<SubjectRing>,
    /// The days in a row with work, in words.
    pub streak: String,
    /// XP on each of the last seven days.
    pub week: Svg,
    /// The same in words.
    pub week_text: String,
    /// Assigned tests.
    pub assigned: Vec<LessonLine>,
    /// Apps of the student's classes.
    pub apps: Vec<AppLine>,
    /// The courses.
    pub courses: Vec<CourseLines>,
    /// The badges.
    pub badges: Vec<BadgeLine>,
}
