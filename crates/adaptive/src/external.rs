//! Tests that are taken at an outside tool. Nobody here can call the tool: an assignment is noted, the
//! address of the tool is told, and results are taken from the gradebook, where the tool or whoever
//! reads its reports writes them.

use std::sync::Arc;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::attempt::{self, Desk};
use crate::engine::Counts;
use crate::input::Input;
use crate::lesson::Lesson;
use crate::listed::{Mark, Marks};
use crate::repository::{attempts, external as repository};
use crate::{LessonType, credit, gradebook, placement, test_out};

pub(crate) use repository::last;

/// A student's test at an outside tool.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Its id.
    pub id: String,
    /// The student's sourcedId.
    pub student: String,
    /// The lesson's sourcedId.
    pub lesson: String,
    /// Which attempt of the student it is, from 1.
    pub attempt: u32,
    /// What was asked for.
    pub terms: Terms,
    /// When it was assigned.
    pub assigned_at: String,
    /// Whether its result counted.
    pub finalized: bool,
}

/// What an assignment asks for.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The application with which the student signs in there.
    pub application: Option<String>,
    /// Which test of the tool.
    pub test_id: Option<String>,
    /// Whether a placement test that is not passed enrolls in no course.
    pub skip_enrollment: bool,
}

/// What a client needs to know to go there.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outside {
    /// The assignment's id.
    pub assignment_id: String,
    /// Where the tool is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_url: Option<String>,
    /// What the tool calls the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
}

/// An assignment as it is told.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// The outside tool.
    pub tool_provider: String,
    /// What sort of lesson it is.
    pub lesson_type: LessonType,
    /// The lesson.
    pub lesson_id: String,
    /// Which attempt it is.
    pub attempt: u32,
    /// Whether its result is there.
    pub finalized: bool,
    /// How to go there.
    #[serde(flatten)]
    pub outside: Outside,
}

/// Notes that a student is to take a test at its outside tool; an assignment that is not finished stays
/// as it is. Reads `{student, lesson, applicationName?, testId?, skipCourseEnrollment?}`.
///
/// Errors: `Invalid`, for lessons that are taken here too; `NotFound`.
pub fn make(tx: &mut Tx<'_>, desk: &Desk<'_>, body: &Object) -> Result<Told> {
    let mut input = Input::of(body);
    let (student, lesson) = (input.text("student"), input.text("lesson"));
    let terms = Terms {
        application: input.opt_text("applicationName"),
        test_id: input.opt_text("testId"),
        skip_enrollment: input.flag("skipCourseEnrollment"),
    };
    input.done(())?;
    let lesson = outside_lesson(tx, desk, &student, &lesson)?;
    let assigned = assign(tx, desk.now, &student, &lesson, &terms)?;
    told(tx, &lesson, &assigned)
}

