//! A student's progress in a lesson.

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::ASSESSMENT_RESULT;
use lyceum_roster::repository::find;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::variant_seed;
use crate::attempt::{Attempt, AttemptLogEntry, bank_of, current};
use crate::lesson::Lesson;
use crate::lesson_context::LessonContext;
use crate::question::{LessonQuestion, QuestionDraft, QuestionRequest, drafts};
use crate::repository::log::latest;
use crate::repository::{attempts as repository, log};
use crate::{ByDifficulty, LessonCaches, LessonType, engine, gradebook};

/// A student's progress in an attempt at a lesson.
#[derive(Clone, Debug)]
pub struct Progress {
    head: ProgressHead,
    questions: Vec<QuestionDraft>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProgressHead {
    lesson_type: LessonType,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_questions_per_difficulty: Option<ByDifficulty<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalized: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enrollment_failed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_result_id: Option<String>,
    xp: Option<f64>,
    multiplier: Option<f64>,
    accuracy: f64,
    correct_questions: u32,
    total_questions: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_questions: Option<u32>,
}

/// The progress as the API returns it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonProgress {
    #[serde(flatten)]
    head: ProgressHead,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<Vec<LessonQuestion>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_questions: Option<Vec<LessonQuestion>>,
}

impl Progress {
    /// The progress, as clients read it. Renders the questions for learners, which needs no transaction.
    pub fn render(self, memory: &LessonCaches) -> Result<LessonProgress> {
        let questions = self.questions.into_iter().map(|draft| draft.render(memory));
        let questions = questions.collect::<Result<_>>()?;
        let (questions, seen_questions) = match self.head.finalized {
            Some(_) => (Some(questions), None),
            None => (None, Some(questions)),
        };
        Ok(LessonProgress { head: self.head, questions, seen_questions })
    }
}

/// The student's progress in an attempt, by default the last one. Begins the first attempt if there is none.
///
/// Errors: as [`crate::attempt::lesson_for`]; `NotFound` if the attempt does not exist.
pub fn progress(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    number: Option<u32>,
) -> Result<Progress> {
    let (lesson, last) = current(tx, context, student, lesson)?;
    of(tx, context, &lesson, last, number)
}

/// Like [`progress`], but only reads: `None` before the first attempt.
pub fn of_started_attempt(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    number: Option<u32>,
) -> Result<Option<Progress>> {
    match crate::attempt::last(tx, context, student, lesson)? {
        (_, None) => Ok(None),
        (lesson, Some(last)) => of(tx, context, &lesson, last, number).map(Some),
    }
}

fn of(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    last: Attempt,
    number: Option<u32>,
) -> Result<Progress> {
    let attempt = match number.filter(|number| *number != last.number) {
        None => last,
        Some(number) => {
            let all = repository::of(tx, &last.student, ("lesson", &last.lesson))?;
            all.into_iter().find(|attempt| attempt.number == number).ok_or_else(|| {
                let message = message!(
                    "there is no attempt {number} of the lesson '{last.lesson}'; the last is {last.number}"
                );
                Problem::new(ProblemKind::NotFound, message)
            })?
        }
    };
    let entries = log::entries(tx, &attempt)?;
    match attempt.lesson_type {
        LessonType::Powerpath100 => progress_by_steps(tx, context, &attempt, &entries),
        _ => progress_of_whole(tx, context, lesson, &attempt, &entries),
    }
}

fn head(attempt: &Attempt) -> ProgressHead {
    let result = gradebook::attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    ProgressHead {
        lesson_type: attempt.lesson_type,
        attempt: attempt.number,
        score: None,
        remaining_questions_per_difficulty: None,
        finalized: None,
        tool_provider: None,
        enrollment_failed: None,
        test_result_id: (attempt.completed.is_some() || attempt.total > 0).then_some(result),
        xp: attempt.xp,
        multiplier: attempt.multiplier,
        accuracy: attempt.accuracy(),
        correct_questions: attempt.correct,
        total_questions: attempt.answered_questions(),
        pending_questions: attempt.pending_questions(),
    }
}

fn progress_by_steps(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
    entries: &[AttemptLogEntry],
) -> Result<Progress> {
    let bank = bank_of(tx, context, attempt)?;
    let log_of = attempt.log(tx, &bank)?;
    let last = latest(entries);
    let wanted: Vec<QuestionRequest<'_>> = last
        .values()
        .map(|entry| QuestionRequest {
            place: entry.question as usize,
            seed: variant_seed(attempt, entry.number),
            answered: entry.answered.as_ref(),
            shows_result: true,
        })
        .collect();
    let head = ProgressHead {
        score: Some(attempt.score),
        remaining_questions_per_difficulty: Some(engine::remaining(&bank.questions, &log_of)),
        ..head(attempt)
    };
    Ok(Progress { head, questions: drafts(tx, context, attempt, &bank, &wanted)? })
}

fn progress_of_whole(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    attempt: &Attempt,
    entries: &[AttemptLogEntry],
) -> Result<Progress> {
    let bank = bank_of(tx, context, attempt)?;
    let last = latest(entries);
    let is_complete = attempt.completed.is_some();
    let wanted: Vec<QuestionRequest<'_>> = (0..)
        .zip(0..bank.questions.questions.len())
        .map(|(number, place)| QuestionRequest {
            place,
            seed: variant_seed(attempt, i64::from(number)),
            answered: last.get(&number).and_then(|entry| entry.answered.as_ref()),
            shows_result: is_complete,
        })
        .collect();
    let total = u32::try_from(bank.questions.questions.len()).map_err(Problem::internal)?;
    let head = ProgressHead {
        finalized: Some(is_complete),
        score: is_complete.then_some(attempt.score),
        tool_provider: lesson.tool_provider().map(str::to_owned),
        enrollment_failed: enrollment_failed(tx, attempt)?,
        total_questions: if is_complete { attempt.answered_questions() } else { total },
        ..head(attempt)
    };
    Ok(Progress { head, questions: drafts(tx, context, attempt, &bank, &wanted)? })
}

/// Set if a failed placement test should have enrolled the student in a course.
fn enrollment_failed(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<Option<bool>> {
    if attempt.lesson_type != LessonType::Placement || attempt.completed.is_none() {
        return Ok(None);
    }
    let result = gradebook::attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    let Some(stored) = find(tx, &ASSESSMENT_RESULT, &result)? else { return Ok(None) };
    let metadata = fields::metadata(&fields::of(&stored)?);
    Ok(metadata.get("enrollmentFailed").and_then(Value::as_bool))
}
