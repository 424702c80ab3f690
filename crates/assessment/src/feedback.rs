//! Feedback on lessons and questions.

use lyceum_core::messages::{MUST_BE_BOOLEAN, too_long};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::body::{Object, text};
use crate::repository;

/// The subject of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum About {
    /// A whole lesson.
    Lesson,
    /// A question of a lesson.
    Question,
}

impl About {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lesson => "LESSON",
            Self::Question => "QUESTION",
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        if name == "QUESTION" { Self::Question } else { Self::Lesson }
    }
}

/// Feedback from a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// Its id, which the server generates.
    pub id: String,
    /// Its subject.
    #[serde(rename = "type")]
    pub about: About,
    /// The lesson.
    pub lesson_id: String,
    /// The question; `None` if it is about the whole lesson.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// The person who gave it.
    pub user_id: String,
    /// Its text.
    pub feedback: String,
    /// Whether a person approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_approved: Option<bool>,
    /// When it was given.
    pub created_at: String,
}

/// The feedback on a lesson, as clients read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnLesson {
    /// The newest feedback on the lesson itself; if there is none, the newest on one of its questions.
    #[serde(flatten)]
    pub newest: Feedback,
    /// The newest [`limits::FEEDBACK_SHOWN_COUNT`] on the lesson and its questions, newest first.
    pub all: Vec<Feedback>,
}

/// Stores feedback: `{userId, lessonId, feedback, questionId?, humanApproved?}`. Errors: `Invalid`, with the member's
/// name.
pub fn submit(tx: &mut Tx<'_>, now: Timestamp, about: About, body: &Object) -> Result<Feedback> {
    let said = |name: &str| -> Result<String> {
        let said = text(body, name)?;
        let most = match name {
            "feedback" => limits::FEEDBACK_MAX_BYTES,
            _ => limits::QTI_IDENTIFIER_MAX_BYTES,
        };
        match said.len() > most {
            true => Err(Problem::invalid(name, too_long(most))),
            false => Ok(said.to_owned()),
        }
    };
    let question = body.get("questionId").is_some_and(|question| !question.is_null());
    let human_approved = match body.get("humanApproved") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(approved)) => Some(*approved),
        Some(_) => return Err(Problem::invalid("humanApproved", MUST_BE_BOOLEAN)),
    };
    let given = Feedback {
        id: Uuid::now_v7().to_string(),
        about,
        lesson_id: said("lessonId")?,
        question_id: question.then(|| said("questionId")).transpose()?,
        user_id: said("userId")?,
        feedback: said("feedback")?,
        human_approved,
        created_at: now.to_string(),
    };
    repository::append(tx, &given)?;
    Ok(given)
}

/// The feedback on a lesson. Errors: `NotFound` if there is none.
pub fn of_lesson(tx: &mut Tx<'_>, lesson: &str) -> Result<OnLesson> {
    let most = i64::try_from(limits::FEEDBACK_SHOWN_COUNT).unwrap_or(i64::MAX);
    let all = repository::newest(tx, lesson, most)?;
    let own = all.iter().find(|given| given.about == About::Lesson);
    match own.or(all.first()) {
        Some(newest) => Ok(OnLesson { newest: newest.clone(), all }),
        None => Err(Problem::new(
            ProblemKind::NotFound,
            format!("there is no feedback on the lesson '{lesson}'"),
        )),
    }
}

/// Deletes the feedback with that id, or all feedback on the lesson with that id. Returns whether it existed.
pub fn delete(tx: &mut Tx<'_>, id: &str) -> Result<bool> {
    Ok(repository::remove(tx, id)? > 0)
}
