//! XP by day in any time zone, computed from facts of the log.

use jiff::civil::Date;
use lyceum_bridge::analytics::{self, StudentName};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Problem, ProblemKind, Reach, Result, message, messages};
use lyceum_events::facts::Measure;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaughtCourse;
use super::activity::{correct_xp, no_student};
use super::events::EventContext;
use crate::levels::Xp;
use crate::limits;

/// The XP of a day.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DayXp {
    /// Such as `2026-01-15`.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    /// The XP, which corrections may have made negative.
    pub xp: Xp,
}

/// The new XP of a day.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewDayXp {
    /// The XP.
    #[schemars(range(min = 0))]
    xp: f64,
    /// The time zone of the day; by default UTC.
    timezone: Option<String>,
}

impl NewDayXp {
    /// The time zone of the day. Errors: `Invalid` for an unknown one.
    pub fn zone(&self) -> Result<Zone> {
        self.timezone.as_deref().map_or(Ok(Zone::UTC), Zone::from_name)
    }

    /// The name of that time zone.
    pub fn zone_name(&self) -> &str {
        self.timezone.as_deref().unwrap_or("UTC")
    }

    /// The XP. Errors: `Invalid`.
    pub fn checked_xp(&self) -> Result<Xp> {
        Xp::of(self.xp).ok_or_else(|| Problem::invalid("xp", "must be a number of at least 0"))
    }
}

/// A range of days, including the first and the last.
#[derive(Clone, Copy, Debug)]
pub struct DayRange {
    first: Date,
    last: Date,
}

impl DayRange {
    /// The days of a report about one day: the given one, or today in the zone. Errors: `Invalid` if the text
    /// is not a date.
    pub fn single_day(now: Timestamp, zone: &Zone, date: Option<&str>) -> Result<Self> {
        let day = date.map_or_else(|| Ok(zone.day_of(now)), |date| day("date", date))?;
        Ok(Self { first: day, last: day })
    }

    /// A range of days, by default the last thirty.
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
            return Err(Problem::invalid("endDate", "must not be before the start date"));
        }
        let most = limits::XP_HISTORY_MAX_DAYS;
        if first.until(last).map_or(i32::MAX, |span| span.get_days()) >= most {
            let message = message!("must be at most {most} days after the start date");
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

    /// All days with their XP, in order.
    pub fn filled(self, xp: impl Fn(Date) -> Xp) -> Vec<DayXp> {
        let days = self.first.series(jiff::Span::new().days(1));
        let days = days.take_while(|date| *date <= self.last);
        days.map(|date| DayXp { date: date.to_string(), xp: xp(date) }).collect()
    }

    fn range(self, zone: &Zone) -> Result<InstantRange> {
        InstantRange::inclusive(zone, Some(&self.first()), Some(&self.last()))
    }
}

fn day(name: &str, text: &str) -> Result<Date> {
    parse_date(text).ok_or_else(|| Problem::invalid(name, messages::MUST_BE_DATE))
}

/// The XP of a day, by default today in the zone.
///
/// Errors: `NotFound`; `Invalid` if the text is not a date.
pub fn of_day(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    zone: &Zone,
    date: Option<&str>,
) -> Result<DayXp> {
    let mut days = of_days(tx, user, zone, DayRange::single_day(now, zone, date)?)?;
    days.pop().ok_or_else(|| Problem::internal("a day has no XP"))
}

/// The XP that a correction may take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorrectionScope {
    /// All XP of the day, from any source.
    Everything,
    /// Only XP from the game's courses.
    OwnCourses,
}

/// Sets the XP of today. An event in a course of the game, of which the player is a student, adds or subtracts the
/// difference.
///
/// Errors: `NotFound`, `Invalid`; `Forbidden` if the player is not a student of a course, or if the correction would
/// take away XP that it may not.
pub fn set_today(
    tx: &mut Tx<'_>,
    scene: &EventContext<'_>,
    new: &NewDayXp,
    corrects: CorrectionScope,
) -> Result<DayXp> {
    let course = learned(tx, scene)?;
    let (zone, wanted) = (new.zone()?, new.checked_xp()?);
    let stored = of_day(tx, scene.now, scene.user, &zone, None)?;
    let difference = wanted.0 - stored.xp.0;
    if difference < 0 && corrects == CorrectionScope::OwnCourses {
        let own = own_today(tx, scene, &zone)?;
        if own.0 + difference < 0 {
            let message = message!(
                "{number} XP of today are not from the courses of '{scene.game.slug}'; set at least as many",
                number = Xp(stored.xp.0 - own.0).number()
            );
            return Err(Problem::new(ProblemKind::Forbidden, message));
        }
    }
    if difference != 0 {
        correct_xp(tx, scene, course, difference)?;
    }
    of_day(tx, scene.now, scene.user, &zone, None)
}

/// The first course of the game of which the player is a student.
fn learned<'i>(tx: &mut Tx<'_>, scene: &EventContext<'i>) -> Result<&'i TaughtCourse> {
    let courses = &scene.integration.courses;
    for course in courses {
        if lyceum_bridge::enroll::learns(tx, scene.now, scene.user, &course.course_id)? {
            return Ok(course);
        }
    }
    let course = courses.first().ok_or_else(|| Problem::internal("the game has no course"))?;
    Err(no_student(scene.user, course))
}

/// Today's XP from the courses of the game.
fn own_today(tx: &mut Tx<'_>, scene: &EventContext<'_>, zone: &Zone) -> Result<Xp> {
    let courses: Vec<&str> =
        scene.integration.courses.iter().map(|course| course.course_id.as_str()).collect();
    let range = DayRange::single_day(scene.now, zone, None)?.range(zone)?;
    let student = StudentName::Id(scene.user);
    let report = analytics::activity_in(tx, student, range, zone, &courses, &Reach::Everything)?;
    Ok(sum_of(&report))
}

fn sum_of(report: &analytics::Report) -> Xp {
    Xp(report.facts.values().flatten().map(|(_, metrics)| metrics.sums.of(Measure::Xp)).sum())
}

/// The total XP. Errors: `NotFound`.
pub fn total(tx: &mut Tx<'_>, user: &str) -> Result<Xp> {
    let (student, ever) = (StudentName::Id(user), InstantRange::all());
    let report = analytics::activity(tx, student, ever, &Zone::UTC, &Reach::Everything)?;
    Ok(sum_of(&report))
}

/// The XP of each day. Errors: `NotFound`.
pub fn of_days(tx: &mut Tx<'_>, user: &str, zone: &Zone, days: DayRange) -> Result<Vec<DayXp>> {
    let (student, range) = (StudentName::Id(user), days.range(zone)?);
    let report = analytics::activity(tx, student, range, zone, &Reach::Everything)?;
    let sum = |metrics: &analytics::Metrics| metrics.sums.of(Measure::Xp);
    Ok(days.filled(|date| {
        let facts = report.facts.get(&analytics::Day(date));
        Xp(facts.map_or(0, |subjects| subjects.values().map(sum).sum()))
    }))
}
