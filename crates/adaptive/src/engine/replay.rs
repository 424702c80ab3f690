//! Attempts of the past, once more: under their own policy, or under another one.

use serde::Serialize;

use super::{
    Bank, Choice, Credit, Log, accuracy, counted, credit, is_complete, next, score_of, stream,
};
use crate::{Policy, Scoring};

/// All that decided about an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The seed of its lots.
    pub seed: u64,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The XP of the lesson.
    pub base_xp: f64,
    /// The questions that there were.
    pub bank: Bank,
    /// Former attempts' counts, and the answers in their order.
    pub log: Log,
}

/// An attempt as it goes under a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// What each answer met and did; by steps up to where the attempt is complete.
    pub steps: Vec<Replayed>,
    /// The question that would come next; none where the attempt is complete.
    pub next: Option<Choice>,
    /// How it ended.
    pub outcome: Outcome,
}

/// One answer of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// The choice of the policy at this point. Under the attempt's own policy that is the question
    /// which was answered; under another one it may differ. None where every question of a test was
    /// answered and an answer is changed.
    pub choice: Option<Choice>,
    /// The question that was answered, by its place in the bank.
    pub answered: u32,
    /// Whether the answer was right.
    pub correct: bool,
    /// The score before it.
    pub before: u8,
    /// The score after it.
    pub after: u8,
}

/// How an attempt ended, or stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The answers that count and were scored: every one by steps, the last to each question of a test.
    pub questions: u32,
    /// How many of them were right.
    pub correct: u32,
    /// The score, 0 to 100: points, or the accuracy of a test with two decimals.
    pub score: f64,
    /// What it earned; none where it is not complete.
    pub credit: Option<Credit>,
}

/// What another policy would have made of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Under the former policy.
    pub old: Outcome,
    /// Under the new one.
    pub new: Outcome,
}

/// Replays an attempt under a policy. The answers stay what they were, in their order; those after
/// the score is 100 do not count.
pub fn replay(policy: &Policy, past: &Past) -> Replay {
    let Past { seed, bank, .. } = past;
    let mut log = Log { earlier: past.log.earlier.clone(), answers: Vec::new() };
    let mut steps = Vec::new();
    let choose = |log: &Log| next(policy, bank, log, &mut stream(*seed, log.answers.len()));
    let mut choice = choose(&log);
    for answer in &past.log.answers {
        if matches!(policy.scoring, Scoring::Steps { .. }) && is_complete(policy, bank, &log) {
            break;
        }
        let before = score_of(policy, &log.answers);
        log.answers.push(*answer);
        let after = score_of(policy, &log.answers);
        let (answered, correct) = (answer.question, answer.correct);
        steps.push(Replayed { choice, answered, correct, before, after });
        choice = choose(&log);
    }
    let counts = counted(policy, &log.answers);
    let score = match policy.scoring {
        Scoring::Steps { .. } => f64::from(score_of(policy, &log.answers)),
        Scoring::Share => accuracy(&counts),
    };
    let is_scored = matches!(policy.scoring, Scoring::Steps { .. }) || counts.pending == 0;
    let credit = (is_scored && is_complete(policy, bank, &log))
        .then(|| credit(policy, past.base_xp, past.attempt, &counts));
    let (questions, correct) = (counts.total, counts.correct);
    Replay { steps, next: choice, outcome: Outcome { questions, correct, score, credit } }
}

/// What an attempt came to under its own policy, and what it would have come to under another.
pub fn simulate(old: &Policy, new: &Policy, past: &Past) -> Change {
    Change { old: replay(old, past).outcome, new: replay(new, past).outcome }
}
