//! Queries over facts. The student and the enrollment of a fact are determined when it is read, from the roster at that
//! time. So events of people who are not in the roster yet count as soon as they are added.

mod mastered;
mod report;
mod student;
mod student_enrollments;
mod weekly;

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::facts::{self, BUCKET_MS, FactContext, FactPieces, MeasureSums, REACH_MS};
use lyceum_roster::fields;
use lyceum_roster::kinds::ENROLLMENT;
use lyceum_roster::repository;
use lyceum_store::Tx;

pub use mastered::{GradesBySource, HighestGrades, highest_grade_mastered};
pub use report::{Day, Days, Metrics, Report};
pub use student::StudentName;
pub(crate) use student::{actors, owner_ids, owners};
pub use weekly::{WeeklyFact, weekly_facts};

use crate::zone::{InstantRange, Zone};
use student_enrollments::StudentEnrollments;

/// The report on a student in a range, by day of the zone. Errors: `NotFound`.
pub fn activity(
    tx: &mut Tx<'_>,
    student: StudentName<'_>,
    range: InstantRange,
    zone: &Zone,
    reach: &Reach,
) -> Result<Report> {
    let user = student::find(tx, student, reach)?;
    let actors = student::actors(tx, &user)?;
    let mut report = Report::new(zone);
    entries(tx, &actors, range, |_, at, context, sums| {
        let day = report.day_of(at);
        report.add(day, context, sums);
    })?;
    Ok(report)
}

/// The report of [`activity`], restricted to the courses with these sourcedIds. Errors: `NotFound`.
pub fn activity_in(
    tx: &mut Tx<'_>,
    student: StudentName<'_>,
    range: InstantRange,
    zone: &Zone,
    courses: &[&str],
    reach: &Reach,
) -> Result<Report> {
    let user = student::find(tx, student, reach)?;
    let actors = student::actors(tx, &user)?;
    let mut report = Report::new(zone);
    entries(tx, &actors, range, |_, at, context, sums| {
        if courses.contains(&context.course.as_str()) {
            let day = report.day_of(at);
            report.add(day, context, sums);
        }
    })?;
    Ok(report)
}

/// The report of [`activity`] for each of these users, given by sourcedId and e-mail address. It needs a fixed number
/// of statements for any number of users.
pub(crate) fn activities(
    tx: &mut Tx<'_>,
    users: &[(&str, &str)],
    range: InstantRange,
    zone: &Zone,
) -> Result<Vec<Report>> {
    let owners = student::owners(tx, users)?;
    let actors: Vec<i64> = owners.iter().map(|(actor, _)| *actor).collect();
    let places: HashMap<i64, usize> = owners.into_iter().collect();
    let mut reports: Vec<Report> = users.iter().map(|_| Report::new(zone)).collect();
    entries(tx, &actors, range, |actor, at, context, sums| {
        let report = &mut reports[places[&actor]];
        let day = report.day_of(at);
        report.add(day, context, sums);
    })?;
    Ok(reports)
}

/// The numbers of the actors in the log that are the student. Errors: `NotFound`.
pub fn actors_of(tx: &mut Tx<'_>, student: StudentName<'_>, reach: &Reach) -> Result<Vec<i64>> {
    let user = student::find(tx, student, reach)?;
    student::actors(tx, &user)
}

/// An event that contributes to a sum.
#[derive(Clone, Debug)]
pub struct ContributingEvent {
    /// The event.
    pub logged: lyceum_events::LoggedEvent,
    /// The subject, as reports name it.
    pub subject: String,
    /// The app that sent the event, as reports name it.
    pub app: String,
    /// Its part in the range.
    pub sums: MeasureSums,
}

