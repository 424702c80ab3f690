//! What players do: an activity that ends, and time spent in one.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_events::Event;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Integration, Taught, award, grade_text};
use crate::games::Game;
use crate::input::Faults;
use crate::levels::{self, Xp};
use crate::repository::lms as repository;

/// The client in whose name the events of games stand in the log.
const CLIENT: &str = "lyceum";
const CALIPER: &str = "http://purl.imsglobal.org/ctx/caliper/v1p2";

/// Which activity.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    #[serde(rename = "activityId")]
    id: String,
    #[serde(rename = "activityName")]
    name: Option<String>,
    subject: String,
    grade: Value,
    app_name: Option<String>,
    sensor_url: Option<String>,
}

/// An activity that has ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Id or slug of the game, where the token does not say.
    pub game_id: Option<String>,
    /// The student, where the token does not say.
    pub student_id: Option<String>,
    activity_data: Activity,
    score_data: Score,
    timing_data: Timing,
    xp_earned: Option<f64>,
    mastered_units: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Score {
    correct_questions: u32,
    total_questions: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timing {
    duration_seconds: f64,
    ended_at: Option<String>,
}

/// Time that was spent in an activity.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Id or slug of the game, where the token does not say.
    pub game_id: Option<String>,
    /// The student, where the token does not say.
    pub student_id: Option<String>,
    activity_data: Activity,
    timing_data: Window,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    started_at: Option<String>,
    ended_at: Option<String>,
    #[serde(default)]
    active_seconds: f64,
    #[serde(default)]
    inactive_seconds: f64,
}

/// What an activity has earned.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Earned {
    /// The XP.
    pub xp_awarded: Xp,
    /// Which attempt it was, from 1.
    pub attempt: i64,
    /// What accuracy and attempt made of the time; none where the app said what was earned.
    pub multiplier: Option<f64>,
    /// The course that it counts in.
    pub course_id: String,
    /// All units mastered in the course.
    pub mastered_units: Xp,
    /// Hundredths of the course's units that are mastered; none where it has none.
    pub pct_complete_app: Option<f64>,
    /// The event in the log.
    pub event_id: String,
}

/// Where events are from, and who and what they are about.
pub struct Scene<'a> {
    /// The address of this server.
    pub base_url: &'a str,
    /// The present instant.
    pub now: Timestamp,
    /// The game.
    pub game: &'a Game,
    /// What it teaches.
    pub integration: &'a Integration,
    /// Who plays.
    pub user: &'a str,
}

/// Ends an activity: its XP, units and questions stand in the log as an `ActivityEvent`, and what of its
/// time was not told before as a `TimeSpentEvent`.
///
/// Errors: `Invalid`; `Forbidden` for who is no student of the course.
pub fn end(tx: &mut Tx<'_>, scene: &Scene<'_>, ended: &Ended) -> Result<Earned> {
    check(ended)?;
    let activity = &ended.activity_data;
    let course = course(tx, scene, activity)?;
    let at = instant(scene.now, "timingData.endedAt", ended.timing_data.ended_at.as_deref())?;
    let (attempts, told_ms) = repository::begun(tx, scene.user, &course.course_id, &activity.id)?;
    let attempt = attempts + 1;
    let Score { correct_questions: correct, total_questions: total } = ended.score_data;
    let active_s = ended.timing_data.duration_seconds;
    let result = award::Result { active_s, correct, total, attempt };
    let own = ended.xp_earned.and_then(Xp::of);
    let xp = own.unwrap_or_else(|| award::xp(result));
    let units = Xp::of(ended.mastered_units.unwrap_or_default()).unwrap_or_default();
    let mastered = repository::master(tx, scene.user, &course.course_id, units)?;
    let pct = (course.masterable_units.0 > 0)
        .then(|| (mastered.number() / course.masterable_units.number() * 100.0).min(100.0));
    let object = object(scene, course, activity);
    let metric = |name: &str, value: Value| json!({ "type": name, "value": value });
    let mut generated = json!({
        "id": urn(),
        "type": "ServiceActivityMetricsCollection",
        "attempt": attempt,
        "items": [
            metric("xpEarned", json!(xp)),
            metric("totalQuestions", total.into()),
            metric("correctQuestions", correct.into()),
            metric("masteredUnits", json!(units)),
        ],
    });
    if let Some(pct) = pct {
        generated["extensions"] = json!({ "pctCompleteApp": pct });
    }
    let event = event(tx, scene, ("ActivityEvent", "Completed"), at, &object, &generated)?;
    let event_id = event.id.clone();
    let mut events = vec![event];
    #[expect(clippy::cast_possible_truncation, reason = "times are bounded")]
    let untold_ms = (active_s * 1000.0).round() as i64 - told_ms;
    if untold_ms > 0 {
        #[expect(clippy::cast_precision_loss, reason = "times are bounded")]
        let seconds = untold_ms as f64 / 1000.0;
        let items = json!([metric("active", json!(seconds))]);
        events.push(time_event(tx, scene, at, &object, &items)?);
    }
    lyceum_events::append(tx, scene.now, CLIENT, &events)?;
    repository::ended(tx, scene.user, &course.course_id, &activity.id)?;
    levels::earn(tx, scene.now, scene.user, xp)?;
    Ok(Earned {
        xp_awarded: xp,
        attempt,
        multiplier: own.is_none().then(|| award::multiplier(result)),
        course_id: course.course_id.clone(),
        mastered_units: mastered,
        pct_complete_app: pct,
        event_id,
    })
}

