//! Activities that players finish, and time that they spend in them.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message, messages};
use lyceum_events::facts::{Measure, Metric};
use lyceum_events::learning::{self, CourseProgress, LearningEvent, Metrics};
use lyceum_events::limits::{EVENT_METRIC_MAX_COUNT, FACT_VALUE_MAX_COUNT, TIME_SPENT_SPAN_MAX_H};
use lyceum_project::limits::GAME_SLUG_MAX_CHARS;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::events::{EventContext, EventLearner, actor, event, object, time_event};
use super::{Integration, TaughtCourse, award, grade_text};
use crate::input::Faults;
use crate::levels::{self, Xp};
use crate::limits;
use crate::repository::lms as repository;

/// The activity.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GameActivity {
    /// Its id in the game.
    #[serde(rename = "activityId")]
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub(super) id: String,
    /// Its name for people; by default its id.
    #[serde(rename = "activityName")]
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub(super) name: Option<String>,
    /// The subject of its course.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    subject: String,
    /// The grade of its course: a number, or as OneRoster writes it.
    #[schemars(extend(
        "type" = ["integer", "string"],
        "minLength" = 1,
        "maxLength" = GAME_SLUG_MAX_CHARS
    ))]
    grade: Value,
    /// The name of the app; by default the name of the game.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub(super) app_name: Option<String>,
    /// The address with which ids of activities begin; by default this server's.
    #[schemars(extend("pattern" = "^https?://"))]
    pub(super) sensor_url: Option<String>,
}

