//! XP by day, in any time zone: facts of the log.

use lyceum_bridge::analytics::{self, Who};
use lyceum_bridge::zone::{Range, Zone};
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Problem, Result, limits};
use lyceum_events::facts::Measure;
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};

use super::activity::{Scene, correct_xp};
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
    let today = zone.day_of(now).to_string();
    let date = date.unwrap_or(&today);
    let mut days = of_days(tx, user, zone, date, date)?;
    days.pop().ok_or_else(|| Problem::internal("a day has no XP"))
}

/// Sets the XP of the day that it is: an event adds what is missing, or takes away what is too much.
///
/// Errors: `NotFound`, `Invalid`.
pub fn set_today(tx: &mut Tx<'_>, scene: &Scene<'_>, new: &NewXp) -> Result<DayXp> {
    let zone = new.timezone.as_deref().map_or(Ok(Zone::UTC), Zone::named)?;
    let Some(wanted) = Xp::of(new.xp) else {
        return Err(Problem::invalid("xp", "must be a number from 0 up"));
    };
    let there = of_day(tx, scene.now, scene.user, &zone, None)?;
    if there.xp != wanted {
        correct_xp(tx, scene, scene.now, wanted.0 - there.xp.0)?;
    }
    of_day(tx, scene.now, scene.user, &zone, None)
}

/// All XP. Errors: `NotFound`.
pub fn total(tx: &mut Tx<'_>, user: &str) -> Result<Xp> {
    let report = analytics::activity(tx, Who::Id(user), Range::all(), &Zone::UTC)?;
    Ok(Xp(report.facts.values().flatten().map(|(_, metrics)| metrics.sums.of(Measure::Xp)).sum()))
}

/// The XP of each day from the first to the last, both included: the last thirty unless they are named.
///
/// Errors: `NotFound`; `Invalid`, also for more than [`limits::XP_HISTORY_MAX_DAYS`].
pub fn history(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    zone: &Zone,
    (start, end): (Option<&str>, Option<&str>),
) -> Result<Vec<DayXp>> {
    let today = zone.day_of(now);
    let end = end.map_or_else(|| today.to_string(), str::to_owned);
    let last = parse_date(&end).unwrap_or(today);
    let usual = last.saturating_sub(jiff::Span::new().days(29));
    let start = start.map_or_else(|| usual.to_string(), str::to_owned);
    of_days(tx, user, zone, &start, &end)
}

fn of_days(tx: &mut Tx<'_>, user: &str, zone: &Zone, start: &str, end: &str) -> Result<Vec<DayXp>> {
    let day = |name: &str, text: &str| {
        parse_date(text).ok_or_else(|| Problem::invalid(name, "must be a day such as 2026-01-15"))
    };
    let (first, last) = (day("startDate", start)?, day("endDate", end)?);
    if last < first {
        return Err(Problem::invalid("endDate", "is before the start"));
    }
    let range = Range::inclusive(zone, Some(start), Some(end))?;
    let days = first.until(last).map_or(i32::MAX, |span| span.get_days());
    let most = limits::XP_HISTORY_MAX_DAYS;
    if days >= most {
        return Err(Problem::invalid(
            "endDate",
            format!("is more than {most} days after the start"),
        ));
    }
    let report = analytics::activity(tx, Who::Id(user), range, zone)?;
    let mut shown: Vec<DayXp> = Vec::new();
    for date in first.series(jiff::Span::new().days(1)).take_while(|date| *date <= last) {
        let facts = report.facts.get(&analytics::Day(date));
        let sum = |metrics: &analytics::Metrics| metrics.sums.of(Measure::Xp);
        let xp = facts.map_or(0, |subjects| subjects.values().map(sum).sum());
        shown.push(DayXp { date: date.to_string(), xp: Xp(xp) });
    }
    Ok(shown)
}
