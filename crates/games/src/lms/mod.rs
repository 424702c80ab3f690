//! Learning in games: courses are roster records, activities are events of the log, and XP are facts computed from
//! those events.
//!
//! `lms_records` names the game whose setup created a record. A setup changes other records only if the caller may
//! write rosters, and ending an integration marks only its own.

pub mod activity;
mod award;
pub mod events;
mod resources;
pub mod xp;

use std::collections::HashMap;

use lyceum_bridge::enroll::{self, EnrollmentRequest};
use lyceum_bridge::enrollments::{self, EnrolledCourse};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_project::courses::{App, CODE, TITLE};
use lyceum_project::limits::GAME_SLUG_MAX_CHARS;
use lyceum_roster::fields;
use lyceum_roster::grade::comparable;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COURSE, ORG, USER};
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::games::Game;
use crate::input::Faults;
use crate::levels::Xp;
use crate::limits;
use crate::repository::lms as repository;

pub use crate::repository::lms::TaughtCourse;
pub use resources::{
    CheckedCourse, CheckedRecord, NeededRecord, RecordState, WritableRecords, check, checked,
    is_created_elsewhere, note_created_elsewhere, organization, organization_of_record,
    organization_of_setup,
};

/// The integration of a game with courses of the roster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// The game's id.
    pub game_id: String,
    /// The organization that the courses belong to.
    pub organization: LearningOrganization,
    /// The courses, in the order of the setup.
    pub courses: Vec<TaughtCourse>,
}

/// An organization.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LearningOrganization {
    /// Its sourcedId.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `department`, `school`, …
    #[serde(rename = "type")]
    pub kind: String,
}

/// An integration to set up.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationSetup {
    /// Id or slug of the game, unless the token names it.
    pub game_id: Option<String>,
    /// The organization of the courses. Missing members are the platform's defaults.
    #[serde(default)]
    pub organization: IntegrationSetupOrganization,
    /// The courses.
    #[schemars(length(min = 1, max = limits::LMS_COURSES_MAX_COUNT))]
    pub courses: Vec<IntegrationSetupCourse>,
}

/// The organization of a setup.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct IntegrationSetupOrganization {
    /// Its sourcedId. An organization that is already in the roster stays as it is.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// `department`, `school`, …
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// A course of a setup.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationSetupCourse {
    /// Such as `Math`.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub subject: String,
    /// A number, or as OneRoster writes it.
    #[schemars(extend(
        "type" = ["integer", "string"],
        "minLength" = 1,
        "maxLength" = GAME_SLUG_MAX_CHARS
    ))]
    pub grade: Value,
    /// The total XP, above 0. It is required for a setup.
    #[schemars(range(min = 0))]
    pub total_xp: Option<f64>,
    /// Units to master.
    #[schemars(range(min = 0))]
    pub masterable_units: Option<f64>,
    /// Its name for people.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub title: Option<String>,
    /// Its code.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub course_code: Option<String>,
    /// Its sourcedId, in place of one made from game, subject and grade.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub course_id: Option<String>,
}

/// A learner with their courses and organizations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LearnerAccount {
    /// The user's sourcedId.
    pub id: String,
    /// The primary role.
    pub role: String,
    /// The courses.
    pub enrollments: Vec<LearnerCourse>,
    /// The organizations.
    pub organizations: Vec<LearnerOrganization>,
}

/// A course in which the learner is enrolled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LearnerCourse {
    /// Its first subject.
    pub subject: String,
    /// Its first grade, as a number if possible.
    #[schemars(extend("type" = ["integer", "string"]))]
    pub grade: Value,
    /// Its sourcedId.
    pub course_id: String,
}

/// An organization that the learner belongs to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LearnerOrganization {
    /// The organization.
    #[serde(flatten)]
    pub organization: LearningOrganization,
    /// Whether it is the primary one.
    pub is_primary: bool,
}

