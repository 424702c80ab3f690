//! Students' attempts at lessons.

use std::sync::Arc;

use lyceum_bridge::enroll;
use lyceum_core::body::OneLineText;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::repository::{LessonState, lesson_state};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::bank::QuestionSet;
use crate::engine::{self, AnswerCounts, AnswerLog};
use crate::lesson::{self, Lesson};
use crate::limits;
use crate::logs::ReadLog;
use crate::repository::attempts::NewAttempt;
use crate::repository::{attempts as repository, external, log};
use crate::{LessonType, Policy, credit, gradebook, policies};

pub use crate::lesson_context::LessonContext;
pub use crate::repository::attempts::Attempt;
pub use crate::repository::log::{AttemptLogAnswer, AttemptLogEntry};

impl Attempt {
    /// Its state, as a value of OneRoster's `scoreStatus`.
    pub fn score_status(&self) -> &'static str {
        match (self.completed, self.answered) {
            (Some(_), _) if !self.is_pending() => "fully graded",
            (None, 0) => "not submitted",
            _ => "partially graded",
        }
    }

    /// Whether it was finished and waits for a person to score answers. Attempts that score by steps never wait.
    pub fn is_pending(&self) -> bool {
        self.pending > 0 && self.completed.is_some() && self.xp.is_none()
    }

    /// Whether it has a time limit, and its student has not started the time of its round.
    pub(crate) fn waits_for_start(&self) -> bool {
        self.time_limit_ms.is_some() && self.clock.is_none()
    }

    /// The counts of its answers.
    pub fn counts(&self) -> AnswerCounts {
        let Self { earned, correct, total, pending, .. } = *self;
        AnswerCounts { earned, correct, total, pending }
    }

    /// Takes over counts of answers.
    pub(crate) fn count(&mut self, counts: AnswerCounts) {
        let AnswerCounts { earned, correct, total, pending } = counts;
        (self.earned, self.correct, self.total, self.pending) = (earned, correct, total, pending);
    }

    /// The number of answered questions, including those that a person must still score.
    pub(crate) fn answered_questions(&self) -> u32 {
        self.total + self.pending
    }

    /// The number of answers that a person must still score; `None` without such answers.
    pub(crate) fn pending_questions(&self) -> Option<u32> {
        (self.pending > 0).then_some(self.pending)
    }

    /// The percentage of the full score so far, cut to two decimals.
    pub fn accuracy(&self) -> f64 {
        engine::accuracy(&self.counts())
    }

    /// The policy that was in force when it began.
    pub(crate) fn policy(&self, tx: &mut Tx<'_>) -> Result<Policy> {
        Ok(policies::version(tx, self.lesson_type, self.policy)?.policy)
    }

    /// Its log, as the engine reads it.
    pub fn log(&self, tx: &mut Tx<'_>, bank: &QuestionSet) -> Result<AnswerLog> {
        let counts = log::earlier(tx, self)?;
        let questions = bank.questions.questions.iter();
        let earlier = match counts.is_empty() {
            true => Vec::new(),
            false => questions.map(|q| counts.get(&q.id).copied().unwrap_or(0)).collect(),
        };
        Ok(AnswerLog { earlier, answers: log::answers(tx, self, 0)? })
    }

    /// Refuses to continue a complete attempt.
    pub(crate) fn running(&self) -> Result<()> {
        match self.completed {
            None => Ok(()),
            Some(_) => {
                let next = match self.lesson_type {
                    LessonType::TestOut => {
                        "a test-out can be taken only once; resetAttempt opens it again"
                    }
                    _ => "begin another with createNewAttempt",
                };
                let (number, lesson) = (self.number, &self.lesson);
                let message =
                    message!("attempt {number} of the lesson '{lesson}' is complete; {next}");
                Err(Problem::new(ProblemKind::Conflict, message))
            }
        }
    }
}

