//! Enrolls users in courses, and ends enrollments.

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::collections::{Collection, at};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COURSE, ENROLLMENT, ORG, USER};
use lyceum_roster::membership::{self, EnrollmentDays};
use lyceum_roster::reach::{check_changes, keep_within};
use lyceum_roster::record::Object;
use lyceum_roster::repository::RecordUse;
use lyceum_roster::write::{self, WriteRules};
use lyceum_roster::{default_class, repository};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::enrollments::{self, CourseEnrollment};
use crate::goals::EnrollmentMetadata;
use crate::resolved_enrollments::{self, ResolvedEnrollment};
use crate::settle;
use crate::student::EnrollingStudent;

/// The namespace for ids that are computed from class, user and role. So two concurrent requests that enroll the same
/// user create one enrollment.
const NAMESPACE: Uuid = Uuid::from_u128(0x8f1c_51a4_2f0e_4d51_9a83_57c2_d3f4_60be);

/// The id of an enrollment if the caller does not choose one.
pub(crate) fn id(class: &str, user: &str, role: &str) -> String {
    Uuid::new_v5(&NAMESPACE, format!("{class}\n{user}\n{role}").as_bytes()).to_string()
}

/// The options of an enrollment; all members are optional.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EnrollmentRequest")]
pub struct EnrollmentRequest {
    /// The enrollment's id; one is made if none is sent.
    sourced_id: Option<String>,
    /// The role; by default `student`.
    role: Option<String>,
    /// The first day; by default today.
    begin_date: Option<String>,
    /// The student's own goals and other metadata.
    metadata: Option<EnrollmentMetadata>,
}

impl EnrollmentRequest {
    /// A request for an enrollment in this role.
    pub fn in_role(role: &str) -> Self {
        Self { role: Some(role.to_owned()), ..Self::default() }
    }
}

/// Enrolls a user in the default class of a course, at the named school, otherwise at the user's school, otherwise at
/// the course's. Class, term and school year are created if necessary. If the user is already enrolled in the course
/// (at the named school, in that role), the result is that enrollment and `false`. Schools and enrollments that do not
/// lie within the reach do not count.
///
/// Errors: `NotFound` for an unknown or deleted user, course or school; `Invalid` for wrong values in the request;
/// `Conflict` if another enrollment has its sourcedId; `Forbidden` for the reach of a teacher.
pub fn enroll(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    school: Option<&str>,
    request: &EnrollmentRequest,
    reach: &Reach,
) -> Result<(CourseEnrollment, bool)> {
    let mut person = settle_student(tx, now, user, reach)?;
    fields::in_use_within(tx, &COURSE, course, reach)?;
    if let Some(school) = school {
        fields::in_use_within(tx, &ORG, school, reach)?;
    }
    let role = request.role.as_deref().unwrap_or("student");
    let known = of_course(tx, now, user, course, school, reach)?;
    if let Some(first) = known.into_iter().find(|enrollment| enrollment.role == role) {
        return Ok((enrollments::shown_one(tx, first)?, false));
    }
    keep_within(tx, &ORG, reach, RecordUse::See, &mut person.orgs, |org| org)?;
    let own = person.orgs.first().map(String::as_str);
    let class = default_class::find_or_make(tx, now, course, school.or(own))
        .map_err(|problem| at_school(problem, school, own))?;
    let id = request.sourced_id.clone().unwrap_or_else(|| id(&class, user, role));
    let mut record = Object::new();
    record.insert("sourcedId".into(), id.as_str().into());
    record.insert("user".into(), json!({ "sourcedId": user }));
    record.insert("class".into(), json!({ "sourcedId": class }));
    record.insert("role".into(), role.into());
    let today = || membership::day(now);
    record.insert("beginDate".into(), request.begin_date.clone().unwrap_or_else(today).into());
    if let Some(EnrollmentMetadata(metadata)) = &request.metadata {
        record.insert("metadata".into(), metadata.clone().into());
    }
    free(tx, now, &id, user, course)?;
    let rules = WriteRules {
        dialect: PayloadDialect::Platform,
        now,
        allocate_missing_ids: false,
        reach: reach.clone(),
    };
    write::put(tx, collection(), &id, record, None, true, &rules).map_err(as_sent)?;
    let created = of_course(tx, now, user, course, school, reach)?
        .into_iter()
        .find(|enrollment| enrollment.id == id);
    match created {
        Some(enrollment) => Ok((enrollments::shown_one(tx, enrollment)?, true)),
        None => Err(Problem::internal("the enrollment that was just written was not found")),
    }
}

