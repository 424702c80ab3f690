//! Actions of guides for students: assign a lesson or test, leave out, take in again or reset a lesson, set a daily goal,
//! give extra time in tests. They apply to one student or to all students of a class.
//!
//! Teachers may run them for students of their own classes, although their reach is otherwise read-only.

use lyceum_bridge::goals;
use lyceum_core::body::OneLineText;
use lyceum_core::limits::PAGE_MAX_RECORDS;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::grade::Grade;
use lyceum_roster::kinds::{CLASS, COURSE};
use lyceum_roster::reach::keep_within;
use lyceum_roster::repository::{self as roster, RecordUse};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::attempt::{self};
use crate::due::DueTime;
use crate::lesson::{self, Lesson};
use crate::lesson_context::LessonContext;
use crate::lesson_list::ListedLesson;
use crate::lesson_plans::{self, LessonPlanInput};
use crate::limits::TEACHING_STUDENTS_MAX_COUNT;
use crate::repository;
use crate::test_assignments::{AssignmentFilter, TestAssignment, assign_lesson};
use crate::test_choice::{best_fit, no_test, tests_of};
use crate::time_limit::{ExtraTimeInput, set_extra_time};

/// The largest daily XP goal that a teaching action sets.
pub const DAILY_XP_MAX: u32 = 100_000;

/// A teaching action.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum TeachingAction {
    /// Assigns a lesson. A student who has not completed an earlier assignment of it keeps that one.
    Assign {
        /// The lesson's sourcedId.
        #[schemars(with = "OneLineText")]
        lesson: String,
        /// The time until which it must be completed; a day ends at midnight at the student's school.
        expires_at: Option<DueTime>,
    },
    /// Assigns the test of a subject and grade that fits each student best, as createTestAssignment does.
    AssignTest {
        /// The subject.
        #[schemars(with = "OneLineText")]
        subject: String,
        /// The grade.
        grade: Grade,
        /// The time until which it must be completed; a day ends at midnight at the student's school.
        expires_at: Option<DueTime>,
    },
    /// Leaves a lesson out of the students' plans, or takes it in again. Students without a plan get one.
    Skip {
        /// The lesson's sourcedId.
        #[schemars(with = "OneLineText")]
        lesson: String,
        /// Whether it is left out.
        skipped: bool,
    },
    /// Resets the last attempt at a lesson, as resetAttempt does.
    Reset {
        /// The lesson's sourcedId.
        #[schemars(with = "OneLineText")]
        lesson: String,
    },
    /// Sets the daily XP goal in a course.
    Goal {
        /// The course's sourcedId.
        #[schemars(with = "OneLineText")]
        course: String,
        /// The XP; null for the goal of the course.
        #[schemars(range(min = 0, max = DAILY_XP_MAX))]
        daily_xp: Option<u32>,
    },
    /// Gives extra time in all tests with a time limit, also in those that are running. The factor 1 and no minutes take it
    /// away.
    ExtraTime(ExtraTimeInput),
}

/// An action for one student, or for all students of a class.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeachingRequest {
    /// The student's sourcedId. Send either this or the class.
    #[schemars(with = "Option<OneLineText>")]
    pub student: Option<String>,
    /// The sourcedId of the class whose students are meant.
    #[schemars(with = "Option<OneLineText>")]
    pub class: Option<String>,
    /// The action to carry out.
    pub action: TeachingAction,
}

/// The students whom an action changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TeachingReport {
    /// The sourcedIds of the students.
    pub students: Vec<String>,
}

impl TeachingAction {
    /// Its name in the audit log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Assign { .. } | Self::AssignTest { .. } => "students.assign",
            Self::Skip { .. } => "students.skip",
            Self::Reset { .. } => "students.reset",
            Self::Goal { .. } => "students.goal",
            Self::ExtraTime(_) => "students.extra-time",
        }
    }
}

