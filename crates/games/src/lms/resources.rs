//! The roster's records of what a game teaches.

use lyceum_core::time::Timestamp;
use lyceum_core::{Dialect, Result};
use lyceum_roster::collections::at;
use lyceum_roster::fields;
use lyceum_roster::kind::Kind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, ORG, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_roster::write::{self, Rules};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Integration, NewOrganization, Organization, Taught};
use crate::games::Game;

/// The platform's own organization.
const ORGANIZATION_ID: &str = "lyceum-platform";

/// What was found of the records of a course.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// The course's subject.
    pub subject: String,
    /// Its grade.
    pub grade: String,
    /// Each record that the course needs.
    pub resources: Vec<Resource>,
}

/// A record that a course needs.
#[derive(Clone, Debug, Serialize)]
pub struct Resource {
    /// `org`, `course`, `courseComponent`, `resource`, `componentResource`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its sourcedId.
    pub id: String,
    /// Whether it is there.
    pub state: State,
}

/// Whether a record is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is, and in use.
    Ok,
    /// It is marked `tobedeleted`.
    Deleted,
    /// It is not.
    Missing,
}

/// The organization of a setup: made unless it is in the roster.
pub(super) fn organization(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewOrganization,
) -> Result<Organization> {
    let id = new.id.as_deref().unwrap_or(ORGANIZATION_ID);
    if fields::in_use(tx, &ORG, id).is_err() {
        let name = new.name.as_deref().unwrap_or("Lyceum");
        let kind = new.kind.as_deref().unwrap_or("department");
        write_one(tx, now, &ORG, id, json!({ "name": name, "type": kind }))?;
    }
    stored_organization(tx, id)
}

/// The organization as it is stored; nameless where it is gone.
pub(super) fn stored_organization(tx: &mut Tx<'_>, id: &str) -> Result<Organization> {
    let stored = repository::find(tx, &ORG, id)?;
    let org = stored.map(|stored| fields::of(&stored)).transpose()?.unwrap_or_default();
    Ok(shown(id, &org))
}

pub(super) fn shown(id: &str, org: &Object) -> Organization {
    let text = |name: &str| fields::text(org, name).to_owned();
    Organization { id: id.to_owned(), name: text("name"), kind: text("type") }
}

/// The sourcedIds of the records of a course, each of which refers to those before it.
fn ids(course: &Taught) -> [(&'static Kind, String); 4] {
    let id = &course.course_id;
    [
        (&COURSE, id.clone()),
        (&COURSE_COMPONENT, format!("{id}-component")),
        (&RESOURCE, format!("{id}-resource")),
        (&COMPONENT_RESOURCE, format!("{id}-component-resource")),
    ]
}

/// Writes the records of a course.
pub(super) fn put(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    organization: &Organization,
    course: &Taught,
) -> Result<()> {
    let reference = |id: &str| json!({ "sourcedId": id });
    let [(_, course_id), (_, component), (_, resource), _] = ids(course);
    let records = [
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
    for ((kind, id), record) in ids(course).into_iter().zip(records) {
        write_one(tx, now, kind, &id, record)?;
    }
    Ok(())
}

/// Marks the records of a course `tobedeleted`, those first that refer to others.
pub(super) fn mark(tx: &mut Tx<'_>, now: Timestamp, course: &Taught) -> Result<()> {
    for (kind, id) in ids(course).into_iter().rev() {
        if state(tx, kind, &id)? == State::Ok {
            let collection = at(kind.path).expect("every kind has a collection");
            write::delete(tx, collection, &id, now, false)?;
        }
    }
    Ok(())
}

pub(super) fn check(tx: &mut Tx<'_>, integration: &Integration) -> Result<Vec<Checked>> {
    let mut checked = Vec::new();
    for course in &integration.courses {
        let own = [(&ORG, integration.organization.id.clone())];
        let mut resources = Vec::new();
        for (kind, id) in own.into_iter().chain(ids(course)) {
            resources.push(Resource { kind: kind.one, state: state(tx, kind, &id)?, id });
        }
        let (subject, grade) = (course.subject.clone(), course.grade.clone());
        checked.push(Checked { subject, grade, resources });
    }
    Ok(checked)
}

fn state(tx: &mut Tx<'_>, kind: &Kind, id: &str) -> Result<State> {
    Ok(match repository::find(tx, kind, id)? {
        None => State::Missing,
        Some(stored) if fields::text(&fields::of(&stored)?, "status") == "active" => State::Ok,
        Some(_) => State::Deleted,
    })
}

/// Puts a record in the place of the one with its id.
fn write_one(tx: &mut Tx<'_>, now: Timestamp, kind: &Kind, id: &str, record: Value) -> Result<()> {
    let Value::Object(mut record) = record else { unreachable!("records are objects") };
    record.insert("sourcedId".into(), id.into());
    record.insert("status".into(), "active".into());
    let rules = Rules { dialect: Dialect::Platform, now, allocate_missing_ids: false };
    let collection = at(kind.path).expect("every kind has a collection");
    write::put(tx, collection, id, record, None, true, &rules).map(drop)
}
