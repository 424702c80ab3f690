//! A class: the work of each of its students, day by day.

use lyceum_core::text::distinct;
use lyceum_core::{Reach, Result};
use lyceum_events::facts::MeasureSums;
use lyceum_roster::repository::{self, ClassMember};
use lyceum_roster::screens::classes::{self, ListedClass};
use lyceum_store::Tx;

use crate::analytics::{self, Report};
use crate::today::{self, Moment};
use crate::zone::InstantRange;

/// The data of the page.
#[derive(Debug)]
pub struct ClassWork {
    /// The class.
    pub class: ListedClass,
    /// The days, earliest first, as dates such as `2026-01-15`.
    pub days: Vec<String>,
    /// The subjects in which a student worked, and the requested subject.
    pub subjects: Vec<String>,
    /// The students, sorted by name.
    pub students: Vec<StudentWork>,
}

/// The work of a student of a class.
#[derive(Debug)]
pub struct StudentWork {
    /// The sourcedId.
    pub id: String,
    /// First and last name; the sourcedId if the student has neither.
    pub name: String,
    /// The sums of each day.
    pub by_day: Vec<MeasureSums>,
    /// The sums of all days.
    pub total: MeasureSums,
}

impl StudentWork {
    /// The number of days on which the student worked.
    pub fn active_day_count(&self) -> usize {
        self.by_day.iter().filter(|sums| sums.events > 0).count()
    }
}

/// Reads the data of the page, of the students within the reach, for the last days up to now in the time zone of the school, for one subject or, if
/// `subject` is empty, for all subjects. It needs a fixed number of statements for any number of students. Errors:
/// `NotFound`.
pub fn read(
    tx: &mut Tx<'_>,
    moment: &Moment,
    id: &str,
    day_count: u32,
    subject: &str,
    reach: &Reach,
) -> Result<ClassWork> {
    let now = moment.now;
    let class = classes::one(tx, now, id, reach)?;
    let zone = &today::zone_at(tx, moment, &class.school_id)?;
    let days: Vec<String> = zone.days(now, day_count).iter().map(ToString::to_string).collect();
    let range = InstantRange::inclusive(
        zone,
        days.first().map(String::as_str),
        days.last().map(String::as_str),
    )?;
    let members = repository::in_class(tx, now, id, "student", reach)?;
    let users: Vec<(&str, &str)> = members.iter().map(|one| (&*one.id, &*one.email)).collect();
    let reports = analytics::activities(tx, &users, range, zone)?;
    let known = reports.iter().flat_map(|report| report.facts.values()).flat_map(|day| day.keys());
    let subjects = distinct(known.map(String::as_str).chain([subject]));
    let students = members
        .into_iter()
        .zip(&reports)
        .map(|(member, report)| work(member, by_day(report, &days, subject)));
    Ok(ClassWork { class, subjects, students: students.collect(), days })
}

fn work(ClassMember { id, name, .. }: ClassMember, by_day: Vec<MeasureSums>) -> StudentWork {
    let mut total = MeasureSums::default();
    for sums in &by_day {
        total.add(sums, 1);
    }
    StudentWork { name: if name.is_empty() { id.clone() } else { name }, id, by_day, total }
}

fn by_day(report: &Report, days: &[String], subject: &str) -> Vec<MeasureSums> {
    let mut by_day = vec![MeasureSums::default(); days.len()];
    for (day, metrics_by_subject) in &report.facts {
        let day = day.0.to_string();
        let Some(at) = days.iter().position(|known| *known == day) else { continue };
        for (known, metrics) in metrics_by_subject {
            if subject.is_empty() || subject.eq_ignore_ascii_case(known) {
                by_day[at].add(&metrics.sums, 1);
            }
        }
    }
    by_day
}
