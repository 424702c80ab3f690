//! Tests that students take with an outside tool. The server never calls the tool. It stores an assignment and
//! returns the tool's address. Results are read from the gradebook, to which the tool or an import of its reports
//! writes them.

use std::sync::Arc;

use lyceum_core::body::OneLineText;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, RESOURCE};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::attempt::{self, StudentAndLesson};
use crate::engine::AnswerCounts;
use crate::lesson::Lesson;
use crate::lesson_context::LessonContext;
use crate::lesson_list::{LessonResult, LessonResults};
use crate::repository::{attempts, external as repository};
use crate::{LessonType, credit, gradebook, placement};

pub use crate::repository::external::{ExternalTestTerms, StoredExternalTest};
pub(crate) use repository::last;

/// The address of the test, with what a client needs to open it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalTestAddress {
    /// The assignment's id.
    pub assignment_id: String,
    /// The tool's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_url: Option<String>,
    /// The tool's id of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
}

/// An assigned test with its address.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalTestAssignment {
    /// The outside tool.
    pub tool_provider: String,
    /// The type of the lesson.
    pub lesson_type: LessonType,
    /// The lesson.
    pub lesson_id: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// Whether its result was counted.
    pub finalized: bool,
    /// How to reach it.
    #[serde(flatten)]
    pub outside: ExternalTestAddress,
}

/// A test at an outside tool to assign to a student.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalTestRequest {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    student: String,
    /// The lesson's sourcedId.
    #[schemars(with = "OneLineText")]
    lesson: String,
    /// The application with which the student signs in there.
    #[schemars(with = "Option<OneLineText>")]
    application_name: Option<String>,
    /// The tool's id of the test.
    #[schemars(with = "Option<OneLineText>")]
    test_id: Option<String>,
    /// Whether a placement test that is not passed enrolls in no course.
    skip_course_enrollment: Option<bool>,
}

/// Notes that a student is to take a test at its outside tool; an assignment that is not finished stays
/// as it is.
///
/// Errors: `Invalid` for lessons that are taken here; `NotFound`.
pub fn assign_external(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    request: &ExternalTestRequest,
) -> Result<ExternalTestAssignment> {
    let terms = ExternalTestTerms {
        application: request.application_name.clone(),
        test_id: request.test_id.clone(),
        skip_enrollment: request.skip_course_enrollment.unwrap_or_default(),
    };
    let lesson = outside_lesson(tx, context, &request.student, &request.lesson)?;
    context.check_changes(&request.student)?;
    let assigned = assign(tx, context.now, &request.student, &lesson, &terms)?;
    to_assignment(tx, &lesson, &assigned)
}

/// Finishes the lesson with the result of a student's test in the gradebook, if it has one, like a lesson that the
/// student takes on this server.
///
/// Errors: `Invalid`; `NotFound`, where no test was assigned too.
pub fn import(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    request: &StudentAndLesson,
) -> Result<ExternalTestAssignment> {
    let StudentAndLesson { student, lesson } = request;
    let lesson = outside_lesson(tx, context, student, lesson)?;
    context.check_changes(student)?;
    let Some(mut assigned) = last(tx, student, &lesson.id)? else {
        let message = message!(
            "the student '{student}' has no assignment of the lesson '{lesson.id}'; create one with \
             makeExternalTestAssignment"
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    if !assigned.finalized
        && let Some((score, counts)) = result(tx, &assigned)?
    {
        finish(tx, context, &lesson, &assigned, score, counts)?;
        repository::finalize(tx, &assigned)?;
        assigned.finalized = true;
    }
    to_assignment(tx, &lesson, &assigned)
}

/// The lesson, if it is taken with an outside tool.
fn outside_lesson(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    id: &str,
) -> Result<Arc<Lesson>> {
    let lesson = attempt::lesson_for(tx, context, student, id)?;
    match lesson.tool_provider() {
        Some(_) => Ok(lesson),
        None => Err(Problem::invalid(
            "lesson",
            message!(
                "the lesson '{id}' is not taken with an outside tool; send answers with \
                updateStudentQuestionResponse"
            ),
        )),
    }
}

/// The unfinished assignment, or a new one. Errors: `Conflict` for a test-out that was already taken.
pub(crate) fn assign(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    lesson: &Lesson,
    terms: &ExternalTestTerms,
) -> Result<StoredExternalTest> {
    let last = last(tx, student, &lesson.id)?;
    let attempt = match last {
        Some(last) if !last.finalized => return Ok(last),
        Some(_) if lesson.lesson_type == LessonType::TestOut => {
            return Err(attempt::already_taken(student, &lesson.id));
        }
        Some(last) => last.attempt + 1,
        None => 1,
    };
    let assignment = StoredExternalTest {
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

/// The score and the counts (correct, total) of the assignment's result in the gradebook: one that names its attempt,
/// or one written after the assignment was created.
fn result(tx: &mut Tx<'_>, assigned: &StoredExternalTest) -> Result<Option<(f64, (u32, u32))>> {
    let marks = LessonResults::of(tx, &assigned.student, &[&assigned.lesson])?;
    let is_its = |mark: &&LessonResult| match mark.attempt() {
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
        // A result without counts of questions counts as a share of 100.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let share = (score as u32, 100);
        (score, counted.filter(|(right, all)| right <= all && *all > 0).unwrap_or(share))
    }))
}

/// Finishes the attempt as if it had been taken on this server.
fn finish(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    lesson: &Lesson,
    assigned: &StoredExternalTest,
    score: f64,
    (correct, total): (u32, u32),
) -> Result<()> {
    let counts = AnswerCounts::of(correct, total);
    let (_, mut attempt) = attempt::current(tx, context, &assigned.student, &lesson.id)?;
    if attempt.completed.is_some() {
        (attempt, _) = attempt::create(tx, context, &assigned.student, &lesson.id)?;
    }
    credit::complete(tx, context, lesson, &mut attempt, score, counts)?;
    attempts::update(tx, &attempt, context.now)?;
    let settled = match assigned.terms.skip_enrollment {
        true => placement::PlacementOutcome::default(),
        false => placement::settle(tx, context.now, &assigned.student, lesson, score)?,
    };
    gradebook::write(tx, context, lesson, &attempt, &[], settled.result_members())
}

fn to_assignment(
    tx: &mut Tx<'_>,
    lesson: &Lesson,
    assigned: &StoredExternalTest,
) -> Result<ExternalTestAssignment> {
    Ok(ExternalTestAssignment {
        tool_provider: lesson.tool_provider().unwrap_or_default().to_owned(),
        lesson_type: lesson.lesson_type,
        lesson_id: lesson.id.clone(),
        attempt: assigned.attempt,
        finalized: assigned.finalized,
        outside: outside(tx, lesson, assigned)?,
    })
}

/// How to reach the test, according to the lesson's resource.
pub(crate) fn outside(
    tx: &mut Tx<'_>,
    lesson: &Lesson,
    assigned: &StoredExternalTest,
) -> Result<ExternalTestAddress> {
    let record = fields::in_use(tx, &COMPONENT_RESOURCE, &lesson.id)?;
    let resource = fields::in_use(tx, &RESOURCE, fields::reference(&record, "resource"))?;
    let test_id =
        assigned.terms.test_id.clone().or_else(|| fields::opt_text(&resource, "vendorId"));
    let test_url = fields::opt_text(&fields::metadata(&resource), "launchUrl");
    Ok(ExternalTestAddress { assignment_id: assigned.id.clone(), test_url, test_id })
}
