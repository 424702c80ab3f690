//! Replies to students' answers.

use lyceum_assessment::Chosen;
use lyceum_core::time::Timestamp;
use lyceum_roster::record::Object;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::LessonType;
use crate::answer::AcceptedAnswer;

/// The reply to an answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum AnswerReply {
    /// The result, in a lesson whose questions depend on the score.
    Stepped(Box<AnswerResult>),
    /// A receipt, in a lesson that is shown whole.
    Whole {
        /// The type of the lesson.
        lesson_type: LessonType,
        /// The accepted answer.
        question_result: AnswerReceipt,
    },
}

/// The answer that was received.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerReceipt {
    /// The question's id.
    pub question: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// When it was received.
    pub answered_at: Timestamp,
}

/// The result of an answer in a lesson whose questions depend on the score.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerResult {
    /// The type of the lesson.
    pub lesson_type: LessonType,
    /// The score of the attempt, 0 to 100.
    pub powerpath_score: f64,
    /// The result of the answer.
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

/// The result of an answer, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "stored results are shown as they are")]
struct ResponseResult {
    /// Whether it was right.
    is_correct: bool,
    /// The outcomes of the item's own scoring.
    score: f64,
    /// The outcome that chose the first feedback that is shown, and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<Chosen>,
    /// All feedback to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedbacks: Option<Vec<Map<String, Value>>>,
    /// All outcomes by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<Map<String, Value>>,
}

impl From<AcceptedAnswer> for AnswerReply {
    fn from(accepted: AcceptedAnswer) -> Self {
        let AcceptedAnswer { attempt, question, answered, results, .. } = accepted;
        let lesson_type = attempt.lesson_type;
        let Some([question_result, test_result]) = results else {
            let attempt = attempt.number;
            let question_result = AnswerReceipt { question, attempt, answered_at: answered.at };
            return Self::Whole { lesson_type, question_result };
        };
        let mut response_result = answered.result;
        response_result["isCorrect"] = answered.correct.into();
        Self::Stepped(Box::new(AnswerResult {
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
