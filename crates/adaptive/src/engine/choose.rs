//! Chooses the next question.

use lyceum_core::random::RandomStream;

use super::{
    AnswerLog, EngineQuestions, QuestionChoice, QuestionDraw, QuestionReason, is_complete, score_of,
};
use crate::{ByDifficulty, Difficulty, DifficultyBand, Policy, Strategy};

/// The next question, and why it was chosen; `None` if the attempt is complete or the bank is empty.
pub fn next(
    policy: &Policy,
    bank: &EngineQuestions,
    log: &AnswerLog,
    stream: &mut RandomStream,
) -> Option<QuestionChoice> {
    if bank.questions.is_empty() || is_complete(policy, bank, log) {
        return None;
    }
    match &policy.strategy {
        Strategy::InOrder => in_order(bank, log),
        Strategy::Bands { table, climb } => {
            Some(by_bands(table, *climb, score_of(policy, &log.answers), bank, log, stream))
        }
    }
}

/// The number of questions that were not asked in this attempt, by difficulty.
pub fn remaining(bank: &EngineQuestions, log: &AnswerLog) -> ByDifficulty<u32> {
    let counts = log.counts_by_question(bank);
    let mut remaining = ByDifficulty::default();
    for (question, count) in bank.questions.iter().zip(counts) {
        remaining[question.difficulty] += u32::from(count == 0);
    }
    remaining
}

fn in_order(bank: &EngineQuestions, log: &AnswerLog) -> Option<QuestionChoice> {
    let place = log.counts_by_question(bank).iter().position(|times| *times == 0)?;
    let place = u32::try_from(place).ok()?;
    Some(QuestionChoice { question: place, reason: QuestionReason::InOrder { place } })
}

/// Freshness comes first: questions never asked, then those not asked in this attempt, then those asked least often
/// in it. Among the freshest, the difficulty decides, then how seldom earlier attempts asked the question, then a
/// random draw.
fn by_bands(
    table: &[DifficultyBand],
    climb: ByDifficulty<[Difficulty; 2]>,
    score: u8,
    bank: &EngineQuestions,
    log: &AnswerLog,
    stream: &mut RandomStream,
) -> QuestionChoice {
    let counts = log.counts_by_question(bank);
    let earlier = |place: usize| log.earlier.get(place).copied().unwrap_or(0);
    let wear = |place: usize| match (counts[place], earlier(place)) {
        (0, before) => u32::from(before > 0),
        (times, _) => 1 + times,
    };
    let mut unseen = ByDifficulty::<u32>::default();
    let mut least = ByDifficulty { easy: u32::MAX, medium: u32::MAX, hard: u32::MAX };
    for (place, question) in bank.questions.iter().enumerate() {
        let wear = wear(place);
        unseen[question.difficulty] += u32::from(wear == 0);
        let least = &mut least[question.difficulty];
        *least = wear.min(*least);
    }

    let share = u8::try_from(stream.below(100)).expect("below 100");
    let wanted = difficulty_for(table, score, share);
    let [second, third] = climb[wanted];
    // `min_by_key` returns the first of equals, so the wanted difficulty comes before the alternatives.
    let served = [wanted, second, third].into_iter().min_by_key(|of| least[*of]);
    let served = served.expect("there are three difficulties");
    let candidates = (0..bank.questions.len()).filter(|place| {
        bank.questions[*place].difficulty == served && wear(*place) == least[served]
    });
    let seldom = candidates.clone().map(earlier).min().unwrap_or(0);
    let candidates: Vec<usize> = candidates.filter(|place| earlier(*place) == seldom).collect();
    let pick = stream.below(candidates.len() as u64);
    let place = candidates[usize::try_from(pick).expect("a place in the bank")];
    let number = |n: usize| u32::try_from(n).expect("a bank's places are 32-bit numbers");
    QuestionChoice {
        question: number(place),
        reason: QuestionReason::Bands {
            score,
            wanted,
            served,
            unseen,
            draw: QuestionDraw {
                share,
                pick: u32::try_from(pick).expect("a place in the bank"),
                of: number(candidates.len()),
            },
            repeated: counts[place] > 0,
            earlier: seldom,
        },
    }
}

/// The difficulty for a score and a draw from 0 to 99.
fn difficulty_for(table: &[DifficultyBand], score: u8, share: u8) -> Difficulty {
    let band = table.iter().rev().find(|band| band.from <= score);
    let shares = band.expect("the first band begins at 0").shares;
    let mut below = 0;
    let found = Difficulty::ALL.into_iter().find(|of| {
        below += shares[*of];
        share < below
    });
    found.expect("the shares of a band add up to 100")
}
