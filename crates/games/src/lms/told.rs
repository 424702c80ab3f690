//! What players do, told as Caliper events of the custom profile.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_events::Event;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use super::activity::Activity;
use super::{Integration, Taught};
use crate::games::Game;

/// The client in whose name the events of games stand in the log.
const CLIENT: &str = "lyceum";
/// Under this namespace the ids of events follow from a request's key.
const NAMESPACE: Uuid = Uuid::from_u128(0x1d7a_90c2_6b3f_4e0e_8a54_c1d6_97e2_33b8);
const CALIPER: &str = "http://purl.imsglobal.org/ctx/caliper/v1p2";

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

/// Who learns, as the events name them.
#[derive(Clone, Debug)]
pub struct Actor {
    /// The user's sourcedId where the courses are.
    pub id: String,
    /// Empty where the roster has none.
    pub email: String,
    /// What the ids of the events follow from, so that a request that is sent again is told by the
    /// same events; none: they are new.
    pub key: Option<String>,
}

impl Actor {
    /// The id of a part of what is told.
    pub(super) fn urn(&self, part: &str) -> String {
        let id = match &self.key {
            Some(key) => Uuid::new_v5(&NAMESPACE, format!("{key}\n{part}").as_bytes()),
            None => Uuid::new_v4(),
        };
        id.urn().to_string()
    }
}

/// The player as this server's events name them.
pub(super) fn actor(tx: &mut Tx<'_>, scene: &Scene<'_>) -> Result<Actor> {
    let user = fields::in_use(tx, &USER, scene.user)?;
    let email = fields::text(&user, "email").to_owned();
    Ok(Actor { id: scene.user.to_owned(), email, key: None })
}

pub(super) fn append(tx: &mut Tx<'_>, scene: &Scene<'_>, events: &[Value]) -> Result<()> {
    let read = |event: &Value| Event::read(&event.to_string(), scene.base_url, scene.now);
    let events: Vec<Event> = events.iter().map(read).collect::<Result<_>>()?;
    lyceum_events::append(tx, scene.now, CLIENT, &events).map(drop)
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

pub(super) fn object(scene: &Scene<'_>, course: &Taught, activity: &Activity) -> Value {
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

pub(super) fn time_event(
    scene: &Scene<'_>,
    actor: &Actor,
    at: Timestamp,
    object: &Value,
    items: &Value,
) -> Value {
    let generated = json!({
        "id": actor.urn("times"), "type": "ServiceTimeSpentMetricsCollection", "items": items,
    });
    event(scene, actor, ("TimeSpentEvent", "SpentTime"), at, object, &generated)
}

/// An event of the custom profile.
pub(super) fn event(
    scene: &Scene<'_>,
    learner: &Actor,
    (kind, action): (&str, &str),
    at: Timestamp,
    object: &Value,
    generated: &Value,
) -> Value {
    let mut actor = json!({ "id": iri(scene, "users", &learner.id), "type": "ServiceUser" });
    if learner.email.contains('@') {
        actor["email"] = learner.email.as_str().into();
    }
    json!({
        "@context": CALIPER,
        "id": learner.urn(kind),
        "type": kind,
        "action": action,
        "profile": "ServiceProfile",
        "eventTime": at,
        "actor": actor,
        "object": object,
        "generated": generated,
    })
}

/// The events in an envelope of this server (Caliper 1.2, 3).
pub fn envelope(scene: &Scene<'_>, events: &[Value]) -> Value {
    json!({
        "sensor": scene.base_url,
        "sendTime": scene.now,
        "dataVersion": CALIPER,
        "data": events,
    })
}