/// Takes the result of a student's test from the gradebook, if it is there: the lesson is finished
/// with it, as one that is taken here. Reads `{student, lesson, applicationName?}`.
///
/// Errors: `Invalid`; `NotFound`, where no test was assigned too.
pub fn import(tx: &mut Tx<'_>, desk: &Desk<'_>, asked: &Object) -> Result<Told> {
    let mut input = Input::of(asked);
    let (student, lesson) = (input.text("student"), input.text("lesson"));
    input.opt_text("applicationName");
    input.done(())?;
    let lesson = outside_lesson(tx, desk, &student, &lesson)?;
    let Some(mut assigned) = last(tx, &student, &lesson.id)? else {
        let message = format!(
            "the student '{student}' has no assignment of the lesson '{}'; make one with \
             makeExternalTestAssignment",
            lesson.id
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    if !assigned.finalized
        && let Some((score, counts)) = result(tx, &assigned)?
    {
        finish(tx, desk, &lesson, &assigned, score, counts)?;
        repository::finalize(tx, &assigned)?;
        assigned.finalized = true;
    }
    told(tx, &lesson, &assigned)
}

/// The lesson, if it is taken at an outside tool.
fn outside_lesson(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    student: &str,
    id: &str,
) -> Result<Arc<Lesson>> {
    let lesson = attempt::lesson_for(tx, desk, student, id)?;
    match lesson.tool_provider() {
        Some(_) => Ok(lesson),
        None => Err(Problem::invalid(
            "lesson",
            format!(
                "the lesson '{id}' is taken here; send answers with updateStudentQuestionResponse"
            ),
        )),
    }
}

/// The assignment that is not finished, else a new one. Errors: `Conflict` for a test-out that was taken.
pub(crate) fn assign(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    lesson: &Lesson,
    terms: &Terms,
) -> Result<Assignment> {
    let last = last(tx, student, &lesson.id)?;
    let attempt = match last {
        Some(last) if !last.finalized => return Ok(last),
        Some(_) if lesson.lesson_type == LessonType::TestOut => {
            return Err(test_out::taken(student, &lesson.id));
        }
        Some(last) => last.attempt + 1,
        None => 1,
    };
    let assignment = Assignment {
        id: Uuid::now_v7().to_string(),
        student: student.to_owned(),
        lesson: lesson.id.clone(),
        attempt,
        terms: terms.clone(),
        assigned_at: now.to_string(),
        finalized: false,
    };
    repository::insert(tx, &assignment)?;
    Ok(assignment)
}

/// Score and counts (right, all) of the result that the gradebook has of the assignment: one that names
/// its attempt, else one that was written after it was made.
fn result(tx: &mut Tx<'_>, assigned: &Assignment) -> Result<Option<(f64, (u32, u32))>> {
    let marks = Marks::of(tx, &assigned.student, &[&assigned.lesson])?;
    let is_its = |mark: &&Mark| match mark.attempt() {
        Some(attempt) => attempt == i64::from(assigned.attempt),
        None => fields::text(&mark.fields, "dateLastModified") >= assigned.assigned_at.as_str(),
    };
    let found = marks.in_lesson(&assigned.lesson).iter().rev().filter(is_its);
    let mut graded = found.filter_map(|mark| Some((mark, mark.graded()?)));
    Ok(graded.next().map(|(mark, score)| {
        let metadata = fields::metadata(&mark.fields);
        let count = |name: &str| {
            let count = metadata.get(name).and_then(Value::as_u64);
            count.and_then(|count| u32::try_from(count).ok())
        };
        let counted = count("correctQuestions").zip(count("totalQuestions"));
        let score = score.clamp(0.0, 100.0);
        // A result that counts no questions is a share of a hundred.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let share = (score as u32, 100);
        (score, counted.filter(|(right, all)| right <= all && *all > 0).unwrap_or(share))
    }))
}

/// Finishes the attempt as one that is taken here is finished.
fn finish(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    lesson: &Lesson,
    assigned: &Assignment,
    score: f64,
    (correct, total): (u32, u32),
) -> Result<()> {
    let counts = Counts::of(correct, total);
    let (_, mut attempt) = attempt::current(tx, desk, &assigned.student, &lesson.id)?;
    if attempt.completed.is_some() {
        (attempt, _) = attempt::create(tx, desk, &assigned.student, &lesson.id)?;
    }
    credit::complete(tx, desk, lesson, &mut attempt, score, counts)?;
    attempts::update(tx, &attempt, desk.now)?;
    let settled = match assigned.terms.skip_enrollment {
        true => placement::Settled::default(),
        false => placement::settle(tx, desk.now, &assigned.student, lesson, score)?,
    };
    gradebook::write(tx, desk, lesson, &attempt, &[], settled.told())
}

fn told(tx: &mut Tx<'_>, lesson: &Lesson, assigned: &Assignment) -> Result<Told> {
    Ok(Told {
        tool_provider: lesson.tool_provider().unwrap_or_default().to_owned(),
        lesson_type: lesson.lesson_type,
        lesson_id: lesson.id.clone(),
        attempt: assigned.attempt,
        finalized: assigned.finalized,
        outside: outside(tx, lesson, assigned)?,
    })
}

/// How to go there, by what the lesson's resource says.
pub(crate) fn outside(tx: &mut Tx<'_>, lesson: &Lesson, assigned: &Assignment) -> Result<Outside> {
    let record = fields::in_use(tx, &COMPONENT_RESOURCE, &lesson.id)?;
    let resource = fields::in_use(tx, &RESOURCE, fields::reference(&record, "resource"))?;
    let test_id =
        assigned.terms.test_id.clone().or_else(|| fields::opt_text(&resource, "vendorId"));
    let test_url = fields::opt_text(&fields::metadata(&resource), "launchUrl");
    Ok(Outside { assignment_id: assigned.id.clone(), test_url, test_id })
}
