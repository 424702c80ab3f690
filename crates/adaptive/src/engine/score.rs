//! Computes scores and what they earn.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Answer, AnswerLog, EngineQuestions};
use crate::{Policy, ScoreStep, Scoring};

/// The score at which an attempt with scoring by steps is complete.
const FULL: u8 = 100;

/// The XP and mastery of a complete attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// The XP: those of the lesson times the multiplier.
    pub xp: f64,
    /// The multiplier for the accuracy in an attempt with that number.
    pub multiplier: f64,
    /// The percentage of correct answers, cut to two decimals: 11 of 12 are 91.66.
    pub accuracy: f64,
    /// Whether the lesson counts as mastered.
    pub mastered: bool,
}

/// The share of a correct answer, in millionths.
pub const WHOLE: u32 = 1_000_000;

/// Counts of answers. Answers that a person must still score are only counted as pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCounts {
    /// The sum of the shares, in millionths.
    pub earned: u64,
    /// The number of correct answers.
    pub correct: u32,
    /// The number of scored answers.
    pub total: u32,
    /// The number of answers that a person must still score.
    pub pending: u32,
}

impl AnswerCounts {
    /// The counts of `total` answers, of which `correct` are correct and the others wrong.
    pub fn of(correct: u32, total: u32) -> Self {
        Self { earned: u64::from(correct) * u64::from(WHOLE), correct, total, pending: 0 }
    }

    /// The counts with one more answer of that share.
    #[must_use]
    pub fn and(self, share: Option<u32>) -> Self {
        match share {
            None => Self { pending: self.pending + 1, ..self },
            Some(share) => Self {
                earned: self.earned + u64::from(share),
                correct: self.correct + u32::from(share == WHOLE),
                total: self.total + 1,
                ..self
            },
        }
    }

    /// Whether they reach that percentage of the full score. Without an answer, they never do.
    fn reach(&self, percent: u8) -> bool {
        let least = u128::from(percent) * u128::from(self.total) * u128::from(WHOLE);
        self.total > 0 && u128::from(self.earned) * 100 >= least
    }
}

/// The score after an answer with a share, 0 to 100, if the policy scores by steps. A part of the full score moves
/// the score by that part of the step up and by the rest of the step down, rounded. An answer that a person must
/// still score changes nothing. If the policy scores by share, the score stays, because a single answer does not
/// determine it.
pub fn score_after(policy: &Policy, score: u8, share: Option<u32>) -> u8 {
    let (Scoring::Steps { right, wrong }, Some(share)) = (&policy.scoring, share) else {
        return score;
    };
    let (share, whole) = (i64::from(share.min(WHOLE)), i64::from(WHOLE));
    let up = i64::from(points(right, score)) * share;
    let down = i64::from(points(wrong, score)) * (whole - share);
    let moved = (up - down + whole / 2).div_euclid(whole);
    let after = (i64::from(score) + moved).clamp(0, i64::from(FULL));
    u8::try_from(after).expect("the score is limited to 0 to 100")
}

/// The points of the step that contains a score.
fn points(steps: &[ScoreStep], score: u8) -> u8 {
    steps.iter().rev().find(|step| step.from <= score).map_or(0, |step| step.points)
}

/// The score of answers in order, 0 to 100; 0 without answers.
pub fn score_of(policy: &Policy, answers: &[Answer]) -> u8 {
    match policy.scoring {
        Scoring::Steps { .. } => {
            answers.iter().fold(0, |score, answer| score_after(policy, score, answer.share))
        }
        Scoring::Share => {
            let AnswerCounts { earned, total, .. } = counted(policy, answers);
            let whole = u64::from(total) * u64::from(WHOLE);
            let share = (earned * 100).checked_div(whole).unwrap_or(0);
            u8::try_from(share).expect("a part of the answers is at most 100 %")
        }
    }
}

/// The counts of answers: all of them if the policy scores by steps, otherwise the last one to each question.
pub fn counted(policy: &Policy, answers: &[Answer]) -> AnswerCounts {
    let mut seen = HashSet::new();
    let last = answers.iter().rev().filter(|answer| match policy.scoring {
        Scoring::Steps { .. } => true,
        Scoring::Share => seen.insert(answer.question),
    });
    last.fold(AnswerCounts::default(), |counts, answer| counts.and(answer.share))
}

/// Whether an attempt is complete: at score 100, or when every question of the bank is answered.
pub fn is_complete(policy: &Policy, bank: &EngineQuestions, log: &AnswerLog) -> bool {
    match policy.scoring {
        Scoring::Steps { .. } => score_of(policy, &log.answers) == FULL,
        Scoring::Share => log.counts_by_question(bank).into_iter().all(|times| times > 0),
    }
}

/// The reward of a complete attempt with these answers. `attempt` is its number, from 1, and `base_xp` are the lesson's
/// XP. Gates compare exact numbers: 7999 of 10000 are below 80 %. An attempt without questions earns nothing.
pub fn credit(policy: &Policy, base_xp: f64, attempt: u32, counts: &AnswerCounts) -> Credit {
    let row = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    let gates = policy.xp.get(row).or(policy.xp.last());
    let gate = gates.and_then(|gates| gates.iter().find(|gate| counts.reach(gate.from)));
    let multiplier = gate.map_or(0.0, |gate| gate.multiplier);
    // An attempt with scoring by steps is complete when its score is full, whatever its accuracy.
    let is_stepped = matches!(policy.scoring, Scoring::Steps { .. });
    let mastered = counts.reach(if is_stepped { 0 } else { policy.mastery });
    Credit { xp: base_xp * multiplier, multiplier, accuracy: accuracy(counts), mastered }
}

/// The percentage of the full score, cut to two decimals; 0 without answers.
pub fn accuracy(counts: &AnswerCounts) -> f64 {
    let whole = u128::from(counts.total) * u128::from(WHOLE);
    let hundredths = (u128::from(counts.earned) * 10_000).checked_div(whole).unwrap_or(0);
    let hundredths = u32::try_from(hundredths).expect("a part of the answers is at most 100 %");
    f64::from(hundredths) / 100.0
}

/// A share of the full score, from 0 to 1, in millionths. Rounding never turns a part into the whole.
pub(crate) fn millionths(share: f64) -> u32 {
    if share >= 1.0 {
        return WHOLE;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1")]
    let part = (share.max(0.0) * f64::from(WHOLE)).round() as u32;
    part.min(WHOLE - 1)
}
