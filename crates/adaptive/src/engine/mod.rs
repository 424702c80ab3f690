//! The engine: computes the next question and the reason from a policy, a bank, a log and a random stream; scores, XP and
//! mastery; and all of them again from a log. It is pure: the same input gives the same output to the bit, on every machine.

mod choose;
mod replay;
mod score;

use lyceum_core::random::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByDifficulty, Difficulty};

pub use choose::{next, remaining};
pub use replay::{
    AttemptHistory, Replay, ReplayedAnswer, ReplayedResult, ResultChange, replay, simulate,
};
pub(crate) use score::millionths;
pub use score::{
    AnswerCounts, Credit, WHOLE, accuracy, counted, credit, is_complete, score_after, score_of,
};

/// The questions of a lesson, in order. It stays the same during an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineQuestions {
    /// The questions. Logs refer to them by their places, from 0.
    pub questions: Vec<Question>,
}

/// A question, as the engine sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The difficulty that its author set.
    pub difficulty: Difficulty,
    /// Whether a person approved it. It is shown to learners, but does not affect choices.
    pub approved: bool,
    /// Its parameters of item response theory, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// The three parameters of a question (3PL model), which give the chance of a correct answer at an ability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Discrimination: how sharply it distinguishes abilities.
    pub a: f64,
    /// Difficulty: the ability at which it is most informative.
    pub b: f64,
    /// The chance of a correct guess, 0 to 1.
    pub c: f64,
}

/// The data from which the next question is chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerLog {
    /// How often each question, by its place in the bank, was answered in earlier attempts. Places beyond the end
    /// were never answered. It stays the same during an attempt.
    pub earlier: Vec<u32>,
    /// The answers of this attempt, in order.
    pub answers: Vec<Answer>,
}

impl AnswerLog {
    /// How often each question of the bank was answered in this attempt.
    fn counts_by_question(&self, bank: &EngineQuestions) -> Vec<u32> {
        let mut counts = vec![0; bank.questions.len()];
        for answer in &self.answers {
            if let Some(times) = counts.get_mut(answer.question as usize) {
                *times += 1;
            }
        }
        counts
    }
}

/// A scored answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The place of the question in the bank.
    pub question: u32,
    /// Whether it was correct.
    pub correct: bool,
    /// The question's own score.
    pub score: f64,
    /// The share of the full score, in millionths ([`WHOLE`]); `None` while a person must score it.
    pub share: Option<u32>,
}

/// The next question, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionChoice {
    /// The place of the question in the bank.
    pub question: u32,
    /// Why it was chosen.
    pub reason: QuestionReason,
}

/// The reason for choosing a question, by strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "strategy", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum QuestionReason {
    /// It was the first unanswered question in the order of the bank.
    InOrder {
        /// Its position, from 0.
        place: u32,
    },
    /// Its difficulty suits the score.
    Bands {
        /// The score before it.
        score: u8,
        /// The difficulty that the score and the draw selected.
        wanted: Difficulty,
        /// The difficulty of the question.
        served: Difficulty,
        /// The number of questions that the student was never asked, by difficulty.
        unseen: ByDifficulty<u32>,
        /// The random draw.
        draw: QuestionDraw,
        /// Whether it was already asked in this attempt.
        repeated: bool,
        /// How often it was answered in earlier attempts.
        earlier: u32,
    },
}

/// The random draws of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionDraw {
    /// 0 to 99. The share of the band that contains it determines the difficulty.
    pub share: u8,
    /// The chosen candidate, from 0.
    pub pick: u32,
    /// The number of equally good candidates.
    pub of: u32,
}

/// The random stream of one question: the one after `answers` answers in an attempt with this seed. Repeated requests
/// draw the same question, and no draw depends on earlier ones.
pub fn stream(seed: u64, answers: usize) -> RandomStream {
    RandomStream::seeded(mixed(seed, answers as u64))
}

/// Derives the n-th seed from a seed. Neighbouring numbers give unrelated seeds.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    // The finalizer of SplitMix64.
    let mut mixed = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