/// An activity that has ended.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EndedActivity")]
pub struct EndedActivity {
    /// Id or slug of the game, unless the token names it.
    pub game_id: Option<String>,
    /// The student, unless the token names one.
    pub student_id: Option<String>,
    /// The activity.
    activity_data: GameActivity,
    /// The numbers of correct answers and questions.
    score_data: ActivityScore,
    /// The time that the activity took.
    timing_data: ActivityTiming,
    /// XP instead of the computed ones; negative for a penalty.
    xp_earned: Option<f64>,
    /// Units that the activity has mastered.
    #[schemars(range(min = 0))]
    mastered_units: Option<f64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityScore {
    /// Correct answers.
    correct_questions: u32,
    /// The total number of questions.
    #[schemars(range(max = EVENT_METRIC_MAX_COUNT))]
    total_questions: u32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityTiming {
    /// The total active time.
    #[schemars(range(min = 0, max = TIME_SPENT_SPAN_MAX_H * 60 * 60))]
    duration_seconds: f64,
    /// When it ended; by default now.
    #[schemars(extend("format" = "date-time"))]
    ended_at: Option<String>,
}

/// Time that was spent in an activity.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SpentTime")]
pub struct SpentTime {
    /// Id or slug of the game, unless the token names it.
    pub game_id: Option<String>,
    /// The student, unless the token names one.
    pub student_id: Option<String>,
    /// The activity.
    activity_data: GameActivity,
    /// The time that was spent.
    timing_data: SpentTimeWindow,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SpentTimeWindow {
    /// When it began.
    #[schemars(extend("format" = "date-time"))]
    started_at: Option<String>,
    /// When it ended; by default now.
    #[schemars(extend("format" = "date-time"))]
    ended_at: Option<String>,
    /// The active time.
    #[serde(default)]
    #[schemars(range(min = 0, max = TIME_SPENT_SPAN_MAX_H * 60 * 60))]
    active_seconds: f64,
    /// The inactive time.
    #[serde(default)]
    #[schemars(range(min = 0, max = TIME_SPENT_SPAN_MAX_H * 60 * 60))]
    inactive_seconds: f64,
}

/// The XP of an activity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarnedXp {
    /// The XP.
    pub xp_awarded: Xp,
    /// The number of the attempt, from 1.
    pub attempt: i64,
    /// The multiplier from accuracy and attempt; `None` if the app sent the XP.
    pub multiplier: Option<f64>,
    /// The course that the activity counts for.
    pub course_id: String,
    /// All units that the player has mastered in the course.
    pub mastered_units: Xp,
    /// Percentage of the course's units that are mastered; `None` if units are not counted.
    pub pct_complete_app: Option<f64>,
    /// The event in the log.
    pub event_id: String,
}

/// Events to append to the log, with the answer to the request.
pub struct ActivityOutcome<T> {
    /// The events.
    pub events: Vec<LearningEvent>,
    /// The answer to the request.
    pub answer: T,
}

/// Finishes an activity. Its XP, units and questions are logged as an `ActivityEvent`. Time that was not reported
/// before is logged as a `TimeSpentEvent`.
///
/// Errors: `Invalid`; `Forbidden` if the player is not a student of the course.
pub fn end(tx: &mut Tx<'_>, scene: &EventContext<'_>, ended: &EndedActivity) -> Result<EarnedXp> {
    ended.check()?;
    let course = student_of(tx, scene, &ended.activity_data)?;
    let actor = actor(tx, scene)?;
    let ActivityOutcome { events, answer } = weigh(tx, scene, course, &actor, ended)?;
    learning::append(tx, scene.now, scene.base_url, &events)?;
    count(tx, scene, ended, &answer)?;
    Ok(answer)
}

/// Computes what a finished activity earns, and the events that report it. Changes nothing: call [`count`] after the
/// events are stored.
///
/// Errors: `Invalid`.
pub fn weigh(
    tx: &mut Tx<'_>,
    scene: &EventContext<'_>,
    course: &TaughtCourse,
    actor: &EventLearner,
    ended: &EndedActivity,
) -> Result<ActivityOutcome<EarnedXp>> {
    let activity = &ended.activity_data;
    let at = instant(scene.now, "timingData.endedAt", ended.timing_data.ended_at.as_deref())?;
    let (attempts, told_ms) =
        repository::activity_progress(tx, scene.user, &course.course_id, &activity.id)?;
    let attempt = attempts + 1;
    let ActivityScore { correct_questions: correct, total_questions: total } = ended.score_data;
    let active_s = ended.timing_data.duration_seconds;
    let result = award::ActivityResult { active_s, correct, total, attempt };
    let own = ended.xp_earned.map(Xp::nearest);
    let xp = own.unwrap_or_else(|| award::xp(result));
    let units = ended.units();
    let mastered = repository::mastered(tx, scene.user, &course.course_id)?;
    let mastered = Xp(mastered.0 + units.0);
    let pct = (course.masterable_units.0 > 0)
        .then(|| (mastered.number() / course.masterable_units.number() * 100.0).min(100.0));
    let object = object(scene, course, activity);
    let metric = |measure, value| Metric { measure, value, span: None };
    let metrics = Metrics::Completed {
        id: actor.urn("metrics"),
        attempt: Some(attempt),
        items: vec![
            metric(Measure::Xp, xp.number()),
            metric(Measure::TotalQuestions, total.into()),
            metric(Measure::CorrectQuestions, correct.into()),
            metric(Measure::MasteredUnits, units.number()),
        ],
        extensions: pct.map(|pct_complete_app| CourseProgress { pct_complete_app }),
    };
    let event = event(scene, actor, "ActivityEvent", at, object.clone(), metrics);
    let event_id = event.id().to_owned();
    let mut events = vec![event];
    #[expect(clippy::cast_possible_truncation, reason = "times are bounded")]
    let untold_ms = (active_s * 1000.0).round() as i64 - told_ms;
    if untold_ms > 0 {
        #[expect(clippy::cast_precision_loss, reason = "times are bounded")]
        let seconds = untold_ms as f64 / 1000.0;
        let items = vec![metric(Measure::Active, seconds)];
        events.push(time_event(scene, actor, at, object, items));
    }
    let answer = EarnedXp {
        xp_awarded: xp,
        attempt,
        multiplier: own.is_none().then(|| award::multiplier(result)),
        course_id: course.course_id.clone(),
        mastered_units: mastered,
        pct_complete_app: pct,
        event_id,
    };
    Ok(ActivityOutcome { events, answer })
}

/// Counts a finished activity whose events are stored: the attempt, the units and the player's XP.
pub fn count(
    tx: &mut Tx<'_>,
    scene: &EventContext<'_>,
    ended: &EndedActivity,
    earned: &EarnedXp,
) -> Result<()> {
    let course = &earned.course_id;
    repository::ended(tx, scene.user, course, &ended.activity_data.id)?;
    repository::master(tx, scene.user, course, ended.units())?;
    levels::earn(tx, scene.now, scene.user, earned.xp_awarded)
}

/// Logs time spent in an activity as a `TimeSpentEvent`.
///
/// Errors: `Invalid`; `Forbidden` if the player is not a student of the course.
pub fn spend(tx: &mut Tx<'_>, scene: &EventContext<'_>, spent: &SpentTime) -> Result<String> {
    spent.check()?;
    let course = student_of(tx, scene, &spent.activity_data)?;
    let actor = actor(tx, scene)?;
    let ActivityOutcome { events, answer } = time(scene, course, &actor, spent)?;
    learning::append(tx, scene.now, scene.base_url, &events)?;
    count_time(tx, scene, &course.course_id, spent)?;
    Ok(answer)
}

/// The event that reports time, and its id. Changes nothing: call [`count_time`] after the event is stored.
///
/// Errors: `Invalid`.
pub fn time(
    scene: &EventContext<'_>,
    course: &TaughtCourse,
    actor: &EventLearner,
    spent: &SpentTime,
) -> Result<ActivityOutcome<String>> {
    let SpentTimeWindow { started_at, ended_at, active_seconds, inactive_seconds } =
        &spent.timing_data;
    let end = instant(scene.now, "timingData.endedAt", ended_at.as_deref())?;
    let start =
        started_at.as_deref().map(|text| instant(scene.now, "timingData.startedAt", Some(text)));
    let start = start.transpose()?.filter(|start| *start < end);
    let span = start.map(|start| (start, end));
    let metric = |measure, value| Metric { measure, value, span };
    let items = vec![
        metric(Measure::Active, *active_seconds),
        metric(Measure::Inactive, *inactive_seconds),
    ];
    let object = object(scene, course, &spent.activity_data);
    let event = time_event(scene, actor, end, object, items);
    let answer = event.id().to_owned();
    Ok(ActivityOutcome { events: vec![event], answer })
}

/// Counts time whose event is stored, so that the end of the activity does not count it again.
pub fn count_time(
    tx: &mut Tx<'_>,
    scene: &EventContext<'_>,
    course: &str,
    spent: &SpentTime,
) -> Result<()> {
    let SpentTime { activity_data, timing_data, .. } = spent;
    #[expect(clippy::cast_possible_truncation, reason = "times are bounded")]
    let active_ms = (timing_data.active_seconds * 1000.0).round() as i64;
    repository::add_active_time(tx, scene.user, course, &activity_data.id, active_ms)
}

/// Adds XP to a player, or takes XP away.
pub(super) fn correct_xp(
    tx: &mut Tx<'_>,
    scene: &EventContext<'_>,
    course: &TaughtCourse,
    difference: i64,
) -> Result<()> {
    let actor = actor(tx, scene)?;
    let event = correction_in(scene, &actor, course, Xp(difference));
    learning::append(tx, scene.now, scene.base_url, &[event])?;
    levels::earn(tx, scene.now, scene.user, Xp(difference))
}

/// The event that adds XP to a player, or takes XP away.
///
/// Errors: `Internal` for an integration without a course.
pub fn correction(
    scene: &EventContext<'_>,
    actor: &EventLearner,
    difference: Xp,
) -> Result<LearningEvent> {
    let course = scene.integration.courses.first();
    let course = course.ok_or_else(|| Problem::internal("an integration has no course"))?;
    Ok(correction_in(scene, actor, course, difference))
}

fn correction_in(
    scene: &EventContext<'_>,
    actor: &EventLearner,
    course: &TaughtCourse,
    difference: Xp,
) -> LearningEvent {
    let activity = GameActivity {
        id: "xp-correction".to_owned(),
        name: Some("Correction of XP".to_owned()),
        subject: course.subject.clone(),
        grade: course.grade.as_str().into(),
        app_name: None,
        sensor_url: None,
    };
    let object = object(scene, course, &activity);
    let metrics = Metrics::Completed {
        id: actor.urn("metrics"),
        attempt: None,
        items: vec![Metric { measure: Measure::Xp, value: difference.number(), span: None }],
        extensions: None,
    };
    event(scene, actor, "ActivityEvent", scene.now, object, metrics)
}

impl GameActivity {
    /// The course that the activity counts for. Errors: `Invalid` if the game does not teach it.
    pub fn course<'i>(&self, integration: &'i Integration) -> Result<&'i TaughtCourse> {
        let grade = grade_text(&self.grade).unwrap_or_default();
        super::course_for(integration, &self.subject, &grade)
    }
}

