//! The courses of a deployed project, written as roster records.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_games::games;
use lyceum_games::lms::{
    self, Integration, IntegrationSetup, IntegrationSetupCourse, IntegrationSetupOrganization,
    WritableRecords,
};
use lyceum_project::courses::{LmsChange, LmsState, Owner, Presence, Record, Taught};
use lyceum_store::Tx;

/// A project's courses, with every record that they need.
pub(crate) fn state(tx: &mut Tx<'_>, slug: &str) -> Result<LmsState> {
    let Some(game) = games::lookup(tx, slug)? else { return Ok(LmsState::default()) };
    let Some(Integration { organization, courses, .. }) = lms::lookup(tx, &game)? else {
        return Ok(LmsState::default());
    };
    let mut records = Vec::new();
    for checked in lms::verify(tx, &game)? {
        for resource in checked.resources {
            let state = match resource.state {
                lms::RecordState::Ok => Presence::Ok,
                lms::RecordState::Deleted => Presence::Deleted,
                lms::RecordState::Missing => Presence::Missing,
            };
            let record = Record { kind: resource.kind.to_owned(), id: resource.id, state };
            if !records.contains(&record) {
                records.push(record);
            }
        }
    }
    let courses = courses.into_iter().map(|course| Taught {
        course_id: Some(course.course_id),
        subject: course.subject,
        grade: course.grade,
        title: course.title,
        course_code: course.course_code,
        total_xp: course.total_xp.number(),
        masterable_units: course.masterable_units.number(),
    });
    let organization = Owner {
        id: Some(organization.id),
        name: Some(organization.name),
        kind: Some(organization.kind),
    };
    Ok(LmsState { organization: Some(organization), courses: courses.collect(), records })
}

/// Writes the records that a plan names, and stores the project's courses. Without courses, the project teaches
/// nothing from then on, and its former records stay.
///
/// Errors: `Invalid` with everything wrong with the courses; `NotFound` without the project's game; `Forbidden` if
/// a record exists that the caller may not write.
pub(crate) fn set_up(
    tx: &mut Tx<'_>,
    now: Timestamp,
    slug: &str,
    change: &LmsChange,
    may_write: WritableRecords,
) -> Result<()> {
    let game = games::find(tx, slug)?;
    if change.courses.is_empty() {
        return lms::forget(tx, &game);
    }
    let Owner { id, name, kind } = change.organization.clone();
    let courses = change.courses.iter().map(|course| IntegrationSetupCourse {
        subject: course.subject.clone(),
        grade: course.grade.as_str().into(),
        total_xp: Some(course.total_xp),
        masterable_units: Some(course.masterable_units),
        title: Some(course.title.clone()),
        course_code: Some(course.course_code.clone()),
        course_id: course.course_id.clone(),
    });
    let organization = IntegrationSetupOrganization { id, name, kind };
    let setup = IntegrationSetup { game_id: None, organization, courses: courses.collect() };
    lms::set_up(tx, now, &game, &setup, may_write).map(drop)
}
