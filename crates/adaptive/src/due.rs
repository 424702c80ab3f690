//! Until when an assigned lesson or test must be completed.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::Date;
use lyceum_bridge::today::{Moment, zone_of};
use lyceum_bridge::zone::Zone;
use lyceum_core::Result;
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_store::Tx;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Until when a student must complete something: an instant, or the end of a day at the student's school. As text:
/// `2026-11-30T15:00:00.000Z` or `2026-11-30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueTime {
    /// The first instant that is too late.
    Instant(Timestamp),
    /// The last day, in the time zone of the student's school.
    Day(Date),
}

impl DueTime {
    /// The first instant that is too late for the student. Errors: `NotFound`.
    pub(crate) fn expires(
        self,
        tx: &mut Tx<'_>,
        moment: &Moment,
        student: &str,
    ) -> Result<Timestamp> {
        match self {
            Self::Instant(instant) => Ok(instant),
            Self::Day(day) => {
                let zone = zone_of(tx, moment, student)?;
                Ok(zone.start_of(day.tomorrow().unwrap_or(day)))
            }
        }
    }
}

/// The last day of an assignment that expires at the beginning of a day in the zone.
pub(crate) fn last_day(zone: &Zone, expires: Timestamp) -> Option<Date> {
    let day = zone.day_of(expires);
    day.yesterday().ok().filter(|_| zone.start_of(day) == expires)
}

impl fmt::Display for DueTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instant(instant) => instant.fmt(f),
            Self::Day(day) => day.fmt(f),
        }
    }
}

impl Serialize for DueTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DueTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let instant = || text.parse().map(Self::Instant);
        parse_date(&text).map_or_else(instant, |day| Ok(Self::Day(day))).map_err(|problem| {
            serde::de::Error::custom(format!("{problem}, or a day such as 2026-01-15"))
        })
    }
}

impl JsonSchema for DueTime {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DueTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "anyOf": [{ "format": "date-time" }, { "format": "date" }] })
    }
}
