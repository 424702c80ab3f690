//! Testing out of courses: the lesson, and which students may take it.
//!
//! Passing exempts the lessons that it covers: the gradebook has a result with the status `exempt` for each. Plans
//! and progress follow from these results, so a teacher can also exempt a student through the gradebook. A student
//! takes a test-out once, passed or not.

use lyceum_bridge::enrollments::CourseEnrollment;
use lyceum_core::body::OneLineText;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::kinds::{COURSE, USER};
use lyceum_roster::reach::check_changes;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::external::{self, ExternalTestAddress, StoredExternalTest};
use crate::lesson::{self};
use crate::lesson_list::LessonResults;
use crate::repository::attempts;
use crate::test_assignments::{self, CreatedAssignment};
use crate::{LessonType, policies};

/// The test-out lesson of a course, for a student.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestOut {
    /// `test-out`
    pub lesson_type: LessonType,
    /// The lesson; null if the course has none.
    pub lesson_id: Option<String>,
    /// Whether the student's last attempt is finished.
    pub finalized: bool,
    /// The outside tool that it is taken with.
    pub tool_provider: Option<String>,
    /// The number of the student's current attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The assignment with the outside tool.
    #[serde(flatten)]
    pub outside: Option<ExternalTestAddress>,
}

/// A student and a course.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StudentAndCourse {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    student: String,
    /// The course's sourcedId.
    #[schemars(with = "OneLineText")]
    course: String,
}

/// A test-out to assign.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestOutRequest {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    one_roster_sourced_id: String,
    /// The subject.
    #[schemars(with = "OneLineText")]
    subject: String,
}

/// A test-out that was assigned.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestOutAssignment {
    /// The assignment.
    #[serde(flatten)]
    pub assignment: CreatedAssignment,
    /// The course.
    pub course_id: String,
    /// The outside tool that it is taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_provider: Option<String>,
    /// The attempt at the outside tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The address of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_url: Option<String>,
    /// The tool's id of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
}

/// The state of a student's test-out of a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestOutStatus {
    /// The state of the test-out.
    #[schemars(extend("enum" = ["not_eligible", "available", "in_progress", "completed", "failed"]))]
    pub status: &'static str,
    /// The assignment, once the student has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment_id: Option<String>,
    /// The lesson, once the student has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson_id: Option<String>,
}

/// The test-out lesson of a course. Errors: `NotFound`.
pub fn of(
    tx: &mut Tx<'_>,
    StudentAndCourse { student, course }: &StudentAndCourse,
    reach: &Reach,
) -> Result<TestOut> {
    lesson::student(tx, student, reach)?;
    lesson::in_use(tx, &COURSE, course, "course", reach)?;
    let lesson_type = LessonType::TestOut;
    let Some(id) = lesson_of(tx, course)? else {
        let (lesson_id, tool_provider, attempt, outside) = (None, None, None, None);
        return Ok(TestOut {
            lesson_type,
            lesson_id,
            finalized: false,
            tool_provider,
            attempt,
            outside,
        });
    };
    let lesson = lesson::find(tx, &id)?;
    let last = attempts::last(tx, student, &id)?;
    let assigned = external::last(tx, student, &id)?;
    let attempt = match (&last, &assigned) {
        (_, Some(assigned)) => Some(assigned.attempt),
        (Some(attempt), None) => Some(attempt.number),
        (None, None) => None,
    };
    let graded = LessonResults::of(tx, student, &[&id])?.last_score(&id).is_some();
    let outside = assigned.map(|assigned| external::outside(tx, &lesson, &assigned)).transpose()?;
    Ok(TestOut {
        lesson_type,
        finalized: graded,
        tool_provider: lesson.tool_provider().map(str::to_owned),
        lesson_id: Some(id),
        attempt,
        outside,
    })
}

/// The test-out lesson of a course.
pub(crate) fn lesson_of(tx: &mut Tx<'_>, course: &str) -> Result<Option<String>> {
    let lessons = roster::test_outs(tx, &[course])?;
    Ok(lessons.into_iter().next().map(|(_, lesson)| lesson))
}

