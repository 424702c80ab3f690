//! The state of a lesson that a student opened.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::question::{QuestionText, ShownQuestion, StudentQuestion, load};
use super::{FoundLesson, LessonKind, LessonStanding, find};
use crate::answer::{variant_number, variant_seed};
use crate::attempt::{Attempt, AttemptLogEntry, bank_of};
use crate::lesson::QuestionSource;
use crate::lesson_context::LessonContext;
use crate::repository::attempts::OpenQuestion;
use crate::repository::log::latest;
use crate::repository::{attempts, log};
use crate::time_limit::{AttemptTime, extra_time};
use crate::{LessonType, answer};

/// A lesson as its student sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonView {
    /// The lesson's sourcedId.
    pub id: String,
    /// The title.
    pub title: String,
    /// The title of the course.
    pub course: String,
    /// The type of a lesson with questions, otherwise the sort of material: `video`, `audio`, `picture`, `text`,
    /// `page`, `app` or `unknown`.
    pub kind: &'static str,
    /// How the student works through it.
    pub mode: LessonMode,
    /// How far the student is.
    #[schemars(extend("enum" = ["not-started", "started", "waiting", "not-mastered", "done"]))]
    pub standing: &'static str,
    /// The address of material, an app or an outside tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The last attempt, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptView>,
    /// Whether the student can start an attempt now.
    pub can_start: bool,
    /// The time in milliseconds that the next attempt has, with the student's extra time; missing without a limit, and if
    /// attempts have different tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<i64>,
    /// Whether the student says when the lesson is done.
    pub can_mark_done: bool,
    /// The questions of a running attempt: the open one where the next question depends on the score, otherwise all. None
    /// while the time of an attempt with a time limit has not begun.
    pub questions: Vec<StudentQuestion>,
}

/// How a student works through a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LessonMode {
    /// Asks question by question, each scored at once, until the score is 100.
    Steps,
    /// All questions, scored when the student finishes.
    Whole,
    /// With an outside tool.
    OutsideTest,
    /// Material in a frame.
    Material,
    /// An app of this server.
    App,
    /// The lesson cannot be opened.
    Unknown,
}

/// An attempt as its student sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// Names the attempt as it is now. Answers repeat it; after the attempt was reset, its old answers are refused.
    pub key: String,
    /// Its number, from 1.
    pub number: u32,
    /// The score, 0 to 100; missing while it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Whether it asks no more.
    pub is_complete: bool,
    /// Whether it mastered the lesson.
    pub is_mastered: bool,
    /// The number of answers that a person must still score.
    pub waiting_answers: u32,
    /// The number of correct answers; missing while it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correct_answers: Option<u32>,
    /// The number of scored answers; missing while it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scored_answers: Option<u32>,
    /// The XP that it earned, if it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xp: Option<f64>,
    /// The time of a running attempt with a time limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeView>,
}

/// The time of a running attempt, as its student sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeView {
    /// The whole time in milliseconds, with the student's extra time.
    pub limit_ms: i64,
    /// The time that is left, in milliseconds; 0 when it is over.
    pub left_ms: i64,
    /// Whether the time runs. It begins with the student's start, also after a reset.
    pub is_running: bool,
    /// Whether answers after the time count.
    pub allows_late: bool,
}

impl TimeView {
    fn of(time: &AttemptTime, now: Timestamp) -> Self {
        Self {
            limit_ms: time.ms,
            left_ms: time.left_ms(now).max(0),
            is_running: time.began.is_some(),
            allows_late: time.allows_late,
        }
    }
}

impl AttemptView {
    /// Runs a statement for a running attempt with a time limit.
    pub(super) fn of(tx: &mut Tx<'_>, now: Timestamp, attempt: &Attempt) -> Result<Self> {
        let time = match attempt.completed {
            None => AttemptTime::of(tx, attempt)?.map(|time| TimeView::of(&time, now)),
            Some(_) => None,
        };
        let is_complete = attempt.completed.is_some();
        let shows_result = is_complete || attempt.lesson_type == LessonType::Powerpath100;
        Ok(Self {
            key: key(attempt),
            number: attempt.number,
            score: shows_result.then_some(attempt.score),
            is_complete,
            is_mastered: attempt.mastered,
            waiting_answers: attempt.pending,
            correct_answers: shows_result.then_some(attempt.correct),
            scored_answers: shows_result.then_some(attempt.total),
            xp: attempt.xp,
            time,
        })
    }
}