impl EndedActivity {
    /// Checks the values of a finished activity. Errors: `Invalid` with all errors.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        check_activity(&mut faults, &self.activity_data);
        let ActivityScore { correct_questions: correct, total_questions: total } = self.score_data;
        faults.counts("scoreData.correctQuestions", correct.into(), total.into());
        // A penalty is less than nothing.
        let xp = self.xp_earned.unwrap_or_default();
        let most_xp = FACT_VALUE_MAX_COUNT;
        let message = message!("must be a number from -{most_xp} to {most_xp}: got {xp}");
        faults.unless(Xp::of(xp.abs()).is_some(), "xpEarned", message);
        let units = self.mastered_units.unwrap_or_default();
        let message = message!("must be a number of at least 0: got {units}");
        faults.unless(Xp::of(units).is_some(), "masteredUnits", message);
        faults.into_result()
    }

    /// The activity.
    pub fn activity(&self) -> &GameActivity {
        &self.activity_data
    }

    fn units(&self) -> Xp {
        Xp::of(self.mastered_units.unwrap_or_default()).unwrap_or_default()
    }
}

impl SpentTime {
    /// Checks the values of time spent. Errors: `Invalid` with all errors.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        check_activity(&mut faults, &self.activity_data);
        faults.into_result()
    }

    /// The activity.
    pub fn activity(&self) -> &GameActivity {
        &self.activity_data
    }
}

