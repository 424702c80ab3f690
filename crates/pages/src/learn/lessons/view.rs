//! The page on which a student works through a lesson.

use askama::Template;
use lyceum_console::assets;

use crate::learn::view::StudentFrame;

/// The page of a lesson. Its script reads the lesson from the API.
#[derive(Template)]
#[template(path = "learn/lessons/lesson.html")]
pub(crate) struct LessonPage {
    /// The frame, with the title of the lesson.
    pub frame: StudentFrame,
    /// The title of the course.
    pub course: String,
    /// The lesson's sourcedId.
    pub id: String,
}

impl LessonPage {
    fn style() -> Option<String> {
        assets::address("lesson.css")
    }

    fn script() -> Option<String> {
        assets::address("lesson.js")
    }
}
