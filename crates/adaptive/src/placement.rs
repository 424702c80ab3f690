//! Placement: tests of rising grades find where a student begins in a subject.
//!
//! A student's standing depends only on the gradebook: students take the tests in order, a passed test leads to the
//! next one, and a failed test ends the placement.

use lyceum_bridge::enroll::{self, EnrollmentRequest};
use lyceum_core::body::OneLineText;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::collections::at;
use lyceum_roster::fields;
use lyceum_roster::grade;
use lyceum_roster::kinds::{ASSESSMENT_RESULT, USER};
use lyceum_roster::reach::check_changes;
use lyceum_roster::render::RecordView;
use lyceum_roster::write;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lesson::{self, Lesson};
use crate::lesson_list::{LessonResults, ListedLesson, of_type, render_record};
use crate::repository::{attempts, external};
use crate::{LessonType, policies};

/// A student and a subject.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StudentAndSubject {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    pub(crate) student: String,
    /// The subject.
    #[schemars(with = "OneLineText")]
    pub(crate) subject: String,
}

/// A student's position in the placement tests of a subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementStanding {
    /// Whether all tests are passed.
    pub exhausted_tests: bool,
    /// The grade of the next test; null if there is none.
    pub grade_level: Option<String>,
    /// The next test; left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson: Option<String>,
    /// Whether placement is over: all tests are passed, or one was failed.
    pub onboarded: bool,
    /// The number of the subject's tests.
    pub available_tests: usize,
    /// The grade of the last test taken, or of the first test.
    #[serde(skip)]
    pub reached: String,
}

/// A student's position in the placement tests of each subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Placements {
    /// The student's sourcedId.
    pub student: String,
    /// The subjects that have placement tests.
    pub placements: Vec<SubjectStanding>,
}

/// A student's position in the placement tests of one subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectStanding {
    /// Where the student stands.
    #[serde(flatten)]
    pub standing: PlacementStanding,
    /// The subject.
    pub subject: String,
    /// The grade of the last test taken, or of the first test.
    pub current_level: String,
}

/// A placement test with a student's results in it. The members are records of OneRoster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlacementTest {
    /// The lesson.
    #[schemars(with = "Map<String, Value>")]
    pub component_resources: Value,
    /// Its resource.
    #[schemars(with = "Map<String, Value>")]
    pub resources: Value,
    /// The resource's metadata.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub resources_metadata: Value,
    /// The lesson's line item.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub assessment_line_items: Option<Value>,
    /// The student's results.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub assessment_results: Vec<Value>,
}

/// The student's grade in a subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementLevel {
    /// The grade of the last test taken, or of the first test.
    pub grade_level: String,
    /// Whether placement is over.
    pub onboarded: bool,
    /// The number of the subject's tests.
    pub available_tests: usize,
}

/// The result of resetting placement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementReset {
    /// Always true.
    pub success: bool,
    /// The number of results marked as `tobedeleted`.
    pub placement_results_deleted: usize,
    /// Whether placement was over before.
    pub onboarding_reset: bool,
}

/// The consequence of finishing a placement test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlacementOutcome {
    /// Whether the student should have been enrolled but could not be.
    pub enrollment_failed: bool,
}

impl PlacementOutcome {
    /// Members for the metadata of the attempt's result.
    pub(crate) fn result_members(self) -> &'static [(&'static str, Value)] {
        const FAILED: &[(&str, Value)] = &[("enrollmentFailed", Value::Bool(true))];
        if self.enrollment_failed { FAILED } else { &[] }
    }
}

/// The next placement test of a student in a subject.
///
/// Errors: `NotFound` for the student, and for a subject without placement tests.
pub fn next(
    tx: &mut Tx<'_>,
    request: &StudentAndSubject,
    reach: &Reach,
) -> Result<PlacementStanding> {
    let tests = tests(tx, request, reach)?;
    standing_in(tx, &request.student, &tests)
}

/// The grade of a student in a subject. Errors: as [`next`].
pub fn level(
    tx: &mut Tx<'_>,
    request: &StudentAndSubject,
    reach: &Reach,
) -> Result<PlacementLevel> {
    let PlacementStanding { reached, onboarded, available_tests, .. } = next(tx, request, reach)?;
    Ok(PlacementLevel { grade_level: reached, onboarded, available_tests })
}

/// Where a student stands in each subject that has placement tests. Errors: `NotFound`.
pub fn of_student(tx: &mut Tx<'_>, student: &str, reach: &Reach) -> Result<Placements> {
    fields::in_use_within(tx, &USER, student, reach)?;
    let all = sorted(of_type(tx, LessonType::Placement)?);
    let mut subjects: Vec<String> = all.iter().map(|test| test.subject.clone()).collect();
    subjects.sort_by_key(|subject| subject.to_ascii_lowercase());
    subjects.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
    let mut placements = Vec::new();
    for subject in subjects.iter().filter(|subject| !subject.is_empty()) {
        let of_subject = |test: &&ListedLesson| test.subject.eq_ignore_ascii_case(subject);
        let tests: Vec<&ListedLesson> = all.iter().filter(of_subject).collect();
        let standing = standing_in(tx, student, &tests)?;
        let current_level = standing.reached.clone();
        placements.push(SubjectStanding { standing, subject: subject.clone(), current_level });
    }
    Ok(Placements { student: student.to_owned(), placements })
}

