//! Converts days and weeks of IANA time zones to instants in UTC.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Problem, Result, message};
use lyceum_events::facts::BUCKET_MS;

/// A time zone. The database of zones is compiled into the program, so that all processes of a release agree on days.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// UTC, the default.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The zone with this name, such as `America/New_York`. Errors: `Invalid`, at `timezone`.
    pub fn from_name(name: &str) -> Result<Self> {
        TimeZoneDatabase::bundled().get(name).map(Self).map_err(|_| {
            let description = message!(
                "the IANA time zone database has no zone '{name}'; send a name such as 'America/New_York' or 'UTC'"
            );
            Problem::invalid("timezone", description)
        })
    }

    /// The name in the database.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The local time of an instant.
    pub fn local(&self, instant: Timestamp) -> DateTime {
        let instant = jiff::Timestamp::from_millisecond(instant.milliseconds());
        instant.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(self.0.clone()).datetime()
    }

    /// The last `count` days up to the day of an instant, earliest first.
    pub fn days(&self, now: Timestamp, count: u32) -> Vec<Date> {
        let today = self.day_of(now);
        let back = |days: u32| today.checked_sub(jiff::Span::new().days(i64::from(days))).ok();
        (0..count).rev().filter_map(back).collect()
    }

    /// The first instant of a day in the zone. A day that the zone skipped is empty and begins with the next day.
    pub fn start_of(&self, day: Date) -> Timestamp {
        let start = day.to_zoned(self.0.clone()).and_then(|midnight| midnight.start_of_day());
        let start = start.unwrap_or_else(|_| {
            // The day lies outside the years that instants support.
            let edge = if day.year() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
            edge.to_zoned(self.0.clone())
        });
        Timestamp::from_milliseconds(start.timestamp().as_millisecond())
    }

    /// The instant of a local time on a day. If clocks are set forward over the time, the first instant after it.
    pub(crate) fn instant_of(&self, day: Date, time: Time) -> Timestamp {
        let zoned = day.to_datetime(time).to_zoned(self.0.clone());
        let instant = zoned.map_or_else(
            |_| self.start_of(day).milliseconds(),
            |zoned| zoned.timestamp().as_millisecond(),
        );
        Timestamp::from_milliseconds(instant)
    }

    /// The day of an instant: the latest day that has begun by then. If clocks are set back across midnight, the
    /// repeated minutes belong to the day that has already begun.
    pub fn day_of(&self, instant: Timestamp) -> Date {
        let shown = jiff::Timestamp::from_millisecond(instant.milliseconds())
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .to_zoned(self.0.clone())
            .date();
        match shown.tomorrow() {
            Ok(next) if self.start_of(next) <= instant => next,
            _ => shown,
        }
    }
}

/// A range of instants, including the first and excluding the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantRange {
    /// The first instant in the range.
    pub from: Timestamp,
    /// The first instant after the range.
    pub to: Timestamp,
}

impl InstantRange {
    /// A range from milliseconds.
    pub fn of(milliseconds: &std::ops::Range<i64>) -> Self {
        let at = Timestamp::from_milliseconds;
        Self { from: at(milliseconds.start), to: at(milliseconds.end) }
    }

    /// The whole time that events can name.
    pub fn all() -> Self {
        let edge = 1_000_000_000 * BUCKET_MS;
        Self { from: Timestamp::from_milliseconds(-edge), to: Timestamp::from_milliseconds(edge) }
    }

    /// Whether the range is short enough to be read without a queue for long reads.
    pub fn is_short(self) -> bool {
        self.to.milliseconds() - self.from.milliseconds() <= 400 * 24 * 60 * 60 * 1000
    }

    /// The range from `start` to `end`, both inclusive. Each is an instant with milliseconds or a day of the zone. A
    /// missing bound is open. Errors: `Invalid`, at `startDate` or `endDate`.
    pub fn inclusive(zone: &Zone, start: Option<&str>, end: Option<&str>) -> Result<Self> {
        let mut range = Self::all();
        if let Some(text) = start {
            range.from = match parse_date(text) {
                Some(day) => zone.start_of(day),
                None => instant("startDate", text)?,
            };
        }
        if let Some(text) = end {
            range.to = match parse_date(text) {
                Some(day) => zone.start_of(day.tomorrow().unwrap_or(day)),
                None => Timestamp::from_milliseconds(instant("endDate", text)?.milliseconds() + 1),
            };
        }
        let day = |bound: Option<&str>| bound.and_then(parse_date);
        // A day that the zone skipped is an empty range, but not an error.
        let is_reversed = match (day(start), day(end)) {
            (Some(first), Some(last)) => last < first,
            _ => range.to <= range.from,
        };
        match (start, end) {
            (Some(start), Some(end)) if is_reversed => Err(Problem::invalid(
                "endDate",
                message!("must not be before startDate: got {end}, which is before {start}"),
            )),
            _ => Ok(range),
        }
    }

    /// The week of an instant or a day, from Monday to Sunday in the zone. Errors: `Invalid`, at `weekDate`.
    pub fn week(zone: &Zone, text: &str) -> Result<Self> {
        let day = match parse_date(text) {
            Some(day) => day,
            None => zone.day_of(instant("weekDate", text)?),
        };
        let monday = day
            .nth_weekday(-1, Weekday::Monday)
            .map_or(day, |before| if day.weekday() == Weekday::Monday { day } else { before });
        let behind = monday.checked_add(jiff::Span::new().days(7)).unwrap_or(monday);
        Ok(Self { from: zone.start_of(monday), to: zone.start_of(behind) })
    }
}

fn instant(path: &str, text: &str) -> Result<Timestamp> {
    text.parse::<Timestamp>().map_err(|fault| {
        Problem::invalid(path, message!("{fault}, or a day such as 2026-01-15 (got '{text}')"))
    })
}
