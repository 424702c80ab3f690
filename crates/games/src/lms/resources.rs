//! The roster records of a game's courses.

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result, message};
use lyceum_project::courses::{PLATFORM, records};
use lyceum_roster::collections::at;
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, ORG, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_roster::repository::{self, WriteOutcome};
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Integration, IntegrationSetupOrganization, LearningOrganization, TaughtCourse};
use crate::games::Game;
use crate::repository::lms;

/// The roster records that a course needs, with their states.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedCourse {
    /// The course's subject.
    pub subject: String,
    /// Its grade.
    pub grade: String,
    /// All records that the course needs.
    pub resources: Vec<CheckedRecord>,
}

/// A record that a course needs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedRecord {
    /// `org`, `course`, `courseComponent`, `resource`, `componentResource`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its sourcedId.
    pub id: String,
    /// Its state in the roster.
    pub state: RecordState,
}

/// The state of a record in the roster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordState {
    /// It exists and is active.
    Ok,
    /// It is marked `tobedeleted`.
    Deleted,
    /// It does not exist.
    Missing,
}

/// A record that a course needs, with its content.
pub struct NeededRecord {
    /// Its kind.
    pub kind: &'static RecordKind,
    /// Its sourcedId.
    pub id: String,
    /// Its content.
    pub record: Object,
}

/// The organization of a setup, with defaults for missing members.
pub fn organization_of_setup(new: &IntegrationSetupOrganization) -> LearningOrganization {
    let or = |text: &Option<String>, usual: &str| text.as_deref().unwrap_or(usual).to_owned();
    LearningOrganization {
        id: or(&new.id, PLATFORM),
        name: or(&new.name, "Lyceum"),
        kind: or(&new.kind, "department"),
    }
}

/// The roster records that a setup may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritableRecords {
    /// Records that it creates, or that an earlier setup of the same game created.
    Created,
    /// All records, because the caller has write access to the roster.
    All,
}

impl WritableRecords {
    /// Errors: `Forbidden` if the record exists and no setup of the game created it.
    fn check(self, tx: &mut Tx<'_>, game: &Game, kind: &RecordKind, id: &str) -> Result<()> {
        if self == Self::All || repository::find(tx, kind, id)?.is_none() {
            return Ok(());
        }
        if is_created_by(tx, game, kind, id)? {
            return Ok(());
        }
        let message = message!(
            "You don't have access to the {kind.one} '{id}': no setup of the game '{game.slug}' created it. Choose \
             another courseId, or ask somebody who has the scope lyceum/roster.write"
        );
        Err(Problem::new(ProblemKind::Forbidden, message))
    }
}

/// Whether a setup of the game created the record.
fn is_created_by(tx: &mut Tx<'_>, game: &Game, kind: &RecordKind, id: &str) -> Result<bool> {
    Ok(lms::creator(tx, lms::HERE, kind, id)?.is_some_and(|creator| creator == game.id))
}

/// Whether a setup of the game created the record in another platform's roster.
pub fn is_created_elsewhere(
    tx: &mut Tx<'_>,
    platform: &str,
    game: &Game,
    NeededRecord { kind, id, .. }: &NeededRecord,
) -> Result<bool> {
    Ok(lms::creator(tx, platform, kind, id)?.is_some_and(|creator| creator == game.id))
}

/// Records that a setup of the game created the record in another platform's roster.
pub fn note_created_elsewhere(
    tx: &mut Tx<'_>,
    platform: &str,
    game: &Game,
    NeededRecord { kind, id, .. }: &NeededRecord,
) -> Result<()> {
    lms::note_creator(tx, platform, kind, id, &game.id)
}

/// Refuses a setup that would write records to which the caller has no write access. An active organization is only
/// referred to.
///
/// Errors: `Forbidden`.
pub(super) fn check_writable(
    tx: &mut Tx<'_>,
    game: &Game,
    planned: &Integration,
    writable: WritableRecords,
) -> Result<()> {
    let org = &planned.organization.id;
    if state(tx, &ORG, org)? != RecordState::Ok {
        writable.check(tx, game, &ORG, org)?;
    }
    for course in &planned.courses {
        for (kind, id) in ids(course) {
            writable.check(tx, game, kind, &id)?;
        }
    }
    Ok(())
}

/// Creates or restores the organization of a setup, unless it is active.
pub(super) fn put_organization(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    named: &LearningOrganization,
) -> Result<LearningOrganization> {
    if state(tx, &ORG, &named.id)? != RecordState::Ok {
        write_one(tx, now, game, &organization(named))?;
    }
    stored_organization(tx, &named.id)
}

/// The record of an organization.
pub fn organization(
    LearningOrganization { id, name, kind }: &LearningOrganization,
) -> NeededRecord {
    needed_one(&ORG, id, json!({ "name": name, "type": kind }))
}

fn needed_one(kind: &'static RecordKind, id: &str, record: Value) -> NeededRecord {
    let Value::Object(mut record) = record else { unreachable!("records are objects") };
    record.insert("sourcedId".into(), id.into());
    record.insert("status".into(), "active".into());
    NeededRecord { kind, id: id.to_owned(), record }
}

