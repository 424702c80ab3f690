//! The engine: from a policy, a bank, a log and a random stream to the next question and the reason.
//! Pure: the same input gives the same output to the bit, on every machine.

mod choose;
mod replay;
mod score;

use lyceum_core::random::Stream;
use serde::{Deserialize, Serialize};

use crate::{ByDifficulty, Difficulty};

pub use choose::{next, remaining};
pub use replay::{Change, Outcome, Past, Replay, Replayed, replay, simulate};
pub use score::{
    Counts, Credit, WHOLE, accuracy, counted, credit, is_complete, score_after, score_of,
};

/// The questions of a lesson, in their order. It stays the same for the whole of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bank {
    /// The questions; their places, from 0, are what logs speak of.
    pub questions: Vec<Question>,
}

/// A question as the engine sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// How hard its author says that it is.
    pub difficulty: Difficulty,
    /// Whether a person approved it. Shown to learners; no choice depends on it.
    pub approved: bool,
    /// Its parameters of item response theory, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// The three parameters of a question (3PL): the chance of a right answer at an ability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How sharply it tells abilities apart.
    pub a: f64,
    /// The ability at which it tells the most.
    pub b: f64,
    /// The chance of guessing right, 0 to 1.
    pub c: f64,
}

/// What is known when the next question is chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// How often each question, by its place in the bank, was answered in former attempts; what is
    /// beyond the end was never answered. It stays the same for the whole of an attempt.
    pub earlier: Vec<u32>,
    /// The answers of this attempt, in their order.
    pub answers: Vec<Answer>,
}

impl Log {
    /// How often each question of the bank was answered in this attempt.
    fn asked(&self, bank: &Bank) -> Vec<u32> {
        let mut asked = vec![0; bank.questions.len()];
        for answer in &self.answers {
            if let Some(times) = asked.get_mut(answer.question as usize) {
                *times += 1;
            }
        }
        asked
    }
}

/// An answer that was scored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The place of the question in the bank.
    pub question: u32,
    /// Whether it was right.
    pub correct: bool,
    /// What the question's own scoring said.
    pub score: f64,
    /// The share of the full score, in millionths ([`WHOLE`]); none while a person has to score it.
    pub share: Option<u32>,
}

/// A question, and why it is the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The place of the question in the bank.
    pub question: u32,
    /// Why this one.
    pub reason: Reason,
}

/// Why a question was chosen, by the strategy that chose it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "strategy", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Reason {
    /// It is the first in the order of the bank that was not answered.
    InOrder {
        /// Its place, from 0.
        place: u32,
    },
    /// Its difficulty suits the score.
    Bands {
        /// The score before it.
        score: u8,
        /// The difficulty that the score and the lot called for.
        wanted: Difficulty,
        /// The difficulty of the question.
        served: Difficulty,
        /// The questions that the student was never asked, by difficulty.
        unseen: ByDifficulty<u32>,
        /// How it was drawn.
        draw: Draw,
        /// Whether it was asked in this attempt already.
        repeated: bool,
        /// How often it was answered in former attempts.
        earlier: u32,
    },
}

/// The lots of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// 0 to 99: where it fell among the shares of the band decided about the difficulty.
    pub share: u8,
    /// Which of the candidates, from 0.
    pub pick: u32,
    /// How many questions were equally good.
    pub of: u32,
}

/// The random stream of one question: that of an attempt's seed for the question after `answers`
/// answers. Asking twice before an answer draws the same question, and no draw depends on former ones.
pub fn stream(seed: u64, answers: usize) -> Stream {
    Stream::seeded(mixed(seed, answers as u64))
}

/// A seed for the n-th of something that one seed decides: neighbours get unrelated ones.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    // The finalizer of SplitMix64.
    let mut mixed = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
