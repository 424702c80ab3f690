//! School hours: on which days and at which times an organization has school. An organization without school hours of its
//! own has those of the nearest organization above it, and without these the usual ones.
//!
//! An organization inherits all fields together; otherwise nobody could see where each came from. Today, and the day
//! on which work is due, are days of the student's school, wherever the reader's browser is.

use std::collections::{BTreeSet, HashMap};

use jiff::civil::{Date, Time, Weekday};
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Detail, Message, Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::ORG;
use lyceum_roster::reach::{check_change, check_changes};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::limits::SCHOOL_DAYS_OFF_MAX_COUNT;
use crate::repository::school_hours as repository;
use crate::zone::Zone;

pub use crate::repository::school_hours::SchoolHours;

/// The school hours of an organization, and the organization that sets them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchoolHoursInForce {
    /// The hours.
    #[serde(flatten)]
    pub hours: SchoolHours,
    /// The sourcedId of the organization that sets them: this one or one above it; null for the usual hours.
    pub set_by: Option<String>,
}

/// How far a school day is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchoolDay {
    /// Milliseconds since school began, at most [`Self::whole_ms`].
    pub passed_ms: i64,
    /// Milliseconds from the beginning to the end of school.
    pub whole_ms: i64,
    /// Whether school has not ended yet.
    pub is_open: bool,
}

impl SchoolHours {
    /// Monday to Friday, 08:00 to 16:00.
    pub fn usual(time_zone: &str) -> Self {
        Self {
            weekdays: (1..=5).collect(),
            begins: "08:00".to_owned(),
            ends: "16:00".to_owned(),
            time_zone: time_zone.to_owned(),
            days_off: BTreeSet::new(),
        }
    }

    /// The time zone, whose names were checked when the hours were stored.
    pub(crate) fn zone(&self) -> Zone {
        Zone::from_name(&self.time_zone).unwrap_or(Zone::UTC)
    }

    /// The school day of an instant; `None` on a day without school and before school begins.
    pub fn day_at(&self, now: Timestamp) -> Option<SchoolDay> {
        let (zone, begins, ends) = (self.zone(), time(&self.begins)?, time(&self.ends)?);
        let today = zone.day_of(now);
        let has_school = self.weekdays.contains(&today.weekday().to_monday_one_offset())
            && !self.days_off.contains(&today.to_string());
        let at = |time| zone.instant_of(today, time).milliseconds();
        let (begins, ends) = (at(begins), at(ends));
        let passed_ms = now.milliseconds() - begins;
        (has_school && passed_ms >= 0 && begins < ends).then(|| SchoolDay {
            passed_ms: passed_ms.min(ends - begins),
            whole_ms: ends - begins,
            is_open: now.milliseconds() < ends,
        })
    }

    fn check(&self) -> Result<()> {
        let mut details = Vec::new();
        let mut refuse = |path: &str, message: Message| {
            details.push(Detail { path: path.to_owned(), message });
        };
        if self.weekdays.is_empty() {
            refuse(
                "weekdays",
                "must have at least one weekday, from 1 (Monday) to 7 (Sunday)".into(),
            );
        }
        if let Some(day) =
            self.weekdays.iter().find(|day| Weekday::from_monday_one_offset(**day).is_err())
        {
            refuse(
                "weekdays",
                message!("must be numbers from 1 (Monday) to 7 (Sunday): got {day}"),
            );
        }
        for (path, value) in [("begins", &self.begins), ("ends", &self.ends)] {
            if time(value).is_none() {
                refuse(path, message!("must be a time such as 08:00: got '{value}'"));
            }
        }
        if time(&self.begins)
            .is_some_and(|begins| time(&self.ends).is_some_and(|ends| ends <= begins))
        {
            refuse(
                "ends",
                message!("must be after begins: got {self.ends}, which is not after {self.begins}"),
            );
        }
        if let Err(problem) = Zone::from_name(&self.time_zone) {
            refuse(
                "timeZone",
                problem.details.into_iter().next().map_or(problem.message, |detail| detail.message),
            );
        }
        if let Some(day) = self
            .days_off
            .iter()
            .find(|day| parse_date(day).is_none_or(|date: Date| date.to_string() != **day))
        {
            refuse("daysOff", message!("must be days such as 2026-12-24: got '{day}'"));
        }
        if self.days_off.len() > SCHOOL_DAYS_OFF_MAX_COUNT {
            refuse(
                "daysOff",
                message!("the limit for days off is {SCHOOL_DAYS_OFF_MAX_COUNT} days"),
            );
        }
        if details.is_empty() { Ok(()) } else { Err(Problem::invalid_all(details)) }
    }
}

/// A local time such as `08:00`.
fn time(text: &str) -> Option<Time> {
    Time::strptime("%H:%M", text).ok().filter(|_| text.len() == 5)
}

/// The school hours of an organization. Errors: `NotFound`.
pub fn of_org(
    tx: &mut Tx<'_>,
    usual: &SchoolHours,
    org: &str,
    reach: &Reach,
) -> Result<SchoolHoursInForce> {
    fields::in_use_within(tx, &ORG, org, reach)?;
    let found = in_force(tx, usual, [org])?;
    Ok(found.into_values().next().unwrap_or_else(|| unset(usual)))
}

fn unset(usual: &SchoolHours) -> SchoolHoursInForce {
    SchoolHoursInForce { hours: usual.clone(), set_by: None }
}

/// The school hours of these organizations. Runs one statement.
pub fn in_force<'o>(
    tx: &mut Tx<'_>,
    usual: &SchoolHours,
    orgs: impl IntoIterator<Item = &'o str>,
) -> Result<HashMap<String, SchoolHoursInForce>> {
    let orgs: BTreeSet<&str> = orgs.into_iter().collect();
    let mut found: HashMap<String, SchoolHoursInForce> =
        orgs.iter().map(|org| ((*org).to_owned(), unset(usual))).collect();
    // The nearest one comes last.
    for (org, set_by, hours) in repository::above(tx, &orgs)? {
        found.insert(org, SchoolHoursInForce { hours, set_by: Some(set_by) });
    }
    Ok(found)
}

/// Sets the school hours of an organization and of those below it that have none of their own.
///
/// Errors: `Invalid`; `NotFound`; `Forbidden` for the reach of a teacher.
pub fn set(tx: &mut Tx<'_>, org: &str, hours: &SchoolHours, reach: &Reach) -> Result<()> {
    check_organization(tx, org, reach)?;
    hours.check()?;
    repository::put(tx, org, hours)
}

/// Removes the school hours of an organization, so that those of the nearest one above it apply. Errors: `NotFound`, also
/// if it has none; `Forbidden` for the reach of a teacher.
pub fn remove(tx: &mut Tx<'_>, org: &str, reach: &Reach) -> Result<()> {
    check_organization(tx, org, reach)?;
    match repository::delete(tx, org)? {
        true => Ok(()),
        false => {
            let message = message!("the organization '{org}' has no school hours of its own");
            Err(Problem::new(ProblemKind::NotFound, message))
        }
    }
}

/// Removes the hours of purged organizations, so that a later organization with the same sourcedId does not have them.
pub fn forget_purged(tx: &mut Tx<'_>, kind: &RecordKind) -> Result<()> {
    if *kind == ORG { repository::forget_purged(tx) } else { Ok(()) }
}

fn check_organization(tx: &mut Tx<'_>, org: &str, reach: &Reach) -> Result<()> {
    fields::in_use_within(tx, &ORG, org, reach)?;
    check_changes(&ORG, org, reach)?;
    check_change(tx, &ORG, org, reach)
}