/// The name of an attempt's current round. No attempt of another student has it.
pub(super) fn key(attempt: &Attempt) -> String {
    format!("{}.{}", attempt.id, attempt.round)
}

/// A lesson with questions that are still to be rendered, which needs no transaction.
#[derive(Clone, Debug)]
pub struct LessonDraft {
    view: LessonView,
    questions: Vec<QuestionText>,
}

impl LessonDraft {
    /// Whether [`next`] has nothing to choose: a question is open, or the attempt is complete.
    pub fn has_next(&self) -> bool {
        let is_complete = self.view.attempt.as_ref().is_some_and(|attempt| attempt.is_complete);
        self.view.mode == LessonMode::Steps && (is_complete || !self.questions.is_empty())
    }

    /// The lesson, as its student sees it.
    pub fn render(self) -> Result<LessonView> {
        let questions = self.questions.into_iter().map(QuestionText::render);
        Ok(LessonView { questions: questions.collect::<Result<_>>()?, ..self.view })
    }
}

/// The lesson with its last attempt and the questions to answer now. Only reads: a question that must be chosen first is
/// missing. Errors: `NotFound` for a lesson that the student does not have.
pub fn open(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    id: &str,
) -> Result<LessonDraft> {
    let found = find(tx, context, student, id)?;
    let attempt = attempts::last(tx, student, id)?;
    let questions = match &attempt {
        Some(attempt) if attempt.completed.is_none() && !attempt.waits_for_start() => {
            running(tx, context, attempt)?
        }
        _ => Vec::new(),
    };
    Ok(LessonDraft { view: view(tx, context, (student, found), attempt.as_ref())?, questions })
}

fn view(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    (student, found): (&str, FoundLesson),
    attempt: Option<&Attempt>,
) -> Result<LessonView> {
    let FoundLesson { lesson, course } = found;
    let mode = match &lesson.kind {
        LessonKind::Questions(LessonType::Powerpath100) => LessonMode::Steps,
        LessonKind::Questions(_) => LessonMode::Whole,
        LessonKind::OutsideTest(..) => LessonMode::OutsideTest,
        LessonKind::Material(..) => LessonMode::Material,
        LessonKind::App(_) => LessonMode::App,
        LessonKind::Unknown => LessonMode::Unknown,
    };
    let (kind, can_mark_done) = (lesson.kind.name(), lesson.can_be_marked_done());
    let can_start = match attempt {
        _ if !matches!(lesson.kind, LessonKind::Questions(_)) => false,
        None => true,
        Some(last) => {
            last.completed.is_some()
                && !last.is_pending()
                && last.lesson_type != LessonType::TestOut
        }
    };
    let address = match lesson.kind {
        LessonKind::OutsideTest(_, address) => address,
        LessonKind::Material(_, address) => Some(address),
        LessonKind::App(slug) => Some(format!("/play/{slug}")),
        LessonKind::Questions(_) | LessonKind::Unknown => None,
    };
    let time_limit_ms = match mode == LessonMode::Whole && can_start {
        true => next_time_limit(tx, context, student, &lesson.id)?,
        false => None,
    };
    Ok(LessonView {
        id: lesson.id,
        title: lesson.title,
        course: course.title,
        kind,
        mode,
        standing: LessonStanding::name(lesson.standing),
        address,
        attempt: attempt.map(|attempt| AttemptView::of(tx, context.now, attempt)).transpose()?,
        can_start,
        time_limit_ms,
        can_mark_done,
        questions: Vec::new(),
    })
}

