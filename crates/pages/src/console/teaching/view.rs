//! The forms with which a guide does something for one student or a class.

use askama::Template;
use askama::filters::HtmlSafe;

/// A course to choose, with its lessons.
pub(crate) struct CourseChoice {
    /// The sourcedId.
    pub id: String,
    /// The title.
    pub title: String,
    /// The sourcedId and title of each lesson.
    pub lessons: Vec<(String, String)>,
}

/// Forms that assign, leave out and reset lessons, set a daily goal, and give extra time. Templates write `{{ teaching }}`.
#[derive(Template)]
#[template(path = "console/teaching/teaching.html")]
pub(crate) struct TeachingForms {
    /// The token of the forms.
    pub token: String,
    /// The address to which the forms are sent.
    pub path: String,
    /// For whom it is done, such as "all students of this class".
    pub whom: String,
    /// The courses.
    pub courses: Vec<CourseChoice>,
    /// The subjects with tests to assign.
    pub subjects: Vec<String>,
    /// The grades with tests to assign.
    pub grades: Vec<String>,
    /// The extra time to set.
    pub extra_time: ExtraTimeFields,
    /// A sentence about the action that was carried out just now.
    pub done: Option<String>,
}

/// The fields of the form that sets extra time.
pub(crate) struct ExtraTimeFields {
    /// Whether the form shows the extra time that a student has. For a class, the guide must choose.
    pub is_of_student: bool,
    /// The factors to choose from: the value of the field, its text, and whether the student has it.
    pub factors: Vec<(String, String, bool)>,
    /// The minutes that the student has in addition; 0 for none.
    pub minutes: i64,
}

impl HtmlSafe for TeachingForms {}

impl TeachingForms {
    fn has_lessons(&self) -> bool {
        self.courses.iter().any(|course| !course.lessons.is_empty())
    }
}
