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

/// The score after an answer, 0 to 100, for a policy that scores by steps. Under one that scores by
/// share, which no single answer decides, the score stays.
pub fn score_after(policy: &Policy, score: u8, correct: bool) -> u8 {
    match &policy.scoring {
        Scoring::Share => score,
        Scoring::Steps { right, .. } if correct => {
            score.saturating_add(points(right, score)).min(FULL)
        }
        Scoring::Steps { wrong, .. } => score.saturating_sub(points(wrong, score)),
    }
}

/// The points of the step that a score falls into.
fn points(steps: &[Step], score: u8) -> u8 {
    steps.iter().rev().find(|step| step.from <= score).map_or(0, |step| step.points)
}

/// The score of answers in their order, 0 to 100; 0 for none.
pub fn score_of(policy: &Policy, answers: &[Answer]) -> u8 {
    match policy.scoring {
        Scoring::Steps { .. } => {
            answers.iter().fold(0, |score, answer| score_after(policy, score, answer.correct))
        }
        Scoring::Share => {
            let (right, total) = counted(policy, answers);
            let share = (u64::from(right) * 100).checked_div(u64::from(total)).unwrap_or(0);
            u8::try_from(share).expect("a part of the answers is at most 100 %")
        }
    }
}

/// How many answers are right, of how many: by steps every answer counts, by share the last one to
/// each question.
pub fn counted(policy: &Policy, answers: &[Answer]) -> (u32, u32) {
    let mut seen = HashSet::new();
    let last = answers.iter().rev().filter(|answer| match policy.scoring {
        Scoring::Steps { .. } => true,
        Scoring::Share => seen.insert(answer.question),
    });
    last.fold((0, 0), |(right, total), answer| (right + u32::from(answer.correct), total + 1))
}

/// Whether an attempt is complete: at score 100, or with every question of the bank answered.
pub fn is_complete(policy: &Policy, bank: &Bank, log: &Log) -> bool {
    match policy.scoring {
        Scoring::Steps { .. } => score_of(policy, &log.answers) == FULL,
        Scoring::Share => log.asked(bank).into_iter().all(|times| times > 0),
    }
}

/// What a complete attempt earns: `correct` of `total` answers right in the attempt of that number,
/// from 1, on a lesson worth `base_xp`. Gates compare whole numbers: 7999 of 10000 are below 80 %.
/// Without a question nothing is earned.
pub fn credit(policy: &Policy, base_xp: f64, attempt: u32, correct: u32, total: u32) -> Credit {
    let reaches = |percent: u8| {
        total > 0 && u64::from(correct) * 100 >= u64::from(percent) * u64::from(total)
    };
    let row = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    let gates = policy.xp.get(row).or(policy.xp.last());
    let gate = gates.and_then(|gates| gates.iter().find(|gate| reaches(gate.from)));
    let multiplier = gate.map_or(0.0, |gate| gate.multiplier);
    // An attempt that goes by steps is complete when its score is full, however long that took.
    let is_stepped = matches!(policy.scoring, Scoring::Steps { .. });
    let mastered = reaches(if is_stepped { 0 } else { policy.mastery });
    Credit { xp: base_xp * multiplier, multiplier, accuracy: accuracy(correct, total), mastered }
}

/// The percentage of right answers, cut to two decimals; 0 where there are none.
pub fn accuracy(correct: u32, total: u32) -> f64 {
    let hundredths = (u64::from(correct) * 10_000).checked_div(u64::from(total)).unwrap_or(0);
    let hundredths = u32::try_from(hundredths).expect("a part of the answers is at most 100 %");
    f64::from(hundredths) / 100.0
}