/// The state of a student's test-out of a course.
pub(crate) fn status(
    tx: &mut Tx<'_>,
    student: &str,
    course: &str,
    learns: bool,
) -> Result<TestOutStatus> {
    let before = |status| TestOutStatus { status, assignment_id: None, lesson_id: None };
    let Some(id) = lesson_of(tx, course)? else { return Ok(before("not_eligible")) };
    let score = LessonResults::of(tx, student, &[&id])?.last_score(&id);
    let assigned = external::last(tx, student, &id)?;
    let has_begun = assigned.is_some() || attempts::last(tx, student, &id)?.is_some();
    let mastery = f64::from(policies::current(tx, LessonType::TestOut)?.policy.mastery);
    let status = match score {
        Some(score) if score >= mastery => "completed",
        Some(_) => "failed",
        None if has_begun => "in_progress",
        None if learns => return Ok(before("available")),
        None => return Ok(before("not_eligible")),
    };
    let assignment_id = assigned.map_or_else(|| id.clone(), |StoredExternalTest { id, .. }| id);
    Ok(TestOutStatus { status, assignment_id: Some(assignment_id), lesson_id: Some(id) })
}

/// Whether a student may ask for a test-out in a subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestOutEligibility {
    /// Whether the student may ask for a test-out.
    pub eligible: bool,
    /// The reason if the student may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Message>,
}

/// Whether a student with these enrollments may request a test-out in a subject.
pub fn eligibility(enrollments: &[CourseEnrollment], subject: &str) -> TestOutEligibility {
    match course(enrollments, subject) {
        Ok(_) => TestOutEligibility { eligible: true, reason: None },
        Err(reason) => TestOutEligibility { eligible: false, reason: Some(reason) },
    }
}

/// The course of the subject that the student may test out of. The error says why there is none.
fn course<'a>(enrollments: &'a [CourseEnrollment], subject: &str) -> Result<&'a str, Message> {
    let is_about = |enrollment: &&CourseEnrollment| {
        enrollment.role == "student"
            && enrollment.course.subjects.iter().any(|known| known.eq_ignore_ascii_case(subject))
    };
    let mut learned = enrollments.iter().filter(is_about).peekable();
    if learned.peek().is_none() {
        return Err(message!("the student is not enrolled in a course of the subject '{subject}'"));
    }
    let mut with_test = learned.filter(|enrollment| enrollment.test_out_supported).peekable();
    if with_test.peek().is_none() {
        return Err(message!("no course of the subject '{subject}' has a test-out lesson"));
    }
    let open = with_test.find(|enrollment| enrollment.test_out_eligible);
    let open = open.map(|enrollment| enrollment.course.id.as_str());
    open.ok_or_else(|| message!("the test-out lesson of the subject '{subject}' is already graded"))
}

/// Assigns a student the test-out of a course of the subject.
///
/// Errors: `NotFound`; `Conflict` where the student may not; `Forbidden` for the reach of a teacher.
pub fn assign(
    tx: &mut Tx<'_>,
    now: Timestamp,
    TestOutRequest { one_roster_sourced_id: student, subject }: &TestOutRequest,
    reach: &Reach,
) -> Result<TestOutAssignment> {
    let enrollments = lyceum_bridge::enrollments::settled_of_user(tx, now, student, reach)?;
    check_changes(&USER, student, reach)?;
    let refused = |reason| Problem::new(ProblemKind::Conflict, reason);
    let course = course(&enrollments, subject).map_err(refused)?;
    let missing_lesson = || Problem::internal("a test-out lesson vanished");
    let lesson = lesson_of(tx, course)?.ok_or_else(missing_lesson)?;
    let lesson = lesson::find(tx, &lesson)?;
    let mut assignment = TestOutAssignment {
        assignment: test_assignments::assign_lesson(tx, now, student, subject, &lesson, None)?,
        course_id: course.to_owned(),
        tool_provider: lesson.tool_provider().map(str::to_owned),
        attempt: None,
        test_url: None,
        test_id: None,
    };
    if assignment.tool_provider.is_some() {
        let assigned =
            external::assign(tx, now, student, &lesson, &external::ExternalTestTerms::default())?;
        let outside = external::outside(tx, &lesson, &assigned)?;
        assignment.attempt = Some(assigned.attempt);
        (assignment.test_url, assignment.test_id) = (outside.test_url, outside.test_id);
    }
    Ok(assignment)
}
