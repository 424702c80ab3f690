//! An event of the log as clients read it.

use lyceum_events::repository::Logged;
use serde_json::{Map, Value, json};

/// Members that name an entity, as an object or by its IRI.
pub(super) const ENTITIES: [&str; 10] = [
    "actor",
    "object",
    "generated",
    "target",
    "referrer",
    "edApp",
    "group",
    "membership",
    "session",
    "federatedSession",
];

/// The stored event.
pub(super) fn stored(logged: Logged) -> Value {
    let mut tree = logged.event.content();
    let mut shown = Map::new();
    shown.insert("id".to_owned(), logged.seq.into());
    shown.insert("externalId".to_owned(), logged.event.id.into());
    shown.insert("sensor".to_owned(), logged.event.sensor.into());
    // As they were sent; `null` where there is none.
    for member in ["type", "profile", "action", "eventTime"].into_iter().chain(ENTITIES) {
        shown.insert(member.to_owned(), tree[member].take());
    }
    shown.insert("extensions".to_owned(), tree["extensions"].take());
    shown.insert("sendTime".to_owned(), logged.event.send_time.to_string().into());
    shown.insert("created_at".to_owned(), logged.received.to_string().into());
    shown.insert("updated_at".to_owned(), logged.changed.to_string().into());
    shown.insert("deleted_at".to_owned(), Value::Null);
    shown.insert("clientAppId".to_owned(), logged.client.into());
    json!(shown)
}
