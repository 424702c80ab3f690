//! The next question of a lesson, and answers to questions.

use std::sync::Arc;

use lyceum_assessment::{full_score, respond};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::{Value, json};

use crate::attempt::{Answered, Attempt, Desk, Entry, at, bank_of};
use crate::bank::Bank;
use crate::engine::{self, Reason, stream};
use crate::lesson::Lesson;
use crate::question::{Draft, Wanted, drafts};
use crate::repository::{attempts as repository, log};
use crate::{LessonType, credit, gradebook, question};

/// A question that is served.
#[derive(Clone, Debug)]
pub struct Served {
    /// The score of the attempt.
    pub score: f64,
    /// The question.
    pub question: Draft,
}

/// What came of an answer in a lesson whose questions follow the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stepped {
    /// `powerpath-100`.
    pub lesson_type: LessonType,
    /// The score of the attempt, 0 to 100.
    pub powerpath_score: f64,
    /// What came of the answer: `{isCorrect, score, feedback?: {identifier, value}, feedbacks}`.
    pub response_result: Value,
    /// The assessment result of the question.
    pub question_result: Value,
    /// The assessment result of the attempt.
    pub test_result: Value,
    /// The percentage of right answers so far, cut to two decimals.
    pub accuracy: f64,
    /// The right answers so far.
    pub correct_questions: u32,
    /// The answers so far.
    pub total_questions: u32,
    /// What the attempt earned, once it is complete.
    pub xp: Option<f64>,
    /// The share of the lesson's XP, once it is complete.
    pub multiplier: Option<f64>,
}

/// That an answer was taken in a lesson which is shown whole. Whether it was right is told at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    /// What sort of lesson it is.
    pub lesson_type: LessonType,
    /// `{question, attempt, answeredAt}`.
    pub question_result: Value,
}

/// What is answered to an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// In a lesson whose questions follow the score.
    Stepped(Box<Stepped>),
    /// In a lesson that is shown whole.
    Taken(Taken),
}

/// An answer that was taken: what [`reply`] is made of.
#[derive(Clone, Debug)]
pub struct Told {
    attempt: Attempt,
    entry: Entry,
}

/// A student at an attempt.
struct Sitting<'a> {
    lesson: &'a Lesson,
    attempt: Attempt,
    bank: Arc<Bank>,
}

impl<'a> Sitting<'a> {
    fn of(tx: &mut Tx<'_>, desk: &Desk<'_>, student: &str, lesson: &'a Lesson) -> Result<Self> {
        let attempt = at(tx, desk, student, lesson)?;
        let bank = bank_of(tx, desk, &attempt)?;
        Ok(Self { lesson, attempt, bank })
    }

    fn title(&self, question: u32) -> &str {
        &self.bank.items[question as usize].title
    }
}

