//! The rows of feedback.

use lyceum_core::Result;
use lyceum_store::{Row, Tx};
use schemars::JsonSchema;
use serde::Serialize;

/// Stored feedback of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// Its id, which the server generates.
    pub id: String,
    /// Its subject.
    #[serde(rename = "type")]
    pub about: FeedbackSubject,
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

/// The subject of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "FeedbackSubject")]
pub enum FeedbackSubject {
    /// A whole lesson.
    Lesson,
    /// A question of a lesson.
    Question,
}

impl FeedbackSubject {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lesson => "LESSON",
            Self::Question => "QUESTION",
        }
    }

    pub(crate) fn from_name(name: &str) -> Self {
        if name == "QUESTION" { Self::Question } else { Self::Lesson }
    }
}

const COLUMNS: &str =
    "id, kind, lesson_id, question_id, user_id, human_approved, created_at, feedback";

fn feedback(row: &Row<'_>) -> Result<Feedback> {
    let text = |column| row.text(column).map(str::to_owned);
    Ok(Feedback {
        id: text(0)?,
        about: FeedbackSubject::from_name(row.text(1)?),
        lesson_id: text(2)?,
        question_id: row.opt_text(3)?.map(str::to_owned),
        user_id: text(4)?,
        human_approved: row.opt_int(5)?.map(|approved| approved != 0),
        created_at: text(6)?,
        feedback: text(7)?,
    })
}

/// Stores feedback.
pub(crate) fn append(tx: &mut Tx<'_>, feedback: &Feedback) -> Result<()> {
    let sql = format!(
        "INSERT INTO assessment_feedback ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    );
    tx.send(
        &sql,
        &[
            (&feedback.id).into(),
            feedback.about.name().into(),
            (&feedback.lesson_id).into(),
            feedback.question_id.as_deref().into(),
            (&feedback.user_id).into(),
            feedback.human_approved.map(i64::from).into(),
            (&feedback.created_at).into(),
            (&feedback.feedback).into(),
        ],
    )
}

/// The feedback on a lesson and its questions, newest first.
pub(crate) fn newest(tx: &mut Tx<'_>, lesson: &str, most: i64) -> Result<Vec<Feedback>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM assessment_feedback WHERE lesson_id = $1 ORDER BY seq DESC LIMIT $2"
    );
    let mut all = Vec::new();
    tx.query(&sql, &[lesson.into(), most.into()], |row| {
        all.push(feedback(row)?);
        Ok(true)
    })?;
    Ok(all)
}

/// Deletes the feedback with that id, and all feedback on the lesson with that id. Returns their number.
pub(crate) fn remove(tx: &mut Tx<'_>, id: &str) -> Result<u64> {
    tx.execute("DELETE FROM assessment_feedback WHERE id = $1 OR lesson_id = $1", &[id.into()])
}
