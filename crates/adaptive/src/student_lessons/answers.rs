//! Students' answers, and starting and finishing attempts.

use lyceum_core::body::OneLineText;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::question::{QuestionText, ShownQuestion, StudentQuestion, StudentResult, load};
use super::state::{key, shown_question, started};
use super::{AttemptView, LessonKind, find};
use crate::answer::{AcceptedAnswer, AnswerTarget, variant_seed};
use crate::attempt::{Attempt, AttemptLogEntry, bank_of};
use crate::lesson_context::LessonContext;
use crate::logs::ReadLog;
use crate::repository::attempts::OpenQuestion;
use crate::repository::{attempts, log};
use crate::{LessonType, attempt, finalize, time_limit};

/// A student's answer to a question.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StudentAnswer {
    /// A random id of this answer. A repeated request has the same id, and its answer counts once.
    #[schemars(with = "OneLineText", length(max = crate::limits::ANSWER_ID_MAX_CHARS))]
    pub id: String,
    /// The key of the attempt, as it was received.
    #[schemars(with = "OneLineText")]
    pub attempt: String,
    /// The id of the question.
    #[schemars(with = "OneLineText")]
    pub question: String,
    /// The number of the question, as it was received.
    pub number: i64,
    /// The answer by response variable.
    pub responses: Map<String, Value>,
}

/// The reply to a student's answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StudentAnswerReply {
    /// The attempt after the answer.
    pub attempt: AttemptView,
    /// The result of the answer; missing if results are shown only when the lesson is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<StudentResult>,
    /// The question with the feedback; missing if results are shown only when the lesson is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<StudentQuestion>,
}

/// A reply whose question is still to be rendered, which needs no transaction.
#[derive(Clone, Debug)]
pub struct AnswerReplyDraft {
    attempt: AttemptView,
    question: Option<QuestionText>,
    /// The log from which the next question was chosen, for [`crate::LessonCaches::store_log`] after the commit.
    pub log: Option<ReadLog>,
}

impl AnswerReplyDraft {
    /// The reply, as the student's browser reads it.
    pub fn render(self) -> Result<StudentAnswerReply> {
        let question = self.question.map(QuestionText::render).transpose()?;
        let result = question.as_ref().and_then(|question| question.result.clone());
        Ok(StudentAnswerReply { attempt: self.attempt, result, question })
    }
}

/// Takes a student's answer. A request with the id of an earlier one, and an equal answer to the same question of the
/// same attempt, change nothing and get the reply again.
///
/// Errors: as [`started`]; `Conflict` for an answer to an earlier attempt, or to another question than the open one; `Invalid` for responses that do not fit the question.
pub fn answer(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    answer: &StudentAnswer,
) -> Result<AnswerReplyDraft> {
    roster::lock_user(tx, student)?;
    if answer.id.is_empty() || answer.id.chars().count() > crate::limits::ANSWER_ID_MAX_CHARS {
        let most = crate::limits::ANSWER_ID_MAX_CHARS;
        return Err(Problem::invalid("id", message!("must have 1 to {most} characters")));
    }
    let (attempt, open) = current(tx, context, student, lesson, &answer.attempt)?;
    if let Some(entry) = earlier(tx, &attempt, answer)? {
        return reply(tx, context, &attempt, shown_question(&attempt, &entry, true));
    }
    let before = attempt.answered;
    let lesson = attempt::lesson_for(tx, context, student, lesson)?;
    let target = AnswerTarget::load(tx, context, (&lesson, (attempt, open)), &answer.question)?;
    let AcceptedAnswer { attempt, number, place, answered, log, .. } =
        target.answer(tx, context, answer.responses.clone())?;
    // An equal answer adds no entry, so requests need no more room than entries.
    if attempt.answered > before {
        log::note_request(tx, &attempt, &answer.id, number)?;
    }
    let seed = variant_seed(&attempt, number);
    let answered = Some(&answered);
    let shown = ShownQuestion { place, number, seed, answered, shows_result: true };
    Ok(AnswerReplyDraft { log, ..reply(tx, context, &attempt, shown)? })
}

