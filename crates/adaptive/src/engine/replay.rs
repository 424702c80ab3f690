//! Replays past attempts under their own policy, or under another one.

use serde::Serialize;

use super::{
    AnswerLog, Credit, EngineQuestions, QuestionChoice, accuracy, counted, credit, is_complete,
    next, score_of, stream,
};
use crate::{Policy, Scoring};

/// Everything that determines an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptHistory {
    /// The seed of its random choices.
    pub seed: u64,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The XP of the lesson.
    pub base_xp: f64,
    /// The questions.
    pub bank: EngineQuestions,
    /// The counts of earlier attempts, and the answers in order.
    pub log: AnswerLog,
}

/// The course of an attempt under a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// The steps of all answers. If scoring is by steps, they end where the attempt is complete.
    pub steps: Vec<ReplayedAnswer>,
    /// The question that would come next; `None` if the attempt is complete.
    pub next: Option<QuestionChoice>,
    /// The result.
    pub outcome: ReplayedResult,
}

/// An answer of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedAnswer {
    /// The policy's choice at this point. Under the attempt's own policy, that is the answered question; under
    /// another one, it may differ. `None` if every question of a test was answered and an answer is changed.
    pub choice: Option<QuestionChoice>,
    /// The question that was answered, by its place in the bank.
    pub answered: u32,
    /// Whether the answer was correct.
    pub correct: bool,
    /// The score before it.
    pub before: u8,
    /// The score after it.
    pub after: u8,
}

/// The result of an attempt, or its current state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedResult {
    /// The number of scored answers that count: all of them if scoring is by steps, and the last one to each question
    /// of a test.
    pub questions: u32,
    /// How many of them were correct.
    pub correct: u32,
    /// The score, 0 to 100: points, or a test's accuracy with two decimals.
    pub score: f64,
    /// The reward of the attempt; `None` if it is not complete.
    pub credit: Option<Credit>,
}

/// An attempt's result under two policies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResultChange {
    /// Under the old policy.
    pub old: ReplayedResult,
    /// Under the new one.
    pub new: ReplayedResult,
}

/// Replays an attempt under a policy, with its answers in their order. Answers after the score of 100 do not count.
pub fn replay(policy: &Policy, past: &AttemptHistory) -> Replay {
    let AttemptHistory { seed, bank, .. } = past;
    let mut log = AnswerLog { earlier: past.log.earlier.clone(), answers: Vec::new() };
    let mut steps = Vec::new();
    let choose = |log: &AnswerLog| next(policy, bank, log, &mut stream(*seed, log.answers.len()));
    let mut choice = choose(&log);
    for answer in &past.log.answers {
        if matches!(policy.scoring, Scoring::Steps { .. }) && is_complete(policy, bank, &log) {
            break;
        }
        let before = score_of(policy, &log.answers);
        log.answers.push(*answer);
        let after = score_of(policy, &log.answers);
        let (answered, correct) = (answer.question, answer.correct);
        steps.push(ReplayedAnswer { choice, answered, correct, before, after });
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
    Replay { steps, next: choice, outcome: ReplayedResult { questions, correct, score, credit } }
}

/// The result of an attempt under its own policy, and under another one.
pub fn simulate(old: &Policy, new: &Policy, past: &AttemptHistory) -> ResultChange {
    ResultChange { old: replay(old, past).outcome, new: replay(new, past).outcome }
}