/// A student and a lesson.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StudentAndLesson {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    pub student: String,
    /// The lesson's sourcedId.
    #[schemars(with = "OneLineText")]
    pub lesson: String,
}

/// The lesson, for a student within the reach who may work on it.
///
/// Errors: `NotFound` for an unknown student or lesson; `Invalid` if the student is not enrolled in the course.
/// Placement tests need no enrollment, because they come before it.
pub fn lesson_for(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    id: &str,
) -> Result<Arc<Lesson>> {
    if context.reach.is_limited() {
        lesson::student(tx, student, context.reach)?;
    }
    let Some(LessonState { records, enrollments }) = lesson_state(tx, student, id)? else {
        lesson::student(tx, student, context.reach)?;
        lesson::find(tx, id)?;
        return Err(Problem::internal("an active lesson has inactive records"));
    };
    let lesson = context.memory.lessons.get(tx, id, records)?;
    let is_placement = lesson.lesson_type == LessonType::Placement;
    if is_placement || enroll::any_is_current(context.now, &enrollments)? {
        return Ok(lesson);
    }
    Err(Problem::invalid(
        "student",
        message!(
            "the student '{student}' is not enrolled in the course '{lesson.course.id}' of the lesson; enroll them \
             first"
        ),
    ))
}

/// The lesson and the student's current attempt. Errors: as [`lesson_for`].
pub fn current(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<(Arc<Lesson>, Attempt)> {
    let lesson = lesson_for(tx, context, student, lesson)?;
    let attempt = current_of(tx, context, student, &lesson)?;
    Ok((lesson, attempt))
}

/// The student's current attempt, which is the last one. Begins the first attempt if there is none.
pub(crate) fn current_of(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &Lesson,
) -> Result<Attempt> {
    match repository::last(tx, student, &lesson.id)? {
        Some(attempt) => Ok(attempt),
        None => begin(tx, context, student, lesson, None).map(|(attempt, _)| attempt),
    }
}

/// Like [`current`], but does not begin an attempt: `None` if there is none yet.
pub fn last(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<(Arc<Lesson>, Option<Attempt>)> {
    let lesson = lesson_for(tx, context, student, lesson)?;
    let attempt = repository::last(tx, student, &lesson.id)?;
    Ok((lesson, attempt))
}

fn begin(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &Lesson,
    former: Option<&Attempt>,
) -> Result<(Attempt, Arc<QuestionSet>)> {
    context.check_changes(student)?;
    let number = former.map_or(1, |former| former.number + 1);
    let test = lesson.test(tx, student, number)?;
    let former = former.map(|former| bank_of(tx, context, former)).transpose()?;
    let seed = seed(&[student, &lesson.id, &number.to_string(), &context.now.to_string()]);
    let is_whole = lesson.lesson_type != LessonType::Powerpath100;
    let test_and_seed = (test.as_deref(), is_whole.then_some(seed));
    let bank = QuestionSet::of_test(tx, &context.memory.tests, test_and_seed, former)?;
    let time_limit = match test.as_deref().filter(|_| is_whole) {
        Some(test) => context.memory.tests.time_limit(tx, test)?,
        None => None,
    };
    let policy = policies::current(tx, lesson.lesson_type)?.number;
    let beginning = NewAttempt {
        student,
        lesson: &lesson.id,
        course: &lesson.course.id,
        lesson_type: lesson.lesson_type,
        base_xp: lesson.base_xp,
        number,
        policy,
        bank: &bank.id,
        seed,
        started: context.now,
        time_limit_ms: time_limit.map(|limit| limit.ms),
        allows_late: time_limit.is_some_and(|limit| limit.allows_late),
    };
    repository::insert(tx, &beginning)?;
    let attempt = repository::last(tx, student, &lesson.id)?;
    let attempt = attempt
        .ok_or_else(|| Problem::internal("an attempt is missing right after it was stored"))?;
    Ok((attempt, bank))
}

/// The seed of an attempt is a hash of the parts, so that its draws are reproducible.
fn seed(parts: &[&str]) -> u64 {
    let digest = Sha256::digest(parts.join("\n").as_bytes());
    u64::from_be_bytes(digest[..8].try_into().expect("a SHA-256 has more than 8 bytes"))
}

/// A new attempt, with its log if that is known without reading it, for [`crate::LessonCaches::store_log`] after the commit.
pub type StartedAttempt = (Attempt, Option<ReadLog>);

/// Begins the next attempt. Errors: as [`lesson_for`]; `Conflict` while the last attempt runs or waits to be scored,
/// and for a test-out, which can be taken only once.
pub fn create(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<StartedAttempt> {
    let lesson = lesson_for(tx, context, student, lesson)?;
    context.check_changes(student)?;
    let last = repository::last(tx, student, &lesson.id)?;
    if let Some(last) = last.as_ref().filter(|last| last.completed.is_none()) {
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "attempt {last.number} of the lesson '{lesson.id}' is not complete; finish it first, or reset it \
                 with resetAttempt"
            ),
        ));
    }
    if let Some(last) = last.as_ref().filter(|last| last.is_pending()) {
        let message = message!(
            "Attempt {last.number} of the lesson '{lesson.id}' has answers that wait for a person to score them. \
             Finish it again with finalStudentAssessmentResponse when they are scored, or begin it anew with resetAttempt."
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if last.is_some() && lesson.lesson_type == LessonType::TestOut {
        return Err(already_taken(student, &lesson.id));
    }
    let most = limits::LESSON_ATTEMPT_MAX_COUNT;
    if last.as_ref().is_some_and(|last| last.number >= most) {
        let message = message!("the student has used all {most} attempts of the lesson");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let (attempt, bank) = begin(tx, context, student, &lesson, last.as_ref())?;
    gradebook::write(tx, context, &lesson, &attempt, &[], &[])?;
    let log = last.and_then(|last| context.memory.logs.after(&last, &attempt, &bank));
    Ok((attempt, log))
}

/// The problem of a second start: a test-out can be taken only once, whether it was passed or not.
pub(crate) fn already_taken(student: &str, lesson: &str) -> Problem {
    let message = message!(
        "the student '{student}' has already taken the test-out '{lesson}'; resetAttempt opens it again"
    );
    Problem::new(ProblemKind::Conflict, message)
}

/// The student's attempts at a lesson, in order. Errors: `NotFound`.
pub fn list(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<Vec<Attempt>> {
    lesson::student(tx, student, context.reach)?;
    let lesson = lesson::find(tx, lesson)?;
    repository::of(tx, student, ("lesson", &lesson.id))
}

/// Resets the last attempt: its answers no longer count, its score is 0, and what it earned is taken back. Its
/// questions and policy stay. Errors: as [`lesson_for`].
pub fn reset(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<()> {
    let lesson = lesson_for(tx, context, student, lesson)?;
    context.check_changes(student)?;
    let Some(former) = repository::last(tx, student, &lesson.id)? else { return Ok(()) };
    if former.answered == 0 && former.completed.is_none() {
        return Ok(());
    }
    let answers = log::entries(tx, &former)?;
    gradebook::take_back_answers(tx, context, &former, &answers)?;
    credit::take_back(tx, context, &former)?;
    if lesson.tool_provider().is_some() {
        // Otherwise, the tool's old result would finish the new round at once.
        external::delete(tx, student, &lesson.id)?;
        gradebook::take_back_results(tx, context, &former)?;
    }
    repository::begin_anew(tx, &former)?;
    let attempt = current_of(tx, context, student, &lesson)?;
    gradebook::write(tx, context, &lesson, &attempt, &[], &[])
}

/// The bank of an attempt.
pub fn bank_of(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
) -> Result<Arc<QuestionSet>> {
    context.memory.banks.get(tx, &attempt.bank)
}
