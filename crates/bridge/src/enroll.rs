//! Enrolling in courses, and ending that.

use lyceum_core::time::Timestamp;
use lyceum_core::{Dialect, Problem, ProblemKind, Result};
use lyceum_roster::collections::{Collection, at};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COURSE, ENROLLMENT, ORG, USER};
use lyceum_roster::record::Object;
use lyceum_roster::write::{self, Rules};
use lyceum_roster::{default_class, repository};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::enrollments::{self, Enrollment};
use crate::goals::EnrollmentMetadata;
use crate::places::{self, EnrollmentPlace, day};
use crate::settle;
use crate::student::Student;

/// Under this namespace an enrollment's id follows from class, user and role: two who enroll the
/// same user at once do it once.
const NAMESPACE: Uuid = Uuid::from_u128(0x8f1c_51a4_2f0e_4d51_9a83_57c2_d3f4_60be);

/// The id of an enrollment for which nobody chose one.
pub(crate) fn id(class: &str, user: &str, role: &str) -> String {
    Uuid::new_v5(&NAMESPACE, format!("{class}\n{user}\n{role}").as_bytes()).to_string()
}

/// How someone is to be enrolled; a request may leave all of it out.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EnrollmentRequest")]
pub struct EnrollmentRequest {
    /// The enrollment's id; one is made where none is sent.
    sourced_id: Option<String>,
    /// The role, else `student`.
    role: Option<String>,
    /// The first day, else today.
    begin_date: Option<String>,
    /// Goals of the student's own, and anything else.
    metadata: Option<EnrollmentMetadata>,
}

impl EnrollmentRequest {
    /// The wish for a role.
    pub fn in_role(role: &str) -> Self {
        Self { role: Some(role.to_owned()), ..Self::default() }
    }
}

/// Enrolls a user in a course: in its default class at the school named, else at the user's own,
/// else at the course's. Class, term and school year are made as needed. Who is enrolled in the
/// course (at the school named, in that role) stays so: the answer is that enrollment, and false.
///
/// Errors: `NotFound` for an unknown or deleted user, course or school; `Invalid` for what the
/// wish says; `Conflict` when its sourcedId is another enrollment's.
pub fn enroll(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    school: Option<&str>,
    wish: &EnrollmentRequest,
) -> Result<(Enrollment, bool)> {
    let person = settled(tx, now, user)?;
    fields::in_use(tx, &COURSE, course)?;
    if let Some(school) = school {
        fields::in_use(tx, &ORG, school)?;
    }
    let role = wish.role.as_deref().unwrap_or("student");
    let known = of_course(tx, now, user, course, school)?;
    if let Some(first) = known.into_iter().find(|place| place.role == role) {
        return Ok((enrollments::shown_one(tx, first)?, false));
    }
    let own = Some(person.school.as_str()).filter(|own| !own.is_empty());
    let class = default_class::find_or_make(tx, now, course, school.or(own))?;
    let id = wish.sourced_id.clone().unwrap_or_else(|| id(&class, user, role));
    let mut record = Object::new();
    record.insert("sourcedId".into(), id.as_str().into());
    record.insert("user".into(), json!({ "sourcedId": user }));
    record.insert("class".into(), json!({ "sourcedId": class }));
    record.insert("role".into(), role.into());
    let today = || places::day(now);
    record.insert("beginDate".into(), wish.begin_date.clone().unwrap_or_else(today).into());
    if let Some(EnrollmentMetadata(metadata)) = &wish.metadata {
        record.insert("metadata".into(), metadata.clone().into());
    }
    free(tx, now, &id, user, course)?;
    let rules = Rules { dialect: Dialect::Platform, now, allocate_missing_ids: false };
    write::put(tx, collection(), &id, record, None, true, &rules).map_err(as_sent)?;
    let made = of_course(tx, now, user, course, school)?.into_iter().find(|place| place.id == id);
    match made {
        Some(place) => Ok((enrollments::shown_one(tx, place)?, true)),
        None => Err(Problem::internal("an enrollment was not found again")),
    }
}

