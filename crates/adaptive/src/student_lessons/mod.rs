//! Lessons as their student sees them: the student's courses, the state of each lesson, and working through one.
//!
//! A student reaches only the lessons of their courses, of their lesson plans and of their assigned tests. Any other
//! lesson is answered like one that does not exist.
//!
//! What changes a student's work locks the student first, and is for [`lyceum_store::Db::write_with_locks`].

mod answers;
mod courses;
mod done;
mod files;
mod find;
mod kind;
mod question;
mod state;

pub use answers::{
    AnswerReplyDraft, StudentAnswer, StudentAnswerReply, StudentFinish, StudentStart, answer,
    finish, start,
};
pub use courses::{CourseUnit, LessonStanding, StudentCourse, StudentLesson, courses, include_app};
pub use done::mark_done;
pub use files::file;
pub use find::{FoundLesson, find};
pub use kind::{LessonKind, Material};
pub use question::{StudentQuestion, StudentResult};
pub use state::{AttemptView, LessonDraft, LessonMode, LessonView, TimeView, next, open, review};
