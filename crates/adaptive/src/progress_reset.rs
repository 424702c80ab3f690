//! Resets what students did in a course.

use std::collections::BTreeSet;

use lyceum_core::body::OneLineText;
use lyceum_core::messages::unknown_reference;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, ENROLLMENT};
use lyceum_roster::reach::{check_changes, keep_within};
use lyceum_roster::repository::{self as roster, RecordUse};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lesson_context::LessonContext;
use crate::limits::TEACHING_STUDENTS_MAX_COUNT;
use crate::repository::{attempts as repository, external};
use crate::{credit, lesson};

/// The students whose progress in a course is reset; without a member, all who are enrolled in the course.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
// A misspelt member would reset everybody.
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProgressResetInput {
    /// A class of the course: the students who are enrolled in it.
    #[schemars(with = "Option<OneLineText>")]
    class_id: Option<String>,
    /// The sourcedIds of students.
    #[schemars(with = "Option<Vec<OneLineText>>", length(min = 1, max = TEACHING_STUDENTS_MAX_COUNT))]
    user_ids: Option<Vec<String>>,
}

/// The numbers of things that were reset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressResetReport {
    /// The number of results that were marked `tobedeleted`.
    pub results_reset: usize,
    /// The sourcedIds of the students.
    pub users: Vec<String>,
}

/// Resets the progress of many students in a course as [`reset_course`], or of none if it fails for one.
///
/// Errors: `NotFound` for an unknown course; `Invalid` for an unknown student or class, and a class of another course;
/// `Conflict` for too many students; `Forbidden` for the reach of a teacher.
pub fn reset_students(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    course: &str,
    input: &ProgressResetInput,
) -> Result<ProgressResetReport> {
    fields::in_use_within(tx, &COURSE, course, context.reach)?;
    check_changes(&COURSE, course, context.reach)?;
    let users: Vec<String> = match (&input.class_id, &input.user_ids) {
        (None, None) => enrolled(tx, context, ("course", course))?,
        (Some(class), None) => {
            require_class(tx, context, class, course)?;
            enrolled(tx, context, ("class", class))?
        }
        (None, Some(users)) => {
            let mut seen = BTreeSet::new();
            users.iter().filter(|user| seen.insert(*user)).cloned().collect()
        }
        (Some(_), Some(_)) => {
            let rule = "must not be sent together with classId; send one of them";
            return Err(Problem::invalid("userIds", rule));
        }
    };
    if users.len() > TEACHING_STUDENTS_MAX_COUNT {
        let message = message!(
            "the course '{course}' has {users} students, and the limit for one request is {TEACHING_STUDENTS_MAX_COUNT} \
             students; send a 'classId' or 'userIds'",
            users = users.len()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let mut results_reset = 0;
    for (at, user) in users.iter().enumerate() {
        results_reset += reset_course(tx, context, user, course).map_err(|problem| {
            match (problem.kind, &input.user_ids) {
                (ProblemKind::NotFound, Some(_)) => {
                    Problem::invalid(format!("userIds[{at}]"), unknown_reference("user", user))
                }
                _ => problem,
            }
        })?;
    }
    Ok(ProgressResetReport { results_reset, users })
}

fn require_class(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    class: &str,
    course: &str,
) -> Result<()> {
    let message = match fields::in_use_within(tx, &CLASS, class, context.reach) {
        Ok(found) if fields::reference(&found, "course") == course => return Ok(()),
        Ok(_) => message!("must be a class of the course '{course}' (got '{class}')"),
        Err(problem) if problem.kind == ProblemKind::NotFound => unknown_reference("class", class),
        Err(problem) => return Err(problem),
    };
    Err(Problem::invalid("classId", message))
}

/// The students with enrollments in the course or class that lie within the reach.
fn enrolled(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    (field, id): (&str, &str),
) -> Result<Vec<String>> {
    let stored = roster::referring_to(tx, &ENROLLMENT, field, &[id])?;
    let mut enrollments = stored.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    enrollments.retain(|enrollment| fields::text(enrollment, "role") == "student");
    keep_within(tx, &ENROLLMENT, context.reach, RecordUse::Change, &mut enrollments, |one| {
        fields::text(one, "sourcedId")
    })?;
    let users = enrollments.iter().map(|one| fields::reference(one, "user").to_owned());
    Ok(users.collect::<BTreeSet<_>>().into_iter().collect())
}

/// Resets a student's progress in a course: attempts no longer count, what they earned is taken back, and all
/// assessment results in the course are marked `tobedeleted`. Returns the number of results.
///
/// Errors: `NotFound` for an unknown student or course.
pub fn reset_course(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    course: &str,
) -> Result<usize> {
    if context.reach.is_limited() {
        lesson::student_to_change(tx, student, context.reach)?;
    }
    for attempt in repository::of(tx, student, ("course", course))? {
        external::delete(tx, student, &attempt.lesson)?;
        credit::take_back(tx, context, &attempt)?;
    }
    repository::retire(tx, student, ("course", course))?;
    lyceum_bridge::progress::reset(tx, context.now, student, course, context.reach)
}