/// The course that an activity counts for. The player must be a student of it.
fn student_of<'i>(
    tx: &mut Tx<'_>,
    scene: &EventContext<'i>,
    activity: &GameActivity,
) -> Result<&'i TaughtCourse> {
    let course = activity.course(scene.integration)?;
    if lyceum_bridge::enroll::learns(tx, scene.now, scene.user, &course.course_id)? {
        return Ok(course);
    }
    Err(no_student(scene.user, course))
}

/// The problem of a player who is not a student of the course.
pub fn no_student(user: &str, course: &TaughtCourse) -> Problem {
    let message = message!(
        "'{user}' is not a student of the course '{course.course_id}'; enroll the player as a student first"
    );
    Problem::new(ProblemKind::Forbidden, message)
}

fn check_activity(faults: &mut Faults, activity: &GameActivity) {
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

/// The time of an activity as the request states it, else now. An activity that waited on a device counts on its own
/// day.
fn instant(now: Timestamp, path: &str, text: Option<&str>) -> Result<Timestamp> {
    let Some(text) = text else { return Ok(now) };
    let kept_s = limits::REQUEST_KEPT_DAYS * 24 * 60 * 60;
    let at: Option<Timestamp> = text.parse().ok();
    match at {
        Some(at) if at > now.plus_seconds(limits::ACTIVITY_AHEAD_MAX_S) => {
            Err(Problem::invalid(path, "must not be in the future"))
        }
        Some(at) if at < now.plus_seconds(-kept_s) => {
            let days = limits::REQUEST_KEPT_DAYS;
            Err(Problem::invalid(path, message!("must be within the last {days} days")))
        }
        Some(at) => Ok(at.min(now)),
        None => Err(Problem::invalid(path, messages::MUST_BE_INSTANT)),
    }
}
