//! Replies to students' answers.

use lyceum_assessment::Chosen;
use lyceum_core::time::Timestamp;
use lyceum_roster::record::Object;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::LessonType;
use crate::answer::TakenAnswer;

/// The reply to an answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[schemars(rename = "AnswerReply")]
pub enum Reply {
    /// The result, in a lesson whose questions depend on the score.
    Stepped(Box<Stepped>),
    /// A receipt, in a lesson that is shown whole.
    Whole {
        /// The type of the lesson.
        lesson_type: LessonType,
        /// The accepted answer.
        question_result: Receipt,
    },
}

/// Which answer was taken.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AnswerReceipt")]
pub struct Receipt {
    /// The question's id.
    pub question: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// When it arrived.
    pub answered_at: Timestamp,
}

/// What came of an answer in a lesson whose questions follow the score.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AnswerResult")]
pub struct Stepped {
    /// What sort of lesson it is.
    pub lesson_type: LessonType,
    /// The score of the attempt, 0 to 100.
    pub powerpath_score: f64,
    /// What came of the answer.
    #[schemars(with = "ResponseResult")]
    pub response_result: Value,
    /// The percentage of correct answers so far, cut to two decimals.
    pub accuracy: f64,
    /// The number of correct answers so far.
    pub correct_questions: u32,
    /// The number of answers so far.
    pub total_questions: u32,
    /// The XP that the attempt earned, if it is complete.
    pub xp: Option<f64>,
    /// The multiplier of the lesson's XP, if it is complete.
    pub multiplier: Option<f64>,
    /// The assessment result of the question.
    pub question_result: Option<Object>,
    /// The assessment result of the attempt.
    pub test_result: Option<Object>,
}

/// What came of an answer, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "stored results are shown as they are")]
struct ResponseResult {
    /// Whether it was right.
    is_correct: bool,
    /// What the item's own scoring said.
    score: f64,
    /// The outcome that chose the first feedback that is shown, and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<Chosen>,
    /// Every feedback that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedbacks: Option<Vec<Map<String, Value>>>,
    /// Every outcome by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<Map<String, Value>>,
}

impl From<TakenAnswer> for Reply {
    fn from(taken: TakenAnswer) -> Self {
        let TakenAnswer { attempt, question, answered, results, .. } = taken;
        let lesson_type = attempt.lesson_type;
        let Some([question_result, test_result]) = results else {
            let attempt = attempt.number;
            let question_result = Receipt { question, attempt, answered_at: answered.at };
            return Self::Whole { lesson_type, question_result };
        };
        let mut response_result = answered.result;
        response_result["isCorrect"] = answered.correct.into();
        Self::Stepped(Box::new(Stepped {
            lesson_type,
            powerpath_score: attempt.score,
            response_result,
            accuracy: attempt.accuracy(),
            correct_questions: attempt.correct,
            total_questions: attempt.total,
            xp: attempt.xp,
            multiplier: attempt.multiplier,
            question_result,
            test_result,
        }))
    }
}
