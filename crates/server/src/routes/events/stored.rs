//! An event of the log as clients read it.

use lyceum_events::repository::Logged;
use serde_json::{Map, Value, json};

/// Members of the event that are shown as they were sent; `null` where there is none.
const AS_SENT: [&str; 15] = [
    "type",
    "profile",
    "action",
    "eventTime",
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
    "extensions",
];

/// The stored event.
pub(super) fn stored(logged: Logged) -> Value {
    let mut tree = logged.event.tree;
    let mut shown = Map::new();
    shown.insert("id".to_owned(), logged.seq.into());
    shown.insert("externalId".to_owned(), logged.event.id.into());
    shown.insert("sensor".to_owned(), logged.event.sensor.into());
    for member in AS_SENT {
        shown.insert(member.to_owned(), tree[member].take());
    }
    shown.insert("sendTime".to_owned(), logged.event.send_time.to_string().into());
    shown.insert("created_at".to_owned(), logged.received.to_string().into());
    shown.insert("updated_at".to_owned(), logged.changed.to_string().into());
    shown.insert("deleted_at".to_owned(), Value::Null);
    shown.insert("clientAppId".to_owned(), logged.client.into());
    json!(shown)
}