/// The question that was served and not answered.
fn open_of(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<Option<Entry>> {
    let last = log::last(tx, attempt, 1)?.pop();
    Ok(last.filter(|entry| entry.answered.is_none()))
}

/// Serves the student a question, unless one is served and not answered; [`open`] reads it.
///
/// Errors: `Invalid` for a lesson that is shown whole, or has no questions; `Conflict` when the attempt is
/// complete.
pub fn next(tx: &mut Tx<'_>, desk: &Desk<'_>, student: &str, lesson: &Lesson) -> Result<()> {
    let Sitting { mut attempt, bank, .. } = Sitting::of(tx, desk, student, lesson)?;
    if attempt.lesson_type != LessonType::Powerpath100 {
        let message = format!(
            "a lesson of type {} is shown whole; read its questions with getAssessmentProgress",
            attempt.lesson_type
        );
        return Err(Problem::invalid("lesson", message));
    }
    attempt.running()?;
    if open_of(tx, &attempt)?.is_some() {
        return Ok(());
    }
    let (policy, log_of) = (attempt.policy(tx)?, attempt.log(tx, &bank)?);
    let mut lots = stream(attempt.seed, log_of.answers.len());
    let Some(choice) = engine::next(&policy, &bank.questions, &log_of, &mut lots) else {
        let message = format!("the test of the lesson '{}' has no questions", attempt.lesson);
        return Err(Problem::invalid("lesson", message));
    };
    let entry = Entry {
        number: attempt.served,
        question: choice.question,
        item: bank.questions.questions[choice.question as usize].id.clone(),
        served: desk.now,
        reason: choice.reason,
        answered: None,
    };
    attempt.served += 1;
    repository::update(tx, &attempt)?;
    log::append(tx, &attempt, &entry)
}

/// The question that the student is asked: the one that was served and not answered. Whoever asks
/// twice gets the same. None where [`next`] has to serve one.
pub fn open(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    student: &str,
    lesson: &Lesson,
) -> Result<Option<Served>> {
    let Some(attempt) = repository::last(tx, student, &lesson.id)? else { return Ok(None) };
    let is_open = attempt.served > attempt.answered && attempt.completed.is_none();
    if !is_open || attempt.lesson_type != LessonType::Powerpath100 {
        return Ok(None);
    }
    let Some(open) = open_of(tx, &attempt)? else { return Ok(None) };
    let (bank, seed) = (bank_of(tx, desk, &attempt)?, variant_seed(&attempt, open.number));
    let wanted = [Wanted { place: open.question as usize, seed, answered: None, is_told: false }];
    let mut drafts = drafts(tx, desk, &attempt, &bank, &wanted)?;
    Ok(Some(Served { score: attempt.score, question: drafts.remove(0) }))
}

/// The seed of a question's variant: by its number in the log where questions come one by one, by its
/// place where a test is shown whole. It is sent as a JSON number that every client can hold.
pub(crate) fn variant_seed(attempt: &Attempt, number: i64) -> u64 {
    attempt.seed.wrapping_add(number.cast_unsigned()) >> 12
}

/// Takes a student's answer to a question: `{response}` or `{responses: {variable: value}}`. The same
/// answer sent again changes nothing and is answered alike.
///
/// Errors: `Invalid` for a question of another lesson and for answers that do not fit the item;
/// `Conflict` when the attempt is complete, or another question was served.
pub fn answer(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    student: &str,
    question: &str,
    lesson: &Lesson,
    body: &Object,
) -> Result<Told> {
    let sitting = Sitting::of(tx, desk, student, lesson)?;
    if let Some(tool) = sitting.lesson.tool_provider() {
        let message = format!("the lesson is taken at '{tool}'; its answers are not taken here");
        return Err(Problem::invalid("lesson", message));
    }
    let Some(place) = sitting.bank.place(question) else {
        let message = format!(
            "the question '{question}' is none of the lesson '{}'; send the id of one that it asked",
            sitting.lesson.id
        );
        return Err(Problem::invalid("question", message));
    };
    match sitting.attempt.lesson_type {
        LessonType::Powerpath100 => stepped(tx, desk, sitting, question, body),
        _ => whole(tx, desk, sitting, place, body),
    }
}

fn stepped(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    mut sitting: Sitting<'_>,
    question: &str,
    body: &Object,
) -> Result<Told> {
    let (open, answered): (Vec<Entry>, Vec<Entry>) =
        log::last(tx, &sitting.attempt, 2)?.into_iter().partition(|last| last.answered.is_none());
    let asked = open.into_iter().next();
    let mut entry = match asked {
        Some(asked) if asked.item == question => asked,
        asked => {
            let is_repeated = |last: &Entry| last.item == question && is_same(last, body);
            if let Some(entry) = answered.into_iter().next_back().filter(is_repeated) {
                return Ok(Told { attempt: sitting.attempt, entry });
            }
            sitting.attempt.running()?;
            return Err(not_asked(question, asked.as_ref()));
        }
    };
    let seed = variant_seed(&sitting.attempt, entry.number);
    let mut answered = scored(tx, desk, &sitting, entry.question as usize, seed, body)?;
    let policy = sitting.attempt.policy(tx)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    let before = sitting.attempt.score as u8;
    answered.points = engine::score_after(&policy, before, answered.correct);
    let attempt = &mut sitting.attempt;
    attempt.answered += 1;
    attempt.total += 1;
    attempt.correct += u32::from(answered.correct);
    attempt.score = f64::from(answered.points);
    log::answer(tx, attempt, entry.number, &answered)?;
    if answered.points == 100 {
        let counts = (attempt.score, attempt.correct, attempt.total);
        credit::complete(tx, desk, sitting.lesson, attempt, counts)?;
    }
    repository::update(tx, attempt)?;
    entry.answered = Some(answered);
    let title = sitting.title(entry.question);
    gradebook::write(tx, desk, sitting.lesson, &sitting.attempt, &[(&entry, title)], &[])?;
    Ok(Told { attempt: sitting.attempt, entry })
}

fn not_asked(question: &str, open: Option<&Entry>) -> Problem {
    let message = match open {
        Some(open) => {
            format!(
                "the question '{question}' is not the one that was asked; answer '{}'",
                open.item
            )
        }
        None => {
            format!("the question '{question}' was not asked; ask for one with getNextQuestion")
        }
    };
    Problem::new(ProblemKind::Conflict, message)
}

/// Whether the answer is the one that was given before.
fn is_same(entry: &Entry, body: &Object) -> bool {
    entry.answered.as_ref().is_some_and(|answered| answered.responses == given(body))
}

/// The answers by response variable, as they were sent.
fn given(body: &Object) -> Value {
    match (body.get("responses"), body.get("response")) {
        (Some(Value::Object(_)), _) => body["responses"].clone(),
        (_, Some(Value::Object(response))) => Value::Object(response.clone()),
        (_, Some(response)) => json!({ "RESPONSE": response }),
        _ => json!({}),
    }
}

fn scored(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    sitting: &Sitting<'_>,
    place: usize,
    seed: u64,
    body: &Object,
) -> Result<Answered> {
    let (id, version) =
        (&sitting.bank.questions.questions[place].id, sitting.bank.items[place].version);
    let item = desk.items.version(tx, id, version)?;
    let mut answer = Object::new();
    for name in ["response", "responses"] {
        answer.extend(body.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    answer.insert("seed".into(), seed.into());
    let scored = respond(&item, &answer)?;
    Ok(Answered {
        at: desk.now,
        responses: given(body),
        // A sum of parts may miss the whole by the last bit.
        correct: scored.score >= full_score(&item, seed) - 1e-9,
        score: scored.score,
        points: 0,
        result: serde_json::to_value(&scored).map_err(Problem::internal)?,
    })
}

/// What is answered to an answer that was taken.
pub fn reply(tx: &mut Tx<'_>, told: &Told) -> Result<Reply> {
    let Told { attempt, entry } = told;
    let Some(answered) = &entry.answered else {
        return Err(Problem::internal("an answer was not found again"));
    };
    if attempt.lesson_type != LessonType::Powerpath100 {
        return Ok(Reply::Taken(Taken {
            lesson_type: attempt.lesson_type,
            question_result: json!({
                "question": entry.item,
                "attempt": attempt.number,
                "answeredAt": answered.at.to_string(),
            }),
        }));
    }
    let mut response_result = question::result(&answered.result);
    response_result["isCorrect"] = answered.correct.into();
    if !response_result["feedback"].is_object()
        && let Some(result) = response_result.as_object_mut()
    {
        result.remove("feedback");
    }
    let mut shown = |id: &str| gradebook::read(tx, id);
    let question_result = shown(&gradebook::answer_result(attempt, &entry.item))?;
    let result = gradebook::attempt_result(&attempt.student, &attempt.lesson, attempt.number);
    let test_result = shown(&result)?;
    Ok(Reply::Stepped(Box::new(Stepped {
        lesson_type: attempt.lesson_type,
        powerpath_score: attempt.score,
        response_result,
        question_result,
        test_result,
        accuracy: engine::accuracy(attempt.correct, attempt.total),
        correct_questions: attempt.correct,
        total_questions: attempt.total,
        xp: attempt.xp,
        multiplier: attempt.multiplier,
    })))
}

/// An answer in a lesson that is shown whole; the last one to each question counts.
fn whole(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    sitting: Sitting<'_>,
    place: usize,
    body: &Object,
) -> Result<Told> {
    sitting.attempt.running()?;
    let id = sitting.bank.questions.questions[place].id.clone();
    if let Some(entry) = log::last_of(tx, &sitting.attempt, &id)?.filter(|last| is_same(last, body))
    {
        return Ok(Told { attempt: sitting.attempt, entry });
    }
    if sitting.attempt.served >= limits::LESSON_ANSWERS_MAX_COUNT {
        let most = limits::LESSON_ANSWERS_MAX_COUNT;
        let message =
            format!("an attempt takes {most} answers at most; finish it, or begin it anew");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let seed = variant_seed(&sitting.attempt, i64::try_from(place).unwrap_or(i64::MAX));
    let answered = scored(tx, desk, &sitting, place, seed, body)?;
    let question = u32::try_from(place).map_err(Problem::internal)?;
    let entry = Entry {
        number: sitting.attempt.served,
        question,
        item: id,
        served: desk.now,
        reason: Reason::InOrder { place: question },
        answered: Some(answered),
    };
    let mut attempt = sitting.attempt;
    attempt.served += 1;
    attempt.answered += 1;
    repository::update(tx, &attempt)?;
    log::append(tx, &attempt, &entry)?;
    Ok(Told { attempt, entry })
}
