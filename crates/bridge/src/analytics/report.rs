//! Sums by day, subject and app, in the form that clients read.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::{FactContext, Measure, MeasureSums};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::zone::Zone;

/// The names under which reports list events without a subject or an app.
const NO_SUBJECT: &str = "None";
const NO_APP: &str = "Unknown";

/// Metrics by day and subject, and the same by app, day and subject.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(skip)]
    zone: Zone,
    /// The day that was asked for last: its first instant, the first behind it, its date.
    #[serde(skip)]
    day: Option<(Timestamp, Timestamp, Date)>,
    /// Metrics by day and subject.
    pub facts: Days,
    /// Metrics by app, day and subject.
    pub facts_by_app: BTreeMap<String, Days>,
}

/// Metrics by day and subject.
pub type Days = BTreeMap<Day, BTreeMap<String, Metrics>>;

/// A date, written `2026-01-15`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub Date);

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date" })
    }
}

/// The sums of a day in a subject.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The sums.
    pub sums: MeasureSums,
    /// The apps that it comes from.
    pub apps: BTreeSet<String>,
}

impl Report {
    pub(super) fn new(zone: &Zone) -> Self {
        Self { zone: zone.clone(), day: None, facts: Days::new(), facts_by_app: BTreeMap::new() }
    }

    /// The day of an instant. It is fast if instants are passed in order.
    pub(super) fn day_of(&mut self, at: Timestamp) -> Date {
        match self.day {
            Some((from, to, day)) if from <= at && at < to => day,
            _ => {
                let day = self.zone.day_of(at);
                let behind = day.tomorrow().map_or(at, |next| self.zone.start_of(next));
                self.day = Some((self.zone.start_of(day), behind, day));
                day
            }
        }
    }

    pub(super) fn add(&mut self, day: Date, context: &FactContext, sums: &MeasureSums) {
        let (subject, app) = (or(&context.subject, NO_SUBJECT), or(&context.app, NO_APP));
        for days in [&mut self.facts, member(&mut self.facts_by_app, app)] {
            let metrics = member(days.entry(Day(day)).or_default(), subject);
            metrics.sums.add(sums, 1);
            if !metrics.apps.contains(app) {
                metrics.apps.insert(app.to_owned());
            }
        }
    }
}

/// The subject and the app of a context, as a report names them.
pub(super) fn names(context: &FactContext) -> (String, String) {
    (or(&context.subject, NO_SUBJECT).to_owned(), or(&context.app, NO_APP).to_owned())
}

fn or<'t>(text: &'t str, none: &'t str) -> &'t str {
    if text.is_empty() { none } else { text }
}

/// The entry with this name, which is created if it is missing. The name is copied only then, because there are many
/// facts and few names.
fn member<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.get_mut(name).expect("the entry was inserted above")
}

impl JsonSchema for Metrics {
    fn schema_name() -> Cow<'static, str> {
        DayMetrics::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        DayMetrics::json_schema(generator)
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |measure| Thousandths(self.sums.of(measure));
        DayMetrics {
            activity_metrics: ActivityMetrics {
                xp_earned: one(Measure::Xp),
                total_questions: one(Measure::TotalQuestions),
                correct_questions: one(Measure::CorrectQuestions),
                mastered_units: one(Measure::MasteredUnits),
            },
            time_spent_metrics: TimeSpentMetrics {
                active_seconds: one(Measure::Active),
                inactive_seconds: one(Measure::Inactive),
                waste_seconds: one(Measure::Waste),
                unknown_seconds: one(Measure::Unknown),
                anti_pattern_seconds: one(Measure::AntiPattern),
            },
            apps: &self.apps,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DayMetrics")]
struct DayMetrics<'a> {
    activity_metrics: ActivityMetrics,
    time_spent_metrics: TimeSpentMetrics,
    apps: &'a BTreeSet<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityMetrics {
    xp_earned: Thousandths,
    total_questions: Thousandths,
    correct_questions: Thousandths,
    mastered_units: Thousandths,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "they are the names in the JSON")]
struct TimeSpentMetrics {
    active_seconds: Thousandths,
    inactive_seconds: Thousandths,
    waste_seconds: Thousandths,
    unknown_seconds: Thousandths,
    anti_pattern_seconds: Thousandths,
}

/// A sum in thousandths, written as the number that it is: `12`, `12.5`.
pub(super) struct Thousandths(pub(super) i64);

impl Serialize for Thousandths {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53, which is 285 000 years")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1000 == 0 {
            serializer.serialize_i64(self.0 / 1000)
        } else {
            serializer.serialize_f64(self.0 as f64 / 1000.0)
        }
    }
}

impl JsonSchema for Thousandths {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Thousandths".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        f64::json_schema(generator)
    }
}
