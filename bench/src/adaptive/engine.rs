//! The next question of a large bank, in this process.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use lyceum_adaptive::engine::{Answer, AnswerLog, EngineQuestions, Question, WHOLE, next, stream};
use lyceum_adaptive::{Difficulty, LessonType, Policy};
use lyceum_core::random::RandomStream;

use super::{Options, percentiles};
use crate::goals::Finding;

/// Questions of the bank.
const QUESTIONS: u32 = 10_000;
/// Answers of an attempt before the next one begins.
const ANSWERS: usize = 200;

/// The time of one choice, from the first question of an attempt to its 200th, for students who were
/// asked half of the bank before and answer half of the questions right.
pub(super) fn next_question(options: &Options) -> Result<Finding> {
    let policy = Policy::shipped(LessonType::Powerpath100);
    let bank = EngineQuestions {
        questions: (0..QUESTIONS)
            .map(|number| Question {
                id: format!("item-{number:05}"),
                difficulty: Difficulty::ALL[number as usize % 3],
                approved: true,
                calibration: None,
            })
            .collect(),
    };
    let mut random = RandomStream::seeded(1);
    let (start, mut times) = (Instant::now(), Vec::new());
    let mut seed = 0;
    while start.elapsed() < options.run.time() {
        seed += 1;
        let earlier = (0..QUESTIONS).map(|_| u32::from(random.below(2) == 1)).collect();
        let mut log = AnswerLog { earlier, answers: Vec::new() };
        while log.answers.len() < ANSWERS {
            let start = Instant::now();
            let choice = black_box(next(
                &policy,
                black_box(&bank),
                &log,
                &mut stream(seed, log.answers.len()),
            ));
            times.push(start.elapsed());
            let question = choice.context("the bank has questions")?.question;
            let correct = random.below(2) == 1;
            let (score, share) = (f64::from(u8::from(correct)), Some(u32::from(correct) * WHOLE));
            log.answers.push(Answer { question, correct, score, share });
            if lyceum_adaptive::engine::score_of(&policy, &log.answers) == 100 {
                break;
            }
        }
    }
    let count = times.len();
    let (p50, p99) = percentiles(times);
    Ok(Finding::new("Q2.engine", p99, format!("p50 {p50:.3} ms of {count} choices")))
}
