//! Finishes a lesson that is shown whole.

use std::collections::BTreeMap;
use std::iter::repeat_n;

use lyceum_core::{Problem, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::attempt::{Attempt, AttemptLogEntry, bank_of, current};
use crate::bank::QuestionSet;
use crate::engine::AnswerCounts;
use crate::lesson_context::LessonContext;
use crate::repository::log::latest;
use crate::repository::{attempts as repository, log};
use crate::time_limit::AttemptTime;
use crate::{LessonType, credit, engine, gradebook, placement};

/// How many unanswered questions a refusal lists at most.
const UNANSWERED_SHOWN: usize = 5;

/// The result of a finished attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FinalizedAttempt {
    /// The type of the lesson.
    pub lesson_type: LessonType,
    /// Always true.
    pub finalized: bool,
    /// The number of the attempt.
    pub attempt: u32,
    /// The score, 0 to 100.
    pub score: f64,
    /// The XP that it earned.
    pub xp: Option<f64>,
    /// The multiplier of the lesson's XP.
    pub multiplier: Option<f64>,
    /// The percentage of correct answers, cut to two decimals.
    pub accuracy: f64,
    /// The number of correct answers.
    pub correct_questions: u32,
    /// The number of questions.
    pub total_questions: u32,
    /// The number of questions that a person must still score; score and accuracy do not include them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_questions: Option<u32>,
}

impl FinalizedAttempt {
    pub(crate) fn of(attempt: &Attempt) -> Self {
        Self {
            lesson_type: attempt.lesson_type,
            finalized: true,
            attempt: attempt.number,
            score: attempt.score,
            xp: attempt.xp,
            multiplier: attempt.multiplier,
            accuracy: attempt.accuracy(),
            correct_questions: attempt.correct,
            total_questions: attempt.answered_questions(),
            pending_questions: attempt.pending_questions(),
        }
    }
}

/// Finishes the student's current attempt: its answers are scored together. If it is already finished, it stays as it
/// is, except that it takes over scores given by a person meanwhile. An attempt with answers that a person must score
/// earns nothing until all of them are scored. When the time of a test is over, questions without an answer are wrong.
///
/// Errors: as [`crate::attempt::lesson_for`]; `Invalid` for lessons that finish by themselves, and while questions
/// are unanswered and there is time.
pub fn finalize(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<FinalizedAttempt> {
    let (lesson, mut attempt) = current(tx, context, student, lesson)?;
    context.check_changes(student)?;
    if attempt.completed.is_some() && lesson.tool_provider().is_none() && !attempt.is_pending() {
        return Ok(FinalizedAttempt::of(&attempt));
    }
    if attempt.lesson_type == LessonType::Powerpath100 {
        let message = "a powerpath-100 lesson is complete at score 100; go on with getNextQuestion";
        return Err(Problem::invalid("lesson", message));
    }
    if let Some(tool) = lesson.tool_provider() {
        let message = message!(
            "the lesson is taken at '{tool}'; import its results with importExternalTestAssignmentResults"
        );
        return Err(Problem::invalid("lesson", message));
    }
    let (bank, mut entries) = (bank_of(tx, context, &attempt)?, log::entries(tx, &attempt)?);
    let was_pending = attempt.is_pending();
    if was_pending && !gradebook::take_scores(tx, &attempt, &mut entries)? {
        return Ok(FinalizedAttempt::of(&attempt));
    }
    let last = latest(&entries);
    let time = AttemptTime::of(tx, &attempt)?;
    // A finished attempt stays finished if its student gets more time later.
    if !was_pending && !time.is_some_and(|time| time.is_over(context.now)) {
        check_all_answered(&bank, &last)?;
    }
    let answered = last.values().filter_map(|entry| entry.answered.as_ref());
    // Questions without an answer when the time is over earn nothing.
    let unanswered = bank.questions.questions.len().saturating_sub(last.len());
    let shares = answered.map(|answered| answered.share).chain(repeat_n(Some(0), unanswered));
    let counts = shares.fold(AnswerCounts::default(), AnswerCounts::and);
    let score = engine::accuracy(&counts);
    let settled = match counts.pending {
        0 => {
            credit::complete(tx, context, &lesson, &mut attempt, score, counts)?;
            placement::settle(tx, context.now, student, &lesson, score)?
        }
        _ => {
            attempt.count(counts);
            attempt.score = score;
            attempt.completed.get_or_insert(context.now);
            placement::PlacementOutcome::default()
        }
    };
    repository::update(tx, &attempt, context.now)?;
    // The results of answers were written the first time, and a person may have added scores and comments to them.
    let answers: Vec<(&AttemptLogEntry, &str)> = last
        .values()
        .filter(|_| !was_pending)
        .map(|entry| (*entry, bank.items[entry.question as usize].title.as_str()))
        .collect();
    gradebook::write(tx, context, &lesson, &attempt, &answers, settled.result_members())?;
    Ok(FinalizedAttempt::of(&attempt))
}

fn check_all_answered(bank: &QuestionSet, last: &BTreeMap<u32, &AttemptLogEntry>) -> Result<()> {
    let questions = (0..).zip(&bank.questions.questions);
    let open: Vec<&str> = questions
        .filter(|(place, _)| !last.contains_key(place))
        .map(|(_, question)| question.id.as_str())
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let named = open.iter().take(UNANSWERED_SHOWN).map(|id| format!("'{id}'"));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if open.len() > UNANSWERED_SHOWN { ", …" } else { "" };
    let (n, of) = (open.len(), bank.questions.questions.len());
    Err(Problem::invalid(
        "lesson",
        message!("{n} of {of} questions have no answer yet: {named}{more}; answer them first"),
    ))
}