/// Ends the user's enrollments in the course, in every role, at the school named or at any: they
/// are marked `tobedeleted`. A track does not enroll the user in the course again.
///
/// Errors: `NotFound` for an unknown user, and where there is no enrollment. Course and school may be deleted:
/// what lasts can be ended.
pub fn unenroll(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    school: Option<&str>,
) -> Result<()> {
    settled(tx, now, user)?;
    let places = of_course(tx, now, user, course, school)?;
    if places.is_empty() {
        let at = school.map(|school| format!(" at '{school}'")).unwrap_or_default();
        return Err(Problem::new(
            ProblemKind::NotFound,
            format!("the user '{user}' is not enrolled in the course '{course}'{at}"),
        ));
    }
    for place in places {
        write::delete(tx, collection(), &place.id, now, false, None)?;
    }
    Ok(())
}

/// The user, for whom everything due is done.
fn settled(tx: &mut Tx<'_>, now: Timestamp, user: &str) -> Result<Student> {
    let person = fields::in_use(tx, &USER, user)?;
    let due = settle::due(tx, now, std::slice::from_ref(&person))?;
    settle::perform(tx, now, &due)?;
    Ok(Student::of(&person))
}

/// Whether the user is enrolled in the course as a student, today.
pub fn learns(tx: &mut Tx<'_>, now: Timestamp, user: &str, course: &str) -> Result<bool> {
    any_lasts(now, &repository::learning(tx, user, course)?)
}

/// Whether one of the enrollments, each the text of a record, is not over today.
pub fn any_lasts(now: Timestamp, enrollments: &[String]) -> Result<bool> {
    /// The one member that matters here: each question of a lesson asks.
    #[derive(Deserialize)]
    struct Lasting {
        #[serde(rename = "endDate")]
        end_date: Option<String>,
    }
    let today = day(now);
    for text in enrollments {
        let Lasting { end_date } = serde_json::from_str(text).map_err(Problem::internal)?;
        if places::lasts_until(&end_date.unwrap_or_default(), &today) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The courses in use that a user is a student of.
pub fn learned(tx: &mut Tx<'_>, now: Timestamp, user: &str) -> Result<Vec<String>> {
    let places = places::of_users(tx, now, &[user])?;
    let mut places = places::taught(tx, places)?;
    places.retain(|place| place.role == "student");
    Ok(places.into_iter().map(|place| place.course).collect())
}

fn of_course(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    course: &str,
    school: Option<&str>,
) -> Result<Vec<EnrollmentPlace>> {
    let mut places = places::of_users(tx, now, &[user])?;
    places.retain(|place| {
        place.course == course && school.is_none_or(|school| place.school == school)
    });
    Ok(places)
}

/// Refuses an id that another enrollment has. One of the same user in the same course that was
/// ended or is over may begin anew.
fn free(tx: &mut Tx<'_>, now: Timestamp, id: &str, user: &str, course: &str) -> Result<()> {
    let Some(stored) = repository::find(tx, &ENROLLMENT, id)? else { return Ok(()) };
    let fields = fields::of(&stored)?;
    let is_theirs = fields::reference(&fields, "user") == user
        && fields::reference(&fields, "course") == course
        && (fields::text(&fields, "status") != "active" || !places::lasts(&fields, &day(now)));
    if is_theirs {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Conflict,
        format!("the sourcedId '{id}' is another enrollment's; send another one or none"),
    ))
}

/// Faults under the paths of the request, whose body is the enrollment itself.
fn as_sent(mut problem: Problem) -> Problem {
    for detail in &mut problem.details {
        if let Some(path) = detail.path.strip_prefix("enrollment.") {
            detail.path = path.to_owned();
        }
    }
    if let Some(message) = problem.message.strip_prefix("enrollment.") {
        problem.message = message.to_owned();
    }
    problem
}

fn collection() -> Collection {
    at(ENROLLMENT.path).expect("every kind has a collection")
}