/// The entry of the log that the answer made before: by a request with its id, or by an equal answer to the same
/// question of a lesson that asks question by question.
///
/// Errors: `Conflict` for another answer to a question that was answered.
fn earlier(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    answer: &StudentAnswer,
) -> Result<Option<AttemptLogEntry>> {
    if let Some(number) = log::number_of_request(tx, attempt, &answer.id)? {
        return log::entry(tx, attempt, number);
    }
    if attempt.lesson_type != LessonType::Powerpath100 || answer.number == attempt.answered {
        return Ok(None);
    }
    let is_same = |entry: &AttemptLogEntry| {
        let responses = entry.answered.as_ref().map(|answered| &answered.responses);
        entry.item == answer.question && responses == Some(&answer.responses)
    };
    let entry = log::entry(tx, attempt, answer.number)?.filter(is_same);
    let message = "the question was already answered; read the lesson again";
    entry.map(Some).ok_or_else(|| Problem::new(ProblemKind::Conflict, message))
}

/// The student's last attempt, if it is the one that the key names. It goes on if a teacher leaves the lesson out of the
/// lesson plan meanwhile: answers may still wait in the browser.
///
/// Errors: as [`started`]; `Conflict` for another attempt.
fn current(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    named: &str,
) -> Result<(Attempt, Option<OpenQuestion>)> {
    let (attempt, open) = started(tx, context, student, lesson)?;
    if key(&attempt) == named {
        return Ok((attempt, open));
    }
    let message = message!(
        "the attempt '{named}' is not the current one, which is '{key}'; read the lesson again",
        key = key(&attempt)
    );
    Err(Problem::new(ProblemKind::Conflict, message))
}

fn reply(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
    shown: ShownQuestion<'_>,
) -> Result<AnswerReplyDraft> {
    let view = AttemptView::of(tx, context.now, attempt)?;
    if attempt.lesson_type != LessonType::Powerpath100 {
        return Ok(AnswerReplyDraft { attempt: view, question: None, log: None });
    }
    let bank = bank_of(tx, context, attempt)?;
    let question = load(tx, context, (&attempt.lesson, &bank), &[shown])?.pop();
    Ok(AnswerReplyDraft { attempt: view, question, log: None })
}

/// The attempt that a student starts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StudentStart {
    /// The number of the last attempt that the student knows; 0 if there is none. A repeated request starts no other
    /// attempt.
    pub after: u32,
}

/// Starts the attempt that follows the one with the given number, unless it was started already. The time of an attempt
/// with a time limit begins to run.
///
/// Errors: `NotFound` for a lesson that the student does not have; `Invalid` for a lesson without questions; `Conflict`
/// while the last attempt runs or waits to be scored, and for a test-out that was taken.
pub fn start(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    start: &StudentStart,
) -> Result<()> {
    roster::lock_user(tx, student)?;
    let found = find(tx, context, student, lesson)?;
    if !matches!(found.lesson.kind, LessonKind::Questions(_)) {
        let message = "the lesson has no questions of this server; open its address";
        return Err(Problem::invalid("lesson", message));
    }
    let mut attempt = match attempts::last(tx, student, lesson)? {
        Some(last) if last.number > start.after => last,
        None if start.after == 0 => attempt::current(tx, context, student, lesson)?.1,
        _ => attempt::create(tx, context, student, lesson)?.0,
    };
    time_limit::start_clock(tx, &mut attempt, context.now)
}

/// The attempt that a student finishes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StudentFinish {
    /// The key of the attempt, as it was received.
    #[schemars(with = "OneLineText")]
    pub attempt: String,
}

/// Finishes an attempt at a lesson that shows all questions; a repeated request changes nothing.
///
/// Errors: as [`started`]; `Conflict` for another attempt than the current one; `Invalid` while questions are unanswered.
pub fn finish(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
    finish: &StudentFinish,
) -> Result<()> {
    roster::lock_user(tx, student)?;
    current(tx, context, student, lesson, &finish.attempt)?;
    finalize::finalize(tx, context, student, lesson).map(drop)
}
