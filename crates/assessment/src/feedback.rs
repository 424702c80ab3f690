//! Feedback on lessons and questions.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits;
use crate::repository;

pub use crate::repository::feedback::{Feedback, FeedbackSubject};

/// The feedback on a lesson as clients read it: the newest, and all of it beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LessonFeedback")]
pub struct OnLesson {
    /// The newest feedback on the lesson itself; if there is none, the newest on one of its questions.
    #[serde(flatten)]
    pub newest: Feedback,
    /// The newest on lesson and questions, the newest first.
    pub all: Vec<Feedback>,
}

/// Feedback as it is sent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FeedbackInput")]
pub struct NewFeedback {
    /// The user who gives the feedback.
    #[schemars(length(min = 1, max = limits::QTI_IDENTIFIER_MAX_CHARS))]
    user_id: String,
    /// The lesson.
    #[schemars(length(min = 1, max = limits::QTI_IDENTIFIER_MAX_CHARS))]
    lesson_id: String,
    /// The question, if it is about one.
    #[schemars(length(min = 1, max = limits::QTI_IDENTIFIER_MAX_CHARS))]
    question_id: Option<String>,
    /// The text.
    #[schemars(length(min = 1, max = limits::FEEDBACK_MAX_CHARS))]
    feedback: String,
    /// Whether a person approved it.
    human_approved: Option<bool>,
}

/// Keeps feedback.
pub fn submit(
    tx: &mut Tx<'_>,
    now: Timestamp,
    about: FeedbackSubject,
    new: &NewFeedback,
) -> Result<Feedback> {
    let NewFeedback { user_id, lesson_id, question_id, feedback, human_approved } = new.clone();
    let id = Uuid::now_v7().to_string();
    let created_at = now.to_string();
    let stored = Feedback {
        id,
        about,
        lesson_id,
        question_id,
        user_id,
        feedback,
        human_approved,
        created_at,
    };
    repository::append(tx, &stored)?;
    Ok(stored)
}

/// The feedback on a lesson. Errors: `NotFound` if there is none.
pub fn of_lesson(tx: &mut Tx<'_>, lesson: &str) -> Result<OnLesson> {
    let most = i64::try_from(limits::FEEDBACK_SHOWN_COUNT).unwrap_or(i64::MAX);
    let all = repository::newest(tx, lesson, most)?;
    let own = all.iter().find(|one| one.about == FeedbackSubject::Lesson);
    match own.or(all.first()) {
        Some(newest) => Ok(OnLesson { newest: newest.clone(), all }),
        None => Err(Problem::new(
            ProblemKind::NotFound,
            message!("there is no feedback on the lesson '{lesson}'"),
        )),
    }
}

/// Deletes the feedback with that id, or all feedback on the lesson with that id. Returns whether it existed.
pub fn delete(tx: &mut Tx<'_>, id: &str) -> Result<bool> {
    Ok(repository::remove(tx, id)? > 0)
}
