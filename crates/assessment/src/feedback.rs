//! Feedback on lessons and questions.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::body::{Object, text};
use crate::repository;

/// What feedback is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum About {
    /// A lesson as a whole.
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

/// What somebody said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// Its id, given by the server.
    pub id: String,
    /// What it is about.
    #[serde(rename = "type")]
    pub about: About,
    /// The lesson.
    pub lesson_id: String,
    /// The question, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// Who said it.
    pub user_id: String,
    /// What was said.
    pub feedback: String,
    /// Whether a person approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_approved: Option<bool>,
    /// When it was said.
    pub created_at: String,
}

/// The feedback on a lesson as clients read it: the newest, and all of it beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnLesson {
    /// The newest on the lesson itself; where there is none, the newest on one of its questions.
    #[serde(flatten)]
    pub newest: Feedback,
    /// The newest [`limits::FEEDBACK_SHOWN_COUNT`], on lesson and questions, the newest first.
    pub all: Vec<Feedback>,
}

/// Keeps feedback: `{userId, lessonId, feedback, questionId?, humanApproved?}`. Errors: `Invalid`,
/// naming the member.
pub fn submit(tx: &mut Tx<'_>, now: Timestamp, about: About, body: &Object) -> Result<Feedback> {
    let said = |name: &str| -> Result<String> {
        let said = text(body, name)?;
        let most = match name {
            "feedback" => limits::FEEDBACK_MAX_BYTES,
            _ => limits::QTI_IDENTIFIER_MAX_BYTES,
        };
        match said.len() > most {
            true => Err(Problem::invalid(name, format!("has at most {most} bytes"))),
            false => Ok(said.to_owned()),
        }
    };
    let question = body.get("questionId").is_some_and(|question| !question.is_null());
    let human_approved = match body.get("humanApproved") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(approved)) => Some(*approved),
        Some(_) => return Err(Problem::invalid("humanApproved", "must be true or false")),
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

/// The feedback on a lesson. Errors: `NotFound` where there is none.
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

/// Removes the feedback with that id, or all feedback on the lesson with it. Answers whether there
/// was any.
pub fn delete(tx: &mut Tx<'_>, id: &str) -> Result<bool> {
    Ok(repository::remove(tx, id)? > 0)
}