/// The tests of a subject with the student's results in them. Errors: as [`next`].
pub fn all(
    tx: &mut Tx<'_>,
    request: &StudentAndSubject,
    view: &RecordView<'_>,
    reach: &Reach,
) -> Result<Vec<PlacementTest>> {
    let tests = tests(tx, request, reach)?;
    let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    let marks = LessonResults::of(tx, &request.student, &ids)?;
    let entries = tests.iter().map(|test| {
        let resource = render_record(&test.records.resource, view)?;
        let item = marks.items.get(&test.id).and_then(|items| items.first());
        let results =
            marks.in_lesson(&test.id).iter().map(|mark| render_record(&mark.stored, view));
        Ok(PlacementTest {
            component_resources: render_record(&test.records.lesson, view)?,
            resources_metadata: resource["metadata"].clone(),
            resources: resource,
            assessment_line_items: item.map(|item| render_record(item, view)).transpose()?,
            assessment_results: results.collect::<Result<Vec<_>>>()?,
        })
    });
    entries.collect()
}

/// Resets a student's placement in a subject: results of its tests are marked as `tobedeleted`, and their attempts no
/// longer count. Earned XP stay. Errors: as [`next`]; `Forbidden` for the reach of a teacher.
pub fn reset(
    tx: &mut Tx<'_>,
    now: Timestamp,
    request: &StudentAndSubject,
    reach: &Reach,
) -> Result<PlacementReset> {
    let tests = tests(tx, request, reach)?;
    check_changes(&USER, &request.student, reach)?;
    let was_over = standing_in(tx, &request.student, &tests)?.onboarded;
    let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    let marks = LessonResults::of(tx, &request.student, &ids)?;
    let results = at(ASSESSMENT_RESULT.path).expect("every kind has a collection");
    let mut deleted = 0;
    for mark in marks.results.values().flatten() {
        let id = fields::text(&mark.fields, "sourcedId");
        write::delete(tx, results, id, now, false, None, reach)?;
        deleted += 1;
    }
    for lesson in ids {
        attempts::retire(tx, &request.student, ("lesson", lesson))?;
        external::delete(tx, &request.student, lesson)?;
    }
    Ok(PlacementReset {
        success: true,
        placement_results_deleted: deleted,
        onboarding_reset: was_over,
    })
}

/// Carries out the consequences of finishing a lesson. A failed placement test enrolls the student in the course that
/// its resource names as `courseIdOnFail`. If that is impossible, the result still counts. Other lessons have no
/// consequences.
pub fn settle(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    lesson: &Lesson,
    score: f64,
) -> Result<PlacementOutcome> {
    let Some(course) = &lesson.course_on_fail else { return Ok(PlacementOutcome::default()) };
    if lesson.lesson_type != LessonType::Placement || score >= pass_mark(tx)? {
        return Ok(PlacementOutcome::default());
    }
    // The test decides, not the caller.
    let (request, reach) = (EnrollmentRequest::default(), Reach::Everything);
    match enroll::enroll(tx, now, student, course, None, &request, &reach) {
        Ok(_) => Ok(PlacementOutcome::default()),
        Err(problem) if is_refusal(problem.kind) => {
            Ok(PlacementOutcome { enrollment_failed: true })
        }
        Err(problem) => Err(problem),
    }
}

/// Whether a problem was caused by the request, so that the transaction can continue.
pub(crate) fn is_refusal(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::NotFound | ProblemKind::Invalid | ProblemKind::Conflict)
}

/// The score needed to pass a placement test.
fn pass_mark(tx: &mut Tx<'_>) -> Result<f64> {
    Ok(f64::from(policies::current(tx, LessonType::Placement)?.policy.mastery))
}

fn tests(tx: &mut Tx<'_>, request: &StudentAndSubject, reach: &Reach) -> Result<Vec<ListedLesson>> {
    lesson::student(tx, &request.student, reach)?;
    let mut tests = of_type(tx, LessonType::Placement)?;
    tests.retain(|test| test.subject.eq_ignore_ascii_case(&request.subject));
    if tests.is_empty() {
        let message = message!(
            "the subject '{request.subject}' has no placement tests; create one with createInternalTest"
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    Ok(sorted(tests))
}

fn sorted(mut tests: Vec<ListedLesson>) -> Vec<ListedLesson> {
    tests.sort_by_key(|test| grade_of(test).unwrap_or(i64::MAX));
    tests
}

/// The first grade of a test.
fn grade_of(test: &ListedLesson) -> Option<i64> {
    test.grades.first().and_then(|grade| grade::value(grade))
}

/// Computes the standing from the tests, which are sorted by grade.
fn standing_in<T: std::borrow::Borrow<ListedLesson>>(
    tx: &mut Tx<'_>,
    student: &str,
    tests: &[T],
) -> Result<PlacementStanding> {
    let ids: Vec<&str> = tests.iter().map(|test| test.borrow().id.as_str()).collect();
    let marks = LessonResults::of(tx, student, &ids)?;
    let pass_mark = pass_mark(tx)?;
    let grade_text = |test: &T| grade_of(test.borrow()).map(|grade| grade.to_string());
    let mut reached = tests.first().and_then(grade_text).unwrap_or_default();
    let (mut next, mut failed) = (None, false);
    for test in tests {
        match marks.last_score(&test.borrow().id) {
            None => next = Some(test),
            Some(score) => {
                reached = grade_text(test).unwrap_or(reached);
                failed = score < pass_mark;
            }
        }
        if next.is_some() || failed {
            break;
        }
    }
    Ok(PlacementStanding {
        exhausted_tests: next.is_none() && !failed,
        grade_level: next.and_then(grade_text),
        lesson: next.map(|test| test.borrow().id.clone()),
        onboarded: next.is_none(),
        available_tests: tests.len(),
        reached,
    })
}