/// Keeps time that was spent in an activity, as a `TimeSpentEvent`.
///
/// Errors: `Invalid`; `Forbidden` for who is no student of the course.
pub fn spend(tx: &mut Tx<'_>, scene: &Scene<'_>, spent: &Spent) -> Result<String> {
    let Window { started_at, ended_at, active_seconds, inactive_seconds } = &spent.timing_data;
    let mut faults = Faults::default();
    check_activity(&mut faults, &spent.activity_data);
    for (name, seconds) in
        [("activeSeconds", active_seconds), ("inactiveSeconds", inactive_seconds)]
    {
        check_seconds(&mut faults, &format!("timingData.{name}"), *seconds);
    }
    faults.none()?;
    let course = course(tx, scene, &spent.activity_data)?;
    let end = instant(scene.now, "timingData.endedAt", ended_at.as_deref())?;
    let start =
        started_at.as_deref().map(|text| instant(scene.now, "timingData.startedAt", Some(text)));
    let start = start.transpose()?.filter(|start| *start < end);
    let item = |name: &str, seconds: f64| {
        let mut item = json!({ "type": name, "value": seconds });
        if let Some(start) = start {
            item["startDate"] = json!(start);
            item["endDate"] = json!(end);
        }
        item
    };
    let items = json!([item("active", *active_seconds), item("inactive", *inactive_seconds)]);
    let object = object(scene, course, &spent.activity_data);
    let event = time_event(tx, scene, end, &object, &items)?;
    let id = event.id.clone();
    lyceum_events::append(tx, scene.now, CLIENT, &[event])?;
    let activity = &spent.activity_data.id;
    #[expect(clippy::cast_possible_truncation, reason = "times are bounded")]
    let active_ms = (active_seconds * 1000.0).round() as i64;
    repository::told(tx, scene.user, &course.course_id, activity, active_ms)?;
    Ok(id)
}

/// An event that adds XP to a player's, or takes them away.
pub(super) fn correct_xp(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    at: Timestamp,
    difference: i64,
) -> Result<()> {
    let course = scene.integration.courses.first();
    let course = course.ok_or_else(|| Problem::internal("an integration has no course"))?;
    let activity = Activity {
        id: "xp-correction".to_owned(),
        name: Some("Correction of XP".to_owned()),
        subject: course.subject.clone(),
        grade: course.grade.as_str().into(),
        app_name: None,
        sensor_url: None,
    };
    let object = object(scene, course, &activity);
    let items = json!([{ "type": "xpEarned", "value": Xp(difference) }]);
    let generated =
        json!({ "id": urn(), "type": "ServiceActivityMetricsCollection", "items": items });
    let event = event(tx, scene, ("ActivityEvent", "Completed"), at, &object, &generated)?;
    lyceum_events::append(tx, scene.now, CLIENT, &[event]).map(drop)
}

/// The course that an activity counts in, of which the player is a student.
fn course<'i>(tx: &mut Tx<'_>, scene: &Scene<'i>, activity: &Activity) -> Result<&'i Taught> {
    let grade = grade_text(&activity.grade).unwrap_or_default();
    let course = super::taught(scene.integration, &activity.subject, &grade)?;
    if lyceum_bridge::enroll::learns(tx, scene.now, scene.user, &course.course_id)? {
        return Ok(course);
    }
    let message = format!(
        "'{}' is no student of the course '{}'; enrol the player there as one",
        scene.user, course.course_id
    );
    Err(Problem::new(ProblemKind::Forbidden, message))
}

fn check(ended: &Ended) -> Result<()> {
    let mut faults = Faults::default();
    check_activity(&mut faults, &ended.activity_data);
    let Score { correct_questions: correct, total_questions: total } = ended.score_data;
    let most = limits::EVENT_METRIC_MAX_COUNT;
    let path = "scoreData.correctQuestions";
    faults.unless(correct <= total, path, "must not be more than totalQuestions");
    faults.unless(total <= most, "scoreData.totalQuestions", format!("must be at most {most}"));
    let seconds = ended.timing_data.duration_seconds;
    check_seconds(&mut faults, "timingData.durationSeconds", seconds);
    for (name, number) in [("xpEarned", ended.xp_earned), ("masteredUnits", ended.mastered_units)] {
        let fits = number.is_none_or(|number| Xp::of(number).is_some());
        faults.unless(fits, name, "must be a number from 0 up");
    }
    faults.none()
}