/// Sets up a game's courses: for each, it creates or updates the organization, course, component, resource and the
/// link between them. Earlier courses that the setup does not name no longer belong to the game, but their records
/// stay.
///
/// Errors: as [`writable`].
pub fn set_up(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    setup: &IntegrationSetup,
    may_write: WritableRecords,
) -> Result<Integration> {
    let planned = writable(tx, game, setup, may_write)?;
    let organization = resources::put_organization(tx, now, game, &planned.organization)?;
    for course in &planned.courses {
        resources::put(tx, now, game, &organization, course)?;
    }
    let integration = Integration { organization, ..planned };
    store_courses(tx, &integration)?;
    Ok(integration)
}

/// Enrolls a user in the game's courses, according to the user's role at the school, and ends the enrollments in
/// courses that the game taught before (`former`). Parents and guardians are not enrolled in classes.
///
/// Errors: `NotFound`.
pub fn enrol(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    former: Option<&Integration>,
    integration: &Integration,
) -> Result<()> {
    let is_taught = |course: &&TaughtCourse| {
        integration.courses.iter().any(|taught| taught.course_id == course.course_id)
    };
    for course in former.iter().flat_map(|former| &former.courses).filter(|it| !is_taught(it)) {
        match enroll::unenroll(tx, now, user, &course.course_id, None, &Reach::Everything) {
            Err(problem) if problem.kind == ProblemKind::NotFound => {}
            ended => ended?,
        }
    }
    let record = fields::in_use(tx, &USER, user)?;
    let role = match primary_role(&record).map(|role| fields::text(role, "role")) {
        Some(role @ ("student" | "teacher")) => role,
        Some("siteAdministrator") => "administrator",
        _ => return Ok(()),
    };
    let request = EnrollmentRequest::in_role(role);
    for course in &integration.courses {
        let school = Some(integration.organization.id.as_str());
        let reach = Reach::Everything;
        enroll::enroll(tx, now, user, &course.course_id, school, &request, &reach)?;
    }
    Ok(())
}

fn primary_role(user: &Object) -> Option<&Object> {
    let roles = user.get("roles").and_then(Value::as_array).into_iter().flatten();
    let is_primary = |role: &&Object| fields::text(role, "roleType") == "primary";
    roles.filter_map(Value::as_object).find(is_primary)
}

/// The integration that a setup would create. Changes nothing.
///
/// Errors: `Invalid` with all errors.
pub fn plan_integration(game: &Game, setup: &IntegrationSetup) -> Result<Integration> {
    let courses = read_courses(game, &setup.courses)?;
    let organization = resources::organization_of_setup(&setup.organization);
    Ok(Integration { game_id: game.id.clone(), organization, courses })
}

/// The integration that a setup would create, after a check that the caller may write its records. Changes nothing.
///
/// Errors: `Invalid` with all errors; `Forbidden` if a record exists that the caller may not write.
pub fn writable(
    tx: &mut Tx<'_>,
    game: &Game,
    setup: &IntegrationSetup,
    may_write: WritableRecords,
) -> Result<Integration> {
    let planned = plan_integration(game, setup)?;
    resources::check_writable(tx, game, &planned, may_write)?;
    Ok(planned)
}

/// Forgets which setups created the purged records of a kind, so that a later record with the same sourcedId does not
/// belong to the game.
pub fn forget_purged(tx: &mut Tx<'_>, kind: &RecordKind) -> Result<()> {
    repository::forget_purged(tx, kind)
}

/// Stores a game's courses. If the roster is on another server, the caller must write the records.
pub fn store_courses(tx: &mut Tx<'_>, integration: &Integration) -> Result<()> {
    let Integration { game_id, organization, courses } = integration;
    repository::set_courses(tx, game_id, &organization.id, courses)
}

/// Forgets a game's courses. Their records stay.
pub fn forget(tx: &mut Tx<'_>, game: &Game) -> Result<()> {
    repository::delete_courses(tx, &game.id)
}

/// Whether the game's courses are in this server's roster.
pub fn is_here(tx: &mut Tx<'_>, game: &Game) -> Result<bool> {
    let Some((_, courses)) = repository::courses(tx, &game.id)? else { return Ok(false) };
    let Some(course) = courses.first() else { return Ok(false) };
    Ok(lyceum_roster::repository::find(tx, &COURSE, &course.course_id)?.is_some())
}