/// Ends the user's enrollments in the course in all roles, at the named school or at any school, by marking them
/// `tobedeleted`. Tracks do not enroll the user in the course again.
///
/// Errors: `NotFound` for an unknown user, or if there is no enrollment. Course and school may be deleted, because
/// enrollments outlive them and must still be endable. `Forbidden` for the reach of a teacher. Enrollments that do not
/// lie within the reach stay.
pub fn unenroll(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    school: Option<&str>,
    reach: &Reach,
) -> Result<()> {
    settle_student(tx, now, user, reach)?;
    let enrollments = of_course(tx, now, user, course, school, reach)?;
    if enrollments.is_empty() {
        let message = match school {
            None => message!("the user '{user}' is not enrolled in the course '{course}'"),
            Some(school) => {
                message!("the user '{user}' is not enrolled in the course '{course}' at '{school}'")
            }
        };
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    for enrollment in enrollments {
        write::delete(tx, collection(), &enrollment.id, now, false, None, reach)?;
    }
    Ok(())
}

/// Loads the user, whose enrollments the caller wants to change, after settling them.
fn settle_student(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    reach: &Reach,
) -> Result<EnrollingStudent> {
    let person = fields::in_use_within(tx, &USER, user, reach)?;
    check_changes(&USER, user, reach)?;
    let due = settle::due_enrollments(tx, now, std::slice::from_ref(&person))?;
    settle::perform(tx, now, &due)?;
    Ok(EnrollingStudent::of(&person))
}

/// Whether the user is enrolled in the course as a student today.
pub fn learns(tx: &mut Tx<'_>, now: Timestamp, user: &str, course: &str) -> Result<bool> {
    any_is_current(now, &repository::learning(tx, user, course)?)
}

/// Whether at least one of the enrollments counts today. Each is the JSON text of a record.
pub fn any_is_current(now: Timestamp, enrollments: &[String]) -> Result<bool> {
    let today = membership::day(now);
    for text in enrollments {
        if EnrollmentDays::of_text(text)?.is_current(&today) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The active courses in which the user is a student today.
pub fn learned(tx: &mut Tx<'_>, now: Timestamp, user: &str) -> Result<Vec<String>> {
    let enrollments = resolved_enrollments::of_users(tx, now, &[user])?;
    let mut enrollments = resolved_enrollments::with_active_course(tx, enrollments)?;
    let today = membership::day(now);
    enrollments.retain(|enrollment| enrollment.role == "student" && enrollment.is_current(&today));
    Ok(enrollments.into_iter().map(|enrollment| enrollment.course).collect())
}

fn of_course(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    school: Option<&str>,
    reach: &Reach,
) -> Result<Vec<ResolvedEnrollment>> {
    let mut enrollments = resolved_enrollments::within(tx, now, user, reach)?;
    enrollments.retain(|enrollment| {
        enrollment.course == course && school.is_none_or(|school| enrollment.school == school)
    });
    Ok(enrollments)
}

/// Refuses an id that another enrollment has. An ended enrollment of the same user in the same course may start again.
fn free(tx: &mut Tx<'_>, now: Timestamp, id: &str, user: &str, course: &str) -> Result<()> {
    let Some(stored) = repository::find(tx, &ENROLLMENT, id)? else { return Ok(()) };
    let fields = fields::of(&stored)?;
    let is_theirs = fields::reference(&fields, "user") == user
        && fields::reference(&fields, "course") == course
        && (fields::text(&fields, "status") != "active"
            || EnrollmentDays::of(&fields).has_ended(&membership::day(now)));
    if is_theirs {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Conflict,
        message!(
            "the sourcedId '{id}' belongs to another enrollment; send a different sourcedId or leave it out"
        ),
    ))
}

/// The problem of a default class for a request that names the school in its path, or that should.
pub(crate) fn at_school(problem: Problem, school: Option<&str>, own: Option<&str>) -> Problem {
    let Some(refused) = problem.details.iter().find(|one| one.path == default_class::SCHOOL) else {
        return problem;
    };
    let message = match (school, own) {
        (Some(_), _) => refused.message.clone(),
        (None, Some(own)) => message!(
            "is required because the user's organization '{own}' is not a school; name a school in the path"
        ),
        (None, None) => "is required because neither the user nor the course has an organization; name a school in the \
                         path".into(),
    };
    Problem::invalid("schoolId", message)
}

/// Rewrites the paths of errors for a request whose body is the enrollment itself.
fn as_sent(mut problem: Problem) -> Problem {
    for detail in &mut problem.details {
        if let Some(path) = detail.path.strip_prefix("enrollment.") {
            detail.path = path.to_owned();
        }
    }
    if problem.kind == ProblemKind::Invalid && !problem.details.is_empty() {
        problem.message = Problem::invalid_all(problem.details.clone()).message;
    }
    problem
}

fn collection() -> Collection {
    at(ENROLLMENT.path).expect("every record kind has a collection")
}
