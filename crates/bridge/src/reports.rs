//! Reports on a student. If the source data is missing, a report says so instead of guessing.

use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Problem, Reach, Result};
use lyceum_events::facts::{self, Measure, MeasureSums};
use lyceum_roster::default_class::SchoolYear;
use lyceum_roster::fields;
use lyceum_roster::kinds::{ASSESSMENT_RESULT, USER};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::analytics::actors;
use crate::resolved_enrollments;

/// A student's MAP tests (Measures of Academic Progress): the latest one, and all in `metadata`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapProfile {
    /// The student's sourcedId.
    pub user_id: String,
    /// The latest test.
    #[serde(flatten)]
    pub latest: Option<MapTest>,
    /// `tests`, latest first; `message` if there is none.
    pub metadata: Map<String, Value>,
}

/// A MAP test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapTest {
    /// The score on the RIT scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rit_score: Option<i64>,
    /// The percentage of students with this score or a lower one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentile: Option<i64>,
    /// The grade that the result names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade_level: Option<String>,
    /// The day of the test.
    pub test_date: String,
    /// The subject that the result names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// The student's active assessment results whose metadata name `map` or `rit` as their `source`.
///
/// Errors: `NotFound`.
pub fn map_profile(tx: &mut Tx<'_>, user: &str, reach: &Reach) -> Result<MapProfile> {
    let tests = map_tests(tx, user, reach)?;
    let latest = tests.first().cloned();
    let mut metadata = Map::new();
    if latest.is_none() {
        let message = "no MAP test is known: no assessment result of this user names the source \
                       'map' or 'rit' in its metadata";
        metadata.insert("message".into(), message.into());
    }
    metadata.insert("tests".into(), json!(tests));
    Ok(MapProfile { user_id: user.to_owned(), latest, metadata })
}

/// The student's MAP tests, latest first. Errors: `NotFound`.
pub fn map_tests(tx: &mut Tx<'_>, user: &str, reach: &Reach) -> Result<Vec<MapTest>> {
    fields::in_use_within(tx, &USER, user, reach)?;
    let results = repository::referring_to(tx, &ASSESSMENT_RESULT, "student", &[user])?;
    let results = results.iter().map(fields::of).collect::<Result<Vec<_>>>()?;
    let mut tests: Vec<MapTest> = results.iter().filter_map(map_test).collect();
    tests.sort_by(|a, b| b.test_date.cmp(&a.test_date));
    Ok(tests)
}

fn map_test(result: &Object) -> Option<MapTest> {
    let metadata = fields::metadata(result);
    let source: String =
        fields::text(&metadata, "source").chars().filter(char::is_ascii_alphanumeric).collect();
    if !["map", "rit", "nwea", "nweamap"].contains(&source.to_ascii_lowercase().as_str()) {
        return None;
    }
    let whole = |value: Option<&Value>| {
        #[expect(clippy::cast_possible_truncation, reason = "scores are small")]
        value.and_then(Value::as_f64).map(|number| number.round() as i64)
    };
    Some(MapTest {
        rit_score: whole(metadata.get("ritScore").or_else(|| result.get("score"))),
        percentile: whole(metadata.get("percentile").or_else(|| result.get("scorePercentile"))),
        grade_level: metadata.get("grade").map(|grade| match grade {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        test_date: fields::text(result, "scoreDate").to_owned(),
        subject: fields::opt_text(&metadata, "subject"),
    })
}

/// The hours of a school day, to convert saved hours to days.
const SCHOOL_DAY_HOURS: i64 = 6;

/// The time that a student saved: the earned XP as minutes compared with the active time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeSaved {
    /// The student's sourcedId.
    pub user_id: String,
    /// Hours, rounded to hundredths. Missing if the data is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_hours_saved: Option<f64>,
    /// The same time in school days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_days_saved: Option<f64>,
    /// Weekdays of this school year up to today, the first one that of the earliest enrollment.
    pub school_days_elapsed: i64,
    /// The first day of the student's earliest active enrollment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest_start_date: Option<String>,
    /// The first day of the school year.
    pub school_year_start_date: String,
    /// How the value was computed; `message` if the data is not known.
    #[schemars(with = "Map<String, Value>")]
    pub calculation: Value,
}

/// The time that a student saved in this school year. One XP stands for a minute of work at the usual pace. The saved
/// time is the sum of these minutes minus the student's active time.
///
/// Errors: `NotFound`.
pub fn time_saved(tx: &mut Tx<'_>, now: Timestamp, user: &str, reach: &Reach) -> Result<TimeSaved> {
    let person = fields::in_use_within(tx, &USER, user, reach)?;
    let year = SchoolYear::of(now).first_day();
    let enrollments = resolved_enrollments::of_users(tx, now, &[user])?;
    let enrollments = resolved_enrollments::with_active_course(tx, enrollments)?;
    let begins = enrollments
        .iter()
        .filter_map(|enrollment| fields::opt_text(&enrollment.fields, "beginDate"));
    let earliest = begins.min();
    let from: Timestamp = year.parse().map_err(Problem::internal)?;
    let sums = sums(tx, &person, from, now)?;
    let first = earliest.as_deref().unwrap_or(&year).max(&year);
    let mut saved = TimeSaved {
        user_id: user.to_owned(),
        total_hours_saved: None,
        total_days_saved: None,
        school_days_elapsed: weekdays(first, now),
        earliest_start_date: earliest,
        school_year_start_date: year,
        calculation: json!({ "message": "there are no events about this student's work in this school year" }),
    };
    if sums.events > 0 {
        let (xp, active) = (sums.of(Measure::Xp), sums.of(Measure::Active));
        let saved_ms = xp * 60 - active;
        saved.total_hours_saved = Some(hundredths(saved_ms, 3_600_000));
        saved.total_days_saved = Some(hundredths(saved_ms, 3_600_000 * SCHOOL_DAY_HOURS));
        saved.calculation = json!({
            "formula": "(xpEarned minutes - active minutes) / 60",
            "xpEarned": hundredths(xp, 1000),
            "activeMinutes": hundredths(active, 60_000),
            "hoursPerSchoolDay": SCHOOL_DAY_HOURS,
        });
    }
    Ok(saved)
}

/// The student's sums from one instant up to another, in whole buckets.
fn sums(tx: &mut Tx<'_>, person: &Object, from: Timestamp, to: Timestamp) -> Result<MeasureSums> {
    let (from, to) = (from.milliseconds(), to.milliseconds() + facts::BUCKET_MS);
    let (mut sums, actors) = (MeasureSums::default(), actors(tx, person)?);
    facts::read(tx, &actors, from..to, |_, _, _, more| sums.add(more, 1))?;
    Ok(sums)
}

/// Computes `number / unit`, rounded to hundredths.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn hundredths(number: i64, unit: i64) -> f64 {
    (number as f64 / unit as f64 * 100.0).round() / 100.0
}

/// The number of weekdays, Monday to Friday, from a day to the day of the instant, both inclusive.
fn weekdays(first: &str, now: Timestamp) -> i64 {
    let Some(first) = parse_date(first) else { return 0 };
    let days = i64::from((now.date() - first).get_days()) + 1;
    let weekday = i64::from(first.weekday().to_monday_zero_offset());
    (0..days.max(0)).filter(|day| (weekday + day) % 7 < 5).count().try_into().unwrap_or(0)
}