/// Runs a teaching action for all chosen students within the reach, or for none if it fails for one. `by` names the person
/// in the logs of plans.
///
/// Errors: `Invalid`; `NotFound`; `Conflict`.
pub fn apply(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    request: &TeachingRequest,
    by: &str,
) -> Result<TeachingReport> {
    let students = students(tx, context.now, request, context.reach)?;
    let seen: Vec<&str> = students.iter().map(String::as_str).collect();
    // The students and what they learn lie within the reach, so the reach does not restrict what is written for them.
    let all = LessonContext { reach: &Reach::Everything, ..*context };
    match &request.action {
        TeachingAction::Assign { lesson, expires_at } => {
            let lesson = find_lesson(tx, lesson, context.reach)?;
            for student in &seen {
                assign(tx, context, student, &lesson, *expires_at)?;
            }
        }
        TeachingAction::AssignTest { subject, grade, expires_at } => {
            let tests = tests_within(tx, subject, &grade.stored, context.reach)?;
            for student in &seen {
                let test = best_fit(tx, context.now, &tests, student, None)?;
                let test = test.ok_or_else(|| no_test(subject, &grade.stored))?;
                let lesson = lesson::find(tx, &test.id)?;
                assign(tx, context, student, &lesson, *expires_at)?;
            }
        }
        TeachingAction::Skip { lesson, skipped } => {
            let lesson = find_lesson(tx, lesson, context.reach)?;
            for student in &seen {
                skip(tx, context.now, student, &lesson, *skipped, by)?;
            }
        }
        TeachingAction::Reset { lesson } => {
            let lesson = find_lesson(tx, lesson, context.reach)?;
            for student in &seen {
                attempt::reset(tx, &all, student, &lesson.id)?;
            }
        }
        TeachingAction::Goal { course, daily_xp } => {
            fields::in_use_within(tx, &COURSE, course, context.reach)?;
            goals::set_daily_xp(tx, context.now, (course, context.reach), &seen, *daily_xp)?;
        }
        TeachingAction::ExtraTime(extra) => {
            for student in &seen {
                set_extra_time(tx, student, *extra)?;
            }
        }
    }
    Ok(TeachingReport { students })
}

fn students(
    tx: &mut Tx<'_>,
    now: Timestamp,
    request: &TeachingRequest,
    reach: &Reach,
) -> Result<Vec<String>> {
    match (&request.student, &request.class) {
        (Some(student), None) => Ok(vec![roster::student(tx, student, reach)?.id]),
        (None, Some(class)) => {
            fields::in_use_within(tx, &CLASS, class, reach)?;
            let members = roster::in_class(tx, now, class, "student", reach)?;
            if members.len() > TEACHING_STUDENTS_MAX_COUNT {
                let rule = message!(
                    "must have at most {TEACHING_STUDENTS_MAX_COUNT} students; send students one by one"
                );
                return Err(Problem::invalid("class", rule));
            }
            Ok(members.into_iter().map(|member| member.id).collect())
        }
        _ => Err(Problem::invalid("student", "is required unless class is sent; send one of them")),
    }
}

/// The tests of a subject and grade in courses within the reach. Errors: `NotFound` if there is none.
fn tests_within(
    tx: &mut Tx<'_>,
    subject: &str,
    grade: &str,
    reach: &Reach,
) -> Result<Vec<ListedLesson>> {
    let mut tests = tests_of(tx, subject, grade)?;
    keep_within(tx, &COURSE, reach, RecordUse::See, &mut tests, |test| &test.course)?;
    if tests.is_empty() {
        return Err(no_test(subject, grade));
    }
    Ok(tests)
}

/// A lesson of a course within the reach.
fn find_lesson(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Lesson> {
    let lesson = lesson::find(tx, id)?;
    fields::in_use_within(tx, &COURSE, &lesson.course.id, reach)?;
    Ok(lesson)
}

/// Assigns a lesson to a student who has no open assignment of it.
fn assign(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &Lesson,
    due: Option<DueTime>,
) -> Result<()> {
    let filter = AssignmentFilter {
        student: Some(student.to_owned()),
        status: None,
        subject: None,
        grade: None,
        limit: PAGE_MAX_RECORDS,
        offset: 0,
    };
    let (known, _) =
        repository::test_assignments::list(tx, context.now, &filter, &Reach::Everything)?;
    let is_open = |one: &TestAssignment| {
        one.component_resource_sourced_id == lesson.id
            && ["assigned", "in_progress"].contains(&one.assignment_status.as_str())
    };
    if known.iter().any(is_open) {
        return Ok(());
    }
    let expires = due.map(|due| due.expires(tx, &context.moment(), student)).transpose()?;
    assign_lesson(tx, context.now, student, &lesson.subject, lesson, expires).map(drop)
}

fn skip(
    tx: &mut Tx<'_>,
    now: Timestamp,
    student: &str,
    lesson: &Lesson,
    is_skipped: bool,
    by: &str,
) -> Result<()> {
    let reach = &Reach::Everything;
    let new = LessonPlanInput::of(&lesson.course.id, student);
    let (plan, _) = lesson_plans::create(tx, now, &new, reach)?;
    let target = json!({ "type": "resource", "id": lesson.id });
    let operation =
        json!({ "type": "set-skipped", "payload": { "target": target, "value": is_skipped } });
    let request = json!({ "operation": operation });
    lesson_plans::request_operation(tx, now, &plan, &request, Some(by), reach)?;
    lesson_plans::sync(tx, &plan, reach).map(drop)
}