/// The organization as it is stored, without a name if the record no longer exists.
pub(super) fn stored_organization(tx: &mut Tx<'_>, id: &str) -> Result<LearningOrganization> {
    let stored = repository::find(tx, &ORG, id)?;
    let org = stored.map(|stored| fields::of(&stored)).transpose()?.unwrap_or_default();
    Ok(organization_of_record(id, &org))
}

/// The organization in a record.
pub fn organization_of_record(id: &str, org: &Object) -> LearningOrganization {
    let text = |name: &str| fields::text(org, name).to_owned();
    LearningOrganization { id: id.to_owned(), name: text("name"), kind: text("type") }
}

/// The sourcedIds of a course's records. Each record refers only to those before it.
fn ids(course: &TaughtCourse) -> [(&'static RecordKind, String); 4] {
    let [course, component, resource, link] = records(&course.course_id).map(|(_, id)| id);
    [
        (&COURSE, course),
        (&COURSE_COMPONENT, component),
        (&RESOURCE, resource),
        (&COMPONENT_RESOURCE, link),
    ]
}

/// Writes the records of a course.
pub(super) fn put(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    organization: &LearningOrganization,
    course: &TaughtCourse,
) -> Result<()> {
    let all = needed(game, organization, course);
    // The first record is the organization, which stays as it is.
    all.iter().skip(1).try_for_each(|needed| write_one(tx, now, game, needed))
}

/// The records that a course needs, the organization first.
pub(super) fn needed(
    game: &Game,
    organization: &LearningOrganization,
    course: &TaughtCourse,
) -> Vec<NeededRecord> {
    let reference = |id: &str| json!({ "sourcedId": id });
    let [(_, course_id), (_, component), (_, resource), _] = ids(course);
    let bodies = [
        json!({
            "title": course.title,
            "courseCode": course.course_code,
            "subjects": [course.subject],
            "grades": [course.grade],
            "org": reference(&organization.id),
            "metadata": {
                "metrics": { "totalXp": course.total_xp, "masterableUnits": course.masterable_units },
                "primaryApp": { "id": game.slug, "name": game.display_name, "domains": [] },
            },
        }),
        json!({ "title": course.title, "sortOrder": 1, "course": reference(&course_id) }),
        json!({
            "title": course.title,
            "vendorResourceId": game.id,
            "applicationId": game.slug,
            "metadata": { "type": "interactive", "xp": course.total_xp },
        }),
        json!({
            "title": course.title,
            "sortOrder": 1,
            "courseComponent": reference(&component),
            "resource": reference(&resource),
        }),
    ];
    let of_org = self::organization(organization);
    let own = ids(course).into_iter().zip(bodies);
    let own = own.map(|((kind, id), record)| needed_one(kind, &id, record));
    [of_org].into_iter().chain(own).collect()
}

/// Marks the records of a course that a setup of the game created as `tobedeleted`, starting with those that refer to
/// others. Records that were in the roster before stay.
pub(super) fn mark(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    course: &TaughtCourse,
) -> Result<()> {
    for (kind, id) in ids(course).into_iter().rev() {
        if is_created_by(tx, game, kind, &id)? && state(tx, kind, &id)? == RecordState::Ok {
            let collection = at(kind.path).expect("every kind has a collection");
            write::delete(tx, collection, &id, now, false, None, &Reach::Everything)?;
        }
    }
    Ok(())
}

/// The state of each record that the integration needs.
pub fn check(tx: &mut Tx<'_>, integration: &Integration) -> Result<Vec<CheckedCourse>> {
    let mut all = Vec::new();
    for course in &integration.courses {
        let own = [(&ORG, integration.organization.id.clone())];
        let mut resources = Vec::new();
        for (kind, id) in own.into_iter().chain(ids(course)) {
            resources.push(CheckedRecord { kind: kind.one, state: state(tx, kind, &id)?, id });
        }
        all.push(checked(course, resources));
    }
    Ok(all)
}

/// The result of checking a course's records.
pub fn checked(course: &TaughtCourse, resources: Vec<CheckedRecord>) -> CheckedCourse {
    CheckedCourse { subject: course.subject.clone(), grade: course.grade.clone(), resources }
}

fn state(tx: &mut Tx<'_>, kind: &RecordKind, id: &str) -> Result<RecordState> {
    let stored = repository::find(tx, kind, id)?;
    let record = stored.map(|stored| fields::of(&stored)).transpose()?;
    Ok(RecordState::of(record.as_ref()))
}

impl RecordState {
    /// The state of a record, or of a missing one.
    pub fn of(record: Option<&Object>) -> Self {
        match record {
            None => Self::Missing,
            Some(record) if fields::text(record, "status") == "active" => Self::Ok,
            Some(_) => Self::Deleted,
        }
    }
}

/// Creates or replaces a record. A new record belongs to the game from then on.
fn write_one(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    NeededRecord { kind, id, record }: &NeededRecord,
) -> Result<()> {
    let rules = WriteRules {
        dialect: PayloadDialect::Platform,
        now,
        allocate_missing_ids: false,
        reach: Reach::Everything,
    };
    let collection = at(kind.path).expect("every kind has a collection");
    let put = write::put(tx, collection, id, record.clone(), None, true, &rules)?;
    if put.outcome == WriteOutcome::Created {
        lms::note_creator(tx, lms::HERE, kind, id, &game.id)?;
    }
    Ok(())
}
