//! Instants and clocks. Code that needs the current time takes a [`Clock`], so that tests can set it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// An instant in UTC with millisecond resolution.
///
/// Its text is always `2026-01-15T08:00:00.000Z`: 24 characters, so that text order is time order
/// in both stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    milliseconds: i64,
}

impl Timestamp {
    /// Bytes of its text.
    pub const TEXT_BYTES: usize = 24;

    /// The instant that many milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_milliseconds(milliseconds: i64) -> Self {
        Self { milliseconds }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn milliseconds(self) -> i64 {
        self.milliseconds
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, as JWT claims want them.
    pub fn seconds(self) -> i64 {
        self.milliseconds.div_euclid(1000)
    }

    /// The instant that many seconds later.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self { milliseconds: self.milliseconds + seconds * 1000 }
    }

    /// The calendar date in UTC.
    pub fn date(self) -> jiff::civil::Date {
        self.jiff().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.milliseconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.jiff())
    }
}

impl serde::Serialize for Timestamp {
    /// As text: `2026-01-15T08:00:00.000Z`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// The text is not an RFC 3339 instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an instant such as 2026-01-15T08:00:00Z")]
pub struct NotAnInstant;

impl FromStr for Timestamp {
    type Err = NotAnInstant;

    /// Reads an RFC 3339 instant with any offset, or a date alone (its midnight in UTC).
    fn from_str(text: &str) -> Result<Self, NotAnInstant> {
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Ok(Self { milliseconds: instant.as_millisecond() });
        }
        let date = parse_date(text).ok_or(NotAnInstant)?;
        let midnight =
            date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| NotAnInstant)?.timestamp();
        Ok(Self { milliseconds: midnight.as_millisecond() })
    }
}

/// Reads `2026-01-15` and nothing else. A date with a time behind it is not a date.
pub fn parse_date(text: &str) -> Option<jiff::civil::Date> {
    if text.len() != 10 || text.as_bytes()[4] != b'-' {
        return None;
    }
    text.parse().ok()
}

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock that all others take")]
        let now = jiff::Timestamp::now();
        Timestamp { milliseconds: now.as_millisecond() }
    }
}

/// A clock that a test moves by hand.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that always shows the instant.
    pub fn at(instant: Timestamp) -> Self {
        Self(AtomicI64::new(instant.milliseconds))
    }

    /// Moves the clock forward.
    pub fn advance_milliseconds(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp { milliseconds: self.0.load(Ordering::SeqCst) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_fixed_width_and_ordered() {
        let text = |s: &str| s.parse::<Timestamp>().unwrap().to_string();
        assert_eq!(text("2026-01-15T08:00:00Z"), "2026-01-15T08:00:00.000Z");
        assert_eq!(text("2026-01-15T10:00:00.12345+02:00"), "2026-01-15T08:00:00.123Z");
        assert_eq!(text("2026-01-15"), "2026-01-15T00:00:00.000Z");
        assert!("2026-13-01".parse::<Timestamp>().is_err());
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}