/// The time that the next attempt at a lesson will have, if all attempts have the same test.
fn next_time_limit(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<Option<i64>> {
    let lesson = crate::lesson::find(tx, lesson)?;
    let QuestionSource::Test(_) = lesson.source else { return Ok(None) };
    let limit = match lesson.test(tx, student, 1) {
        Ok(Some(test)) => context.memory.tests.time_limit(tx, &test)?,
        // Starting the lesson says what is wrong with it.
        Ok(None) | Err(_) => None,
    };
    let Some(limit) = limit else { return Ok(None) };
    let extra = extra_time(tx, student)?;
    Ok(Some(extra.map_or(limit.ms, |extra| extra.applied_to(limit.ms))))
}

/// The questions to answer now.
fn running(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
) -> Result<Vec<QuestionText>> {
    let bank = bank_of(tx, context, attempt)?;
    match attempt.lesson_type {
        LessonType::Powerpath100 => {
            let open = log::entry(tx, attempt, attempt.answered)?;
            let shown = open.as_ref().map(|entry| shown_question(attempt, entry, false));
            load(tx, context, (&attempt.lesson, &bank), shown.as_slice())
        }
        _ => {
            let entries = log::entries(tx, attempt)?;
            let last = latest(&entries);
            let places = (0..).zip(0..bank.questions.questions.len());
            let shown: Vec<ShownQuestion<'_>> = places
                .map(|(number, place)| ShownQuestion {
                    place,
                    number: i64::from(number),
                    seed: variant_seed(attempt, i64::from(number)),
                    answered: last.get(&number).and_then(|entry| entry.answered.as_ref()),
                    shows_result: false,
                })
                .collect();
            load(tx, context, (&attempt.lesson, &bank), &shown)
        }
    }
}

/// A question of the log. `shows_result` says whether the result of its answer is shown.
pub(super) fn shown_question<'a>(
    attempt: &Attempt,
    entry: &'a AttemptLogEntry,
    shows_result: bool,
) -> ShownQuestion<'a> {
    let number = variant_number(attempt, entry);
    ShownQuestion {
        place: entry.question as usize,
        number,
        seed: variant_seed(attempt, number),
        answered: entry.answered.as_ref(),
        shows_result,
    }
}

/// The answers of the last attempt with their results: of a complete attempt, or of one that shows each result at once.
///
/// Errors: as [`open`]; `Conflict` while the results are not shown yet.
pub fn review(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    id: &str,
) -> Result<LessonDraft> {
    let found = find(tx, context, student, id)?;
    let (attempt, _) = started(tx, context, student, id)?;
    if attempt.completed.is_none() && attempt.lesson_type != LessonType::Powerpath100 {
        let message = "the results are shown when the lesson is finished";
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let bank = bank_of(tx, context, &attempt)?;
    let entries = log::entries(tx, &attempt)?;
    let last = latest(&entries);
    let mut answered: Vec<&AttemptLogEntry> = last.into_values().collect();
    if attempt.lesson_type == LessonType::Powerpath100 {
        answered.sort_by_key(|entry| entry.number);
    }
    let shown: Vec<_> =
        answered.into_iter().map(|entry| shown_question(&attempt, entry, true)).collect();
    let questions = load(tx, context, (id, &bank), &shown)?;
    Ok(LessonDraft { view: view(tx, context, (student, found), Some(&attempt))?, questions })
}

/// The student's last attempt at a lesson, and its open question. Errors: `NotFound` for a lesson that the student does not have; `Conflict` if
/// the student has not started it.
pub(super) fn started(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    id: &str,
) -> Result<(Attempt, Option<OpenQuestion>)> {
    if let Some(found) = attempts::last_with_question(tx, student, id)? {
        return Ok(found);
    }
    find(tx, context, student, id)?;
    let message = "the lesson has not been started; start it first";
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// Chooses the question that the student answers next, if that has not happened yet. Errors: as [`started`]; `Invalid` for a
/// lesson that shows all its questions.
pub fn next(tx: &mut Tx<'_>, context: &LessonContext<'_>, student: &str, id: &str) -> Result<()> {
    roster::lock_user(tx, student)?;
    started(tx, context, student, id)?;
    answer::next(tx, context, student, id).map(drop)
}
