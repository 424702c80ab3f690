//! What answers score and earn.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Answer, Bank, Log};
use crate::{Policy, Scoring, Step};

/// The score at which an attempt that goes by steps is complete.
const FULL: u8 = 100;

/// What a complete attempt earns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// The XP: those of the lesson times the multiplier.
    pub xp: f64,
    /// What the accuracy earns in an attempt of that number.
    pub multiplier: f64,
    /// The percentage of right answers, cut to two decimals: 11 of 12 are 91.66.
    pub accuracy: f64,
    /// Whether the lesson counts as mastered.
    pub mastered: bool,
}

/// The share of an answer that is right, in millionths.
pub const WHOLE: u32 = 1_000_000;

/// What answers came to, without those that wait for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The shares together, in millionths.
    pub earned: u64,
    /// The answers that are right.
    pub correct: u32,
    /// The answers that were scored.
    pub total: u32,
    /// The answers that wait for a person.
    pub pending: u32,
}

impl Counts {
    /// So many right answers of so many, the others wrong.
    pub fn of(correct: u32, total: u32) -> Self {
        Self { earned: u64::from(correct) * u64::from(WHOLE), correct, total, pending: 0 }
    }

    /// With one answer more, of that share.
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

    /// Whether that percentage of the full score is reached; never without an answer.
    fn reach(&self, percent: u8) -> bool {
        let least = u128::from(percent) * u128::from(self.total) * u128::from(WHOLE);
        self.total > 0 && u128::from(self.earned) * 100 >= least
    }
}

/// The score after an answer of a share, 0 to 100, for a policy that scores by steps: a part of the full
/// score moves it by that part of the step up and the rest of the step down, rounded. An answer that waits
/// for a person moves nothing. Under a policy that scores by share, which no single answer decides, the
/// score stays.
pub fn score_after(policy: &Policy, score: u8, share: Option<u32>) -> u8 {
    let (Scoring::Steps { right, wrong }, Some(share)) = (&policy.scoring, share) else {
        return score;
    };
    let (share, whole) = (i64::from(share.min(WHOLE)), i64::from(WHOLE));
    let up = i64::from(points(right, score)) * share;
    let down = i64::from(points(wrong, score)) * (whole - share);
    let moved = (up - down + whole / 2).div_euclid(whole);
    let after = (i64::from(score) + moved).clamp(0, i64::from(FULL));
    u8::try_from(after).expect("held within 0 to 100")
}

/// The points of the step that a score falls into.
fn points(steps: &[Step], score: u8) -> u8 {
    steps.iter().rev().find(|step| step.from <= score).map_or(0, |step| step.points)
}

/// The score of answers in their order, 0 to 100; 0 for none.
pub fn score_of(policy: &Policy, answers: &[Answer]) -> u8 {
    match policy.scoring {
        Scoring::Steps { .. } => {
            answers.iter().fold(0, |score, answer| score_after(policy, score, answer.share))
        }
        Scoring::Share => {
            let Counts { earned, total, .. } = counted(policy, answers);
            let whole = u64::from(total) * u64::from(WHOLE);
            let share = (earned * 100).checked_div(whole).unwrap_or(0);
            u8::try_from(share).expect("a part of the answers is at most 100 %")
        }
    }
}

/// What answers came to: by steps every answer counts, by share the last one to each question.
pub fn counted(policy: &Policy, answers: &[Answer]) -> Counts {
    let mut seen = HashSet::new();
    let last = answers.iter().rev().filter(|answer| match policy.scoring {
        Scoring::Steps { .. } => true,
        Scoring::Share => seen.insert(answer.question),
    });
    last.fold(Counts::default(), |counts, answer| counts.and(answer.share))
}

/// Whether an attempt is complete: at score 100, or with every question of the bank answered.
pub fn is_complete(policy: &Policy, bank: &Bank, log: &Log) -> bool {
    match policy.scoring {
        Scoring::Steps { .. } => score_of(policy, &log.answers) == FULL,
        Scoring::Share => log.asked(bank).into_iter().all(|times| times > 0),
    }
}

/// What a complete attempt earns by its answers, in the attempt of that number, from 1, on a lesson worth
/// `base_xp`. Gates compare whole numbers: 7999 of 10000 are below 80 %. Without a question nothing is earned.
pub fn credit(policy: &Policy, base_xp: f64, attempt: u32, counts: &Counts) -> Credit {
    let row = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    let gates = policy.xp.get(row).or(policy.xp.last());
    let gate = gates.and_then(|gates| gates.iter().find(|gate| counts.reach(gate.from)));
    let multiplier = gate.map_or(0.0, |gate| gate.multiplier);
    // An attempt that goes by steps is complete when its score is full, however long that took.
    let is_stepped = matches!(policy.scoring, Scoring::Steps { .. });
    let mastered = counts.reach(if is_stepped { 0 } else { policy.mastery });
    Credit { xp: base_xp * multiplier, multiplier, accuracy: accuracy(counts), mastered }
}

/// The percentage of the full score, cut to two decimals; 0 where there are no answers.
pub fn accuracy(counts: &Counts) -> f64 {
    let whole = u128::from(counts.total) * u128::from(WHOLE);
    let hundredths = (u128::from(counts.earned) * 10_000).checked_div(whole).unwrap_or(0);
    let hundredths = u32::try_from(hundredths).expect("a part of the answers is at most 100 %");
    f64::from(hundredths) / 100.0
}
