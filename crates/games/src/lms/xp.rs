//! XP by day, in any time zone: facts of the log.

use jiff::civil::Date;
use lyceum_bridge::analytics::{self, Who};
use lyceum_bridge::zone::{Range, Zone};
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_events::facts::Measure;
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};

use super::Taught;
use super::activity::{correct_xp, no_student};
use super::told::Scene;
use crate::levels::Xp;

/// The XP of a day.
#[derive(Clone, Debug, Serialize)]
pub struct DayXp {
    /// Such as `2026-01-15`.
    pub date: String,
    /// XP may have been taken back: below 0, too.
    pub xp: Xp,
}

/// What a day's XP are set to.
#[derive(Clone, Debug, Deserialize)]
pub struct NewXp {
    xp: f64,
    /// The time zone of the day; none: UTC.
    timezone: Option<String>,
}

impl NewXp {
    /// The time zone of the day. Errors: `Invalid` for an unknown one.
    pub fn zone(&self) -> Result<Zone> {
        self.timezone.as_deref().map_or(Ok(Zone::UTC), Zone::named)
    }

    /// The name of that zone.
    pub fn zone_name(&self) -> &str {
        self.timezone.as_deref().unwrap_or("UTC")
    }

    /// The XP. Errors: `Invalid`.
    pub fn wanted(&self) -> Result<Xp> {
        Xp::of(self.xp).ok_or_else(|| Problem::invalid("xp", "must be a number from 0 up"))
    }
}

/// Days that are asked for, the first and the last included.
#[derive(Clone, Copy, Debug)]
pub struct Days {
    first: Date,
    last: Date,
}

impl Days {
    /// The day that it is in the zone, or the one that is named. Errors: `Invalid` for what is no day.
    pub fn one(now: Timestamp, zone: &Zone, date: Option<&str>) -> Result<Self> {
        let day = date.map_or_else(|| Ok(zone.day_of(now)), |date| day("date", date))?;
        Ok(Self { first: day, last: day })
    }

    /// From the first to the last day: the last thirty unless they are named.
    ///
    /// Errors: `Invalid`, also for more than [`limits::XP_HISTORY_MAX_DAYS`].
    pub fn between(
        now: Timestamp,
        zone: &Zone,
        (start, end): (Option<&str>, Option<&str>),
    ) -> Result<Self> {
        let last = end.map_or_else(|| Ok(zone.day_of(now)), |end| day("endDate", end))?;
        let usual = last.saturating_sub(jiff::Span::new().days(29));
        let first = start.map_or(Ok(usual), |start| day("startDate", start))?;
        if last < first {
            return Err(Problem::invalid("endDate", "is before the start"));
        }
        let most = limits::XP_HISTORY_MAX_DAYS;
        if first.until(last).map_or(i32::MAX, |span| span.get_days()) >= most {
            let message = format!("is more than {most} days after the start");
            return Err(Problem::invalid("endDate", message));
        }
        Ok(Self { first, last })
    }

    /// The first day, as text.
    pub fn first(self) -> String {
        self.first.to_string()
    }

    /// The last day, as text.
    pub fn last(self) -> String {
        self.last.to_string()
    }

    /// Each day with its XP, the first first.
    pub fn filled(self, xp: impl Fn(Date) -> Xp) -> Vec<DayXp> {
        let days = self.first.series(jiff::Span::new().days(1));
        let days = days.take_while(|date| *date <= self.last);
        days.map(|date| DayXp { date: date.to_string(), xp: xp(date) }).collect()
    }

    fn range(self, zone: &Zone) -> Result<Range> {
        Range::inclusive(zone, Some(&self.first()), Some(&self.last()))
    }
}

fn day(name: &str, text: &str) -> Result<Date> {
    parse_date(text).ok_or_else(|| Problem::invalid(name, "must be a day such as 2026-01-15"))
}

/// The XP of the day that it is in the zone, or of the one that is named.
///
/// Errors: `NotFound`; `Invalid` for what is no day.
pub fn of_day(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    zone: &Zone,
    date: Option<&str>,
) -> Result<DayXp> {
    let mut days = of_days(tx, user, zone, Days::one(now, zone, date)?)?;
    days.pop().ok_or_else(|| Problem::internal("a day has no XP"))
}

/// Which XP a correction may take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrects {
    /// All of the day, wherever they were earned.
    Everything,
    /// What the courses of the game gave.
    OwnCourses,
}

/// Sets the XP of the day that it is: an event in a course of the game, of which the player is a student,
/// adds what is missing, or takes away what is too much.
///
/// Errors: `NotFound`, `Invalid`; `Forbidden` if the player is not a student of a course, and where more would be
/// taken away than may be.
pub fn set_today(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    new: &NewXp,
    corrects: Corrects,
) -> Result<DayXp> {
    let course = learned(tx, scene)?;
    let (zone, wanted) = (new.zone()?, new.wanted()?);
    let there = of_day(tx, scene.now, scene.user, &zone, None)?;
    let difference = wanted.0 - there.xp.0;
    if difference < 0 && corrects == Corrects::OwnCourses {
        let own = own_today(tx, scene, &zone)?;
        if own.0 + difference < 0 {
            let message = format!(
                "{} XP of today are from elsewhere than the courses of '{}', and stay",
                Xp(there.xp.0 - own.0).number(),
                scene.game.slug
            );
            return Err(Problem::new(ProblemKind::Forbidden, message));
        }
    }
    if difference != 0 {
        correct_xp(tx, scene, course, difference)?;
    }
    of_day(tx, scene.now, scene.user, &zone, None)
}

/// The first course of the game that the player is a student of.
fn learned<'i>(tx: &mut Tx<'_>, scene: &Scene<'i>) -> Result<&'i Taught> {
    let courses = &scene.integration.courses;
    for course in courses {
        if lyceum_bridge::enroll::learns(tx, scene.now, scene.user, &course.course_id)? {
            return Ok(course);
        }
    }
    let course = courses.first().ok_or_else(|| Problem::internal("nothing is taught"))?;
    Err(no_student(scene.user, course))
}

/// What the courses of the game gave on the day that it is.
fn own_today(tx: &mut Tx<'_>, scene: &Scene<'_>, zone: &Zone) -> Result<Xp> {
    let courses: Vec<&str> =
        scene.integration.courses.iter().map(|course| course.course_id.as_str()).collect();
    let range = Days::one(scene.now, zone, None)?.range(zone)?;
    let report = analytics::activity_in(tx, Who::Id(scene.user), range, zone, &courses)?;
    Ok(sum_of(&report))
}

fn sum_of(report: &analytics::Report) -> Xp {
    Xp(report.facts.values().flatten().map(|(_, metrics)| metrics.sums.of(Measure::Xp)).sum())
}

/// All XP. Errors: `NotFound`.
pub fn total(tx: &mut Tx<'_>, user: &str) -> Result<Xp> {
    let report = analytics::activity(tx, Who::Id(user), Range::all(), &Zone::UTC)?;
    Ok(sum_of(&report))
}

/// The XP of each day. Errors: `NotFound`.
pub fn of_days(tx: &mut Tx<'_>, user: &str, zone: &Zone, days: Days) -> Result<Vec<DayXp>> {
    let report = analytics::activity(tx, Who::Id(user), days.range(zone)?, zone)?;
    let sum = |metrics: &analytics::Metrics| metrics.sums.of(Measure::Xp);
    Ok(days.filled(|date| {
        let facts = report.facts.get(&analytics::Day(date));
        Xp(facts.map_or(0, |subjects| subjects.values().map(sum).sum()))
    }))
}
