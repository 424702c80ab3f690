//! Banks, logs and simulated students.

use lyceum_adaptive::engine::{
    Answer, AnswerLog, AttemptHistory, EngineQuestions, Question, QuestionChoice, WHOLE, next,
    stream,
};
use lyceum_adaptive::{Difficulty, LessonType, Policy, ScoreStep, Scoring};
use lyceum_core::random::RandomStream;

/// A bank with that many easy, medium and hard questions, mixed.
pub(crate) fn bank(easy: usize, medium: usize, hard: usize) -> EngineQuestions {
    let counts = [easy, medium, hard];
    let most = counts.into_iter().max().unwrap_or(0);
    let mut questions = Vec::new();
    for row in 0..most {
        for (difficulty, count) in Difficulty::ALL.into_iter().zip(counts) {
            if row < count {
                let id = format!("{difficulty}-{row}");
                questions.push(Question {
                    id,
                    difficulty,
                    approved: row % 2 == 0,
                    calibration: None,
                });
            }
        }
    }
    EngineQuestions { questions }
}

/// An answer to a question.
pub(crate) fn answer(question: u32, correct: bool) -> Answer {
    let share = u32::from(correct) * WHOLE;
    Answer { question, correct, score: f64::from(u8::from(correct)), share: Some(share) }
}

pub(crate) fn powerpath() -> Policy {
    Policy::shipped(LessonType::Powerpath100)
}

/// The platform's policy, but that one right answer leads from 0 to the score.
pub(crate) fn jump_to(score: u8) -> Policy {
    let steps = vec![ScoreStep { from: 0, points: score }];
    Policy { scoring: Scoring::Steps { right: steps.clone(), wrong: steps }, ..powerpath() }
}

/// Works through an attempt: asks, answers right with the chance, until nothing is asked any more
/// or there are `most` answers. Answers the log, and every choice on the way.
pub(crate) fn attempt(
    policy: &Policy,
    bank: &EngineQuestions,
    earlier: Vec<u32>,
    seed: u64,
    chance: f64,
    most: usize,
) -> (AttemptHistory, Vec<QuestionChoice>) {
    let mut student = RandomStream::seeded(seed ^ 0x5EED);
    let mut log = AnswerLog { earlier, answers: Vec::new() };
    let mut choices = Vec::new();
    while log.answers.len() < most
        && let Some(choice) = next(policy, bank, &log, &mut stream(seed, log.answers.len()))
    {
        log.answers.push(answer(choice.question, student.unit() < chance));
        choices.push(choice);
    }
    (AttemptHistory { seed, attempt: 1, base_xp: 10.0, bank: bank.clone(), log }, choices)
}
