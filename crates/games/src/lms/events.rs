//! Reports activities as Caliper events of the custom profile.

use lyceum_core::Result;
use lyceum_core::text::segment;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::Metric;
use lyceum_events::learning::{self, App, Learner, LearningEvent, Metrics, NamedEntity};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COURSE, USER};
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use super::activity::GameActivity;
use super::{Integration, TaughtCourse};
use crate::games::Game;

/// The namespace of event ids that are derived from the key of a request.
const NAMESPACE: Uuid = Uuid::from_u128(0x1d7a_90c2_6b3f_4e0e_8a54_c1d6_97e2_33b8);

/// The context of events: server, time, game and player.
pub struct EventContext<'a> {
    /// The address of this server.
    pub base_url: &'a str,
    /// The current time.
    pub now: Timestamp,
    /// The game.
    pub game: &'a Game,
    /// The courses that it teaches.
    pub integration: &'a Integration,
    /// The player's id.
    pub user: &'a str,
}

/// The learner, as events name them.
#[derive(Clone, Debug)]
pub struct EventLearner {
    /// The user's sourcedId on the server that has the courses.
    pub id: String,
    /// The email address; empty if the roster has none.
    pub email: String,
    /// The key from which the ids of events are derived, so that a repeated request leads to the same events. Without
    /// it, the ids are random.
    pub key: Option<String>,
}

impl EventLearner {
    /// The id of a part of the report.
    pub(super) fn urn(&self, part: &str) -> String {
        let id = match &self.key {
            Some(key) => Uuid::new_v5(&NAMESPACE, format!("{key}\n{part}").as_bytes()),
            None => Uuid::new_v4(),
        };
        id.urn().to_string()
    }
}

/// The player, as this server's events name them.
pub(super) fn actor(tx: &mut Tx<'_>, scene: &EventContext<'_>) -> Result<EventLearner> {
    let user = fields::in_use(tx, &USER, scene.user)?;
    let email = fields::text(&user, "email").to_owned();
    Ok(EventLearner { id: scene.user.to_owned(), email, key: None })
}

/// The activity and course that the events are about.
pub(super) fn object(
    scene: &EventContext<'_>,
    course: &TaughtCourse,
    activity: &GameActivity,
) -> learning::Activity {
    let sensor = activity.sensor_url.as_deref().unwrap_or(scene.base_url).trim_end_matches('/');
    let id = &activity.id;
    let [subject, grade, path_id] = [&course.subject, &course.grade, id].map(|text| segment(text));
    let app = activity.app_name.as_ref().unwrap_or(&scene.game.display_name);
    learning::Activity {
        id: format!("{sensor}/activities/{subject}/g{grade}/{path_id}"),
        subject: course.subject.clone(),
        app: App { id: Some(scene.game.slug.clone()), name: app.clone() },
        course: NamedEntity {
            id: COURSE.address(scene.base_url, &course.course_id),
            name: course.title.clone(),
        },
        activity: NamedEntity {
            id: id.clone(),
            name: activity.name.as_ref().unwrap_or(id).clone(),
        },
    }
}

/// An event that reports time.
pub(super) fn time_event(
    scene: &EventContext<'_>,
    actor: &EventLearner,
    at: Timestamp,
    object: learning::Activity,
    items: Vec<Metric>,
) -> LearningEvent {
    let metrics = Metrics::TimeSpent { id: actor.urn("times"), items };
    event(scene, actor, "TimeSpentEvent", at, object, metrics)
}

/// An event. Its id is derived from `part` and the request's key.
pub(super) fn event(
    scene: &EventContext<'_>,
    actor: &EventLearner,
    part: &str,
    at: Timestamp,
    object: learning::Activity,
    metrics: Metrics,
) -> LearningEvent {
    let learner = Learner::new(USER.address(scene.base_url, &actor.id), &actor.email);
    LearningEvent::new(actor.urn(part), at, learner, object, metrics)
}

/// The events in an envelope from this server (Caliper 1.2, 3).
pub fn envelope(scene: &EventContext<'_>, events: &[LearningEvent]) -> Value {
    json!({
        "sensor": scene.base_url,
        "sendTime": scene.now,
        "dataVersion": lyceum_events::CONTEXT,
        "data": events,
    })
}