fn check_activity(faults: &mut Faults, activity: &Activity) {
    faults.text("activityData.activityId", &activity.id);
    faults.text("activityData.subject", &activity.subject);
    faults.opt_text("activityData.activityName", activity.name.as_deref());
    faults.opt_text("activityData.appName", activity.app_name.as_deref());
    let is_grade = grade_text(&activity.grade).is_some();
    faults.unless(is_grade, "activityData.grade", "must be a grade such as 3 or \"K\"");
    let is_address = |url: &str| url.starts_with("https://") || url.starts_with("http://");
    let sensor = activity.sensor_url.as_deref().is_none_or(is_address);
    faults.unless(sensor, "activityData.sensorUrl", "must be an address such as https://…");
}

fn check_seconds(faults: &mut Faults, path: &str, seconds: f64) {
    let most = limits::TIME_SPENT_SPAN_MAX_H * 60 * 60;
    #[expect(clippy::cast_precision_loss, reason = "two days")]
    let fits = (0.0..=most as f64).contains(&seconds);
    faults.unless(fits, path, format!("must be a number from 0 to {most}"));
}

/// When something was: as it is told, else now. What waited on a device counts on its own day.
fn instant(now: Timestamp, path: &str, text: Option<&str>) -> Result<Timestamp> {
    let Some(text) = text else { return Ok(now) };
    let kept_s = limits::REQUEST_KEPT_DAYS * 24 * 60 * 60;
    let at: Option<Timestamp> = text.parse().ok();
    match at {
        Some(at) if at > now.plus_seconds(limits::ACTIVITY_AHEAD_MAX_S) => {
            Err(Problem::invalid(path, "lies in the future"))
        }
        Some(at) if at < now.plus_seconds(-kept_s) => {
            let days = limits::REQUEST_KEPT_DAYS;
            Err(Problem::invalid(path, format!("lies more than {days} days back")))
        }
        Some(at) => Ok(at.min(now)),
        None => Err(Problem::invalid(path, "must be an instant such as 2026-01-15T08:00:00Z")),
    }
}

fn urn() -> String {
    Uuid::new_v4().urn().to_string()
}

fn iri(scene: &Scene<'_>, collection: &str, id: &str) -> String {
    format!("{}/ims/oneroster/rostering/v1p2/{collection}/{}", scene.base_url, escaped(id))
}

/// The id as a segment of a path (RFC 3986, 2.3).
fn escaped(id: &str) -> String {
    use std::fmt::Write;
    id.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            other => write!(text, "%{other:02X}").expect("a text takes what is written"),
        }
        text
    })
}

fn object(scene: &Scene<'_>, course: &Taught, activity: &Activity) -> Value {
    let sensor = activity.sensor_url.as_deref().unwrap_or(scene.base_url).trim_end_matches('/');
    let id = &activity.id;
    let name = activity.name.as_deref().unwrap_or(id);
    json!({
        "id": format!(
            "{sensor}/activities/{}/g{}/{}",
            escaped(&course.subject),
            escaped(&course.grade),
            escaped(id)
        ),
        "type": "ServiceActivityContext",
        "subject": course.subject,
        "app": {
            "id": scene.game.slug,
            "name": activity.app_name.as_deref().unwrap_or(&scene.game.display_name),
        },
        "course": { "id": iri(scene, "courses", &course.course_id), "name": course.title },
        "activity": { "id": id, "name": name },
    })
}

fn time_event(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    at: Timestamp,
    object: &Value,
    items: &Value,
) -> Result<Event> {
    let generated = json!({
        "id": urn(), "type": "ServiceTimeSpentMetricsCollection", "items": items,
    });
    event(tx, scene, ("TimeSpentEvent", "SpentTime"), at, object, &generated)
}

/// An event of the custom profile.
fn event(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    (kind, action): (&str, &str),
    at: Timestamp,
    object: &Value,
    generated: &Value,
) -> Result<Event> {
    let user = fields::in_use(tx, &USER, scene.user)?;
    let mut actor = json!({ "id": iri(scene, "users", scene.user), "type": "ServiceUser" });
    let email = fields::text(&user, "email");
    if email.contains('@') {
        actor["email"] = email.into();
    }
    let tree = json!({
        "@context": CALIPER,
        "id": urn(),
        "type": kind,
        "action": action,
        "profile": "ServiceProfile",
        "eventTime": at,
        "actor": actor,
        "object": object,
        "generated": generated,
    });
    Event::read(&tree.to_string(), scene.base_url, scene.now)
}