/// Whether the user is currently a student of one of the game's courses.
pub fn teaches(tx: &mut Tx<'_>, now: Timestamp, game: &Game, user: &str) -> Result<bool> {
    let Some((_, courses)) = repository::courses(tx, &game.id)? else { return Ok(false) };
    for course in courses {
        if enroll::learns(tx, now, user, &course.course_id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The roster records that the integration needs, course by course and with the organization first. Each comes after
/// those that it refers to.
pub fn needed(game: &Game, integration: &Integration) -> Vec<Vec<NeededRecord>> {
    let records_of = |course| resources::needed(game, &integration.organization, course);
    integration.courses.iter().map(records_of).collect()
}

/// The courses that a game teaches; `None` if it has none.
pub fn lookup(tx: &mut Tx<'_>, game: &Game) -> Result<Option<Integration>> {
    let Some((org, courses)) = repository::courses(tx, &game.id)? else { return Ok(None) };
    let organization = resources::stored_organization(tx, &org)?;
    Ok(Some(Integration { game_id: game.id.clone(), organization, courses }))
}

/// The courses that a game teaches. Errors: `NotFound` if it has none.
pub fn find(tx: &mut Tx<'_>, game: &Game) -> Result<Integration> {
    lookup(tx, game)?.ok_or_else(|| without_courses(game))
}

/// The problem for a game that teaches no courses.
pub fn without_courses(game: &Game) -> Problem {
    let message =
        message!("the game '{game.slug}' has no courses yet; set them up with POST /api/lms/setup");
    Problem::new(ProblemKind::NotFound, message)
}

/// Ends a game's courses: the courses, components and resources that its setups created are marked `tobedeleted`.
/// Players' results and records that were in the roster before stay. Errors: `NotFound`.
pub fn delete(tx: &mut Tx<'_>, now: Timestamp, game: &Game) -> Result<()> {
    let integration = find(tx, game)?;
    for course in &integration.courses {
        resources::mark(tx, now, game, course)?;
    }
    repository::delete_courses(tx, &game.id)
}

/// Checks each record that the integration needs. Errors: `NotFound`.
pub fn verify(tx: &mut Tx<'_>, game: &Game) -> Result<Vec<CheckedCourse>> {
    let integration = find(tx, game)?;
    resources::check(tx, &integration)
}

/// The learner with this sourcedId. `None` if the user's enrollments must be settled first; call it again in a write
/// transaction with `settles`. Errors: `NotFound`.
pub fn learner(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    settles: bool,
) -> Result<Option<LearnerAccount>> {
    let enrollments = match settles {
        true => Some(enrollments::settled_of_user(tx, now, user, &Reach::Everything)?),
        false => enrollments::of_user(tx, now, user, &Reach::Everything)?,
    };
    let Some(enrollments) = enrollments else { return Ok(None) };
    let record = fields::in_use(tx, &USER, user)?;
    let orgs = fields::of_all(tx, &ORG, organizations(&record))?;
    let enrollments = enrollments.into_iter().map(|enrollment| {
        let first = |texts: &[String]| texts.first().cloned().unwrap_or_default();
        let EnrolledCourse { id, subjects, grades, .. } = &enrollment.course;
        LearnerCourse::of(id, &first(subjects), &first(grades))
    });
    Ok(Some(LearnerAccount::of(user, &record, &orgs, enrollments.collect())))
}

/// The sourcedIds of the organizations that a user's record names.
pub fn organizations(user: &Object) -> impl Iterator<Item = &str> {
    let roles = user.get("roles").and_then(Value::as_array).into_iter().flatten();
    let of_roles = roles.filter_map(Value::as_object).map(|role| fields::reference(role, "org"));
    of_roles.chain([fields::reference(user, "primaryOrg")])
}

impl LearnerCourse {
    /// An enrollment in a course with that subject and grade.
    pub fn of(course: &str, subject: &str, grade: &str) -> Self {
        let (subject, course_id) = (subject.to_owned(), course.to_owned());
        Self { subject, grade: number_or_text(grade), course_id }
    }
}

impl LearnerAccount {
    /// The learner in a user record, with organizations by their ids.
    pub fn of(
        id: &str,
        user: &Object,
        orgs: &HashMap<String, Object>,
        enrollments: Vec<LearnerCourse>,
    ) -> Self {
        let primary = primary_role(user);
        let main = match fields::reference(user, "primaryOrg") {
            "" => primary.map(|role| fields::reference(role, "org")).unwrap_or_default(),
            org => org,
        };
        let belongs = |(id, org): (&String, &Object)| LearnerOrganization {
            organization: resources::organization_of_record(id, org),
            is_primary: id == main,
        };
        let mut organizations: Vec<LearnerOrganization> = orgs.iter().map(belongs).collect();
        organizations.sort_by(|a, b| a.organization.id.cmp(&b.organization.id));
        let word = primary.map(|role| fields::text(role, "role")).unwrap_or_default();
        let role = if word == "siteAdministrator" { "administrator" } else { word };
        Self { id: id.to_owned(), role: role.to_owned(), enrollments, organizations }
    }
}

/// The course with a subject and grade, ignoring differences of spelling.
fn course_for<'i>(
    integration: &'i Integration,
    subject: &str,
    grade: &str,
) -> Result<&'i TaughtCourse> {
    let same = |course: &&TaughtCourse| {
        course.subject.eq_ignore_ascii_case(subject)
            && comparable(&course.grade) == comparable(grade)
    };
    integration.courses.iter().find(same).ok_or_else(|| {
        let known = integration
            .courses
            .iter()
            .map(|course| format!("{} in grade {}", course.subject, course.grade));
        let known = known.collect::<Vec<_>>().join(", ");
        let message =
            message!("the game has no course for '{subject}' in grade {grade}; it has {known}");
        Problem::invalid("activityData.subject", message)
    })
}

fn read_courses(game: &Game, sent: &[IntegrationSetupCourse]) -> Result<Vec<TaughtCourse>> {
    let mut faults = Faults::default();
    let mut courses: Vec<TaughtCourse> = Vec::new();
    for (number, new) in sent.iter().enumerate() {
        let at = |member: &str| format!("courses[{number}].{member}");
        faults.text(&at("subject"), &new.subject);
        let grade = grade_text(&new.grade);
        let is_grade = grade.is_some();
        faults.unless(is_grade, &at("grade"), "must be a grade such as 3, \"K\" or \"03\"");
        let grade = grade.unwrap_or_default();
        let total_xp = new.total_xp.and_then(Xp::of).filter(|xp| xp.0 > 0);
        faults.unless(
            total_xp.is_some(),
            &at("totalXp"),
            "must be a number above 0; a course can be set up only when its XP are known",
        );
        let units = Xp::of(new.masterable_units.unwrap_or_default());
        faults.unless(units.is_some(), &at("masterableUnits"), "must be a number of at least 0");
        for (name, text) in
            [("title", &new.title), ("courseCode", &new.course_code), ("courseId", &new.course_id)]
        {
            faults.opt_text(&at(name), text.as_deref());
        }
        let is_new = !courses.iter().any(|other| {
            other.subject.eq_ignore_ascii_case(&new.subject)
                && comparable(&other.grade) == comparable(&grade)
        });
        faults.unless(is_new, &at("subject"), "occurs twice with this grade");
        let app = App { slug: &game.slug, name: &game.display_name };
        let filled = |template: &str| app.filled(template, &new.subject, &grade);
        courses.push(TaughtCourse {
            course_id: new.course_id.clone().unwrap_or_else(|| app.course_id(&new.subject, &grade)),
            title: filled(new.title.as_deref().unwrap_or(TITLE)),
            course_code: filled(new.course_code.as_deref().unwrap_or(CODE)),
            subject: new.subject.clone(),
            grade,
            total_xp: total_xp.unwrap_or_default(),
            masterable_units: units.unwrap_or_default(),
        });
    }
    faults.into_result()?;
    Ok(courses)
}

/// A grade as text; `None` if the value is not a grade.
fn grade_text(grade: &Value) -> Option<String> {
    match grade {
        Value::Number(number) => number.as_i64().map(|number| number.to_string()),
        Value::String(text) => Some(text.clone())
            .filter(|text| !text.trim().is_empty() && text.chars().count() <= GAME_SLUG_MAX_CHARS),
        _ => None,
    }
}

/// A grade in comparable form: `3` for `03`.
fn number_or_text(grade: &str) -> Value {
    let comparable = comparable(grade);
    comparable.parse::<i64>().map_or_else(|_| grade.into(), Value::from)
}
