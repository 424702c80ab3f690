//! The facts of a week, one for each event.

use jiff::civil::Date;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::LoggedEvent;
use lyceum_events::facts::{FactPieces, Measure, MeasureSums};
use lyceum_roster::fields;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::report::{Day, Thousandths};
use super::student_enrollments::StudentEnrollments;
use super::{StudentName, events_near, student};
use crate::zone::{InstantRange, Zone};

/// A weekly fact: the amounts that an event adds to a day.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WeeklyFact {
    /// The number of the event in the log; an event that spans two days is two facts with one id.
    id: i64,
    email: String,
    /// The day in the zone.
    date: Day,
    /// When, in UTC.
    datetime: String,
    username: Option<String>,
    user_grade: Option<String>,
    user_family_name: Option<String>,
    user_given_name: Option<String>,
    user_id: String,
    subject: Option<String>,
    app: Option<String>,
    course_id: Option<String>,
    course_name: Option<String>,
    enrollment_id: Option<String>,
    activity_id: Option<String>,
    activity_name: Option<String>,
    total_questions: Thousandths,
    correct_questions: Thousandths,
    xp_earned: Thousandths,
    mastered_units: Thousandths,
    /// Seconds as text, the format that clients expect.
    active_seconds: String,
    inactive_seconds: String,
    waste_seconds: String,
    source: &'static str,
    send_time: String,
    generated_at: String,
    sensor: String,
    event_type: String,
    year: i16,
    month: i8,
    day: i8,
    /// 1 for Monday to 7 for Sunday.
    day_of_week: i8,
}

/// The facts of a student in a week of the zone, event by event, in order of time.
/// Errors: `NotFound`.
pub fn weekly_facts(
    tx: &mut Tx<'_>,
    student: StudentName<'_>,
    week: InstantRange,
    zone: &Zone,
    reach: &Reach,
) -> Result<Vec<WeeklyFact>> {
    let user = student::find(tx, student, reach)?;
    let enrolled = StudentEnrollments::of(tx, fields::text(&user, "sourcedId"), None)?;
    let mut facts = Vec::new();
    for actor in student::actors(tx, &user)? {
        events_near(tx, actor, week, |logged, pieces| {
            for (at, day, sums) in by_day(pieces, week, zone) {
                facts.push(fact(&user, &enrolled, logged, at, day, &sums));
            }
            Ok(())
        })?;
    }
    facts.sort_by(|a, b| (&a.datetime, a.id).cmp(&(&b.datetime, b.id)));
    Ok(facts)
}

/// The sums of each day of the week, with its first instant and date.
fn by_day(
    pieces: &FactPieces,
    week: InstantRange,
    zone: &Zone,
) -> Vec<(Timestamp, Date, MeasureSums)> {
    let (first, last) = pieces.extent();
    let mut days = Vec::new();
    let mut at = first.max(week.from);
    while at <= last && at < week.to {
        let day = zone.day_of(at);
        let behind = day.tomorrow().map_or(week.to, |next| zone.start_of(next)).min(week.to);
        if let Some(sums) = pieces.within(at.milliseconds()..behind.milliseconds()) {
            days.push((at, day, sums));
        }
        at = behind;
    }
    days
}

fn fact(
    user: &Object,
    enrolled: &StudentEnrollments,
    logged: &LoggedEvent,
    at: Timestamp,
    day: Date,
    sums: &MeasureSums,
) -> WeeklyFact {
    let event = &logged.event;
    let context = event.context();
    let home = enrolled.home(&context, day);
    let value_of = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let activity = &event.content()["object"]["activity"];
    let one = |measure| Thousandths(sums.of(measure));
    let seconds = |measure| seconds(sums.of(measure));
    WeeklyFact {
        id: logged.seq,
        email: fields::text(user, "email").to_owned(),
        date: Day(day),
        datetime: at.to_string(),
        username: fields::opt_text(user, "username"),
        user_grade: fields::texts(user, "grades").into_iter().next(),
        user_family_name: fields::opt_text(user, "familyName"),
        user_given_name: fields::opt_text(user, "givenName"),
        user_id: fields::text(user, "sourcedId").to_owned(),
        course_id: value_of(&context.course)
            .or_else(|| home.map(|enrollment| enrollment.course.clone())),
        course_name: home.map(|enrollment| enrollment.title.clone()),
        enrollment_id: home.map(|enrollment| enrollment.id.clone()),
        subject: value_of(&context.subject),
        app: value_of(&context.app),
        activity_id: activity["id"].as_str().map(str::to_owned),
        activity_name: activity["name"].as_str().map(str::to_owned),
        total_questions: one(Measure::TotalQuestions),
        correct_questions: one(Measure::CorrectQuestions),
        xp_earned: one(Measure::Xp),
        mastered_units: one(Measure::MasteredUnits),
        active_seconds: seconds(Measure::Active),
        inactive_seconds: seconds(Measure::Inactive),
        waste_seconds: seconds(Measure::Waste),
        source: "caliper",
        send_time: event.send_time.to_string(),
        generated_at: event.time.to_string(),
        sensor: event.sensor.clone(),
        event_type: event.kind.clone(),
        year: day.year(),
        month: day.month(),
        day: day.day(),
        day_of_week: day.weekday().to_monday_one_offset(),
    }
}

/// Formats milliseconds as seconds: `90`, `90.5`.
fn seconds(ms: i64) -> String {
    let text =
        format!("{}{}.{:03}", if ms < 0 { "-" } else { "" }, ms.abs() / 1000, ms.abs() % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