/// The events behind the report of [`activity`] on a student in a range, latest first. `subject` is a subject as
/// reports name it; without one, events of all subjects are listed. Errors: `NotFound`.
pub fn behind(
    tx: &mut Tx<'_>,
    student: StudentName<'_>,
    range: InstantRange,
    subject: Option<&str>,
    reach: &Reach,
) -> Result<Vec<ContributingEvent>> {
    let user = student::find(tx, student, reach)?;
    let instants = range.from.milliseconds()..range.to.milliseconds();
    let mut found = Vec::new();
    for actor in student::actors(tx, &user)? {
        events_near(tx, actor, range, |logged, pieces| {
            let Some(sums) = pieces.within(instants.clone()) else { return Ok(()) };
            let (own, app) = report::names(&logged.event.context());
            if subject.is_none_or(|subject| subject.eq_ignore_ascii_case(&own)) {
                found.push(ContributingEvent { logged: logged.clone(), subject: own, app, sums });
            }
            Ok(())
        })?;
    }
    found.sort_by_key(|one| std::cmp::Reverse((one.logged.event.time, one.logged.seq)));
    Ok(found)
}

/// The report on an enrollment in a range, by day of the zone. It contains the facts whose events name the
/// enrollment's course, and the facts without a course that belong to it by their subject (see [`student_enrollments`]).
/// Errors: `NotFound`.
pub fn enrollment(
    tx: &mut Tx<'_>,
    id: &str,
    range: InstantRange,
    zone: &Zone,
    reach: &Reach,
) -> Result<Report> {
    let stored = repository::find_within(tx, &ENROLLMENT, id, reach)?;
    let stored = stored.ok_or_else(|| lyceum_core::Problem::not_found(ENROLLMENT.one, id))?;
    let enrollment = fields::of(&stored)?;
    let user = student::find(tx, StudentName::Id(fields::reference(&enrollment, "user")), reach)?;
    let enrolled = StudentEnrollments::of(tx, fields::text(&user, "sourcedId"), Some(&stored))?;
    let course = enrolled.course_of(id).unwrap_or_default().to_owned();
    let actors = student::actors(tx, &user)?;
    let mut report = Report::new(zone);
    entries(tx, &actors, range, |_, at, context, sums| {
        let day = report.day_of(at);
        let home = enrolled.home(context, day).map(|enrollment| enrollment.course.as_str());
        if home == Some(course.as_str()) {
            report.add(day, context, sums);
        }
    })?;
    Ok(report)
}

/// Calls `each` with the work of the actors in the range, in pieces within one bucket: the actor, the first instant of
/// the piece, the context and the sums. Complete buckets come from the facts. If a bound of the range cuts a bucket,
/// its part is computed from the events.
fn entries(
    tx: &mut Tx<'_>,
    actors: &[i64],
    range: InstantRange,
    mut each: impl FnMut(i64, Timestamp, &FactContext, &MeasureSums),
) -> Result<()> {
    let (from, to) = (range.from.milliseconds(), range.to.milliseconds());
    let first = -(-from).div_euclid(BUCKET_MS) * BUCKET_MS;
    let last = to.div_euclid(BUCKET_MS) * BUCKET_MS;
    if first < last {
        facts::read(tx, actors, first..last, |actor, at, context, sums| {
            each(actor, Timestamp::from_milliseconds(at), context, sums);
        })?;
    }
    for &actor in actors {
        for (from, to) in [(from, first.min(to)), (last.max(first), to)] {
            if from < to {
                let cut = InstantRange {
                    from: Timestamp::from_milliseconds(from),
                    to: Timestamp::from_milliseconds(to),
                };
                events_near(tx, actor, cut, |logged, pieces| {
                    if let Some(sums) = pieces.within(from..to) {
                        each(actor, cut.from, &logged.event.context(), &sums);
                    }
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}

/// Calls `each` with the events of an actor that may overlap the range.
fn events_near(
    tx: &mut Tx<'_>,
    actor: i64,
    range: InstantRange,
    mut each: impl FnMut(&lyceum_events::LoggedEvent, &FactPieces) -> Result<()>,
) -> Result<()> {
    let near = (range.from.milliseconds() - REACH_MS)..(range.to.milliseconds() + REACH_MS);
    lyceum_events::of_actor(tx, actor, near, |logged| match FactPieces::of(&logged.event) {
        Some(pieces) => each(&logged, &pieces),
        None => Ok(()),
    })
}
