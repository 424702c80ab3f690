//! An envelope, read.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::event::{Entity, Event};

/// An envelope, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// `sensor`, an IRI.
    pub sensor: String,
    /// `sendTime`.
    pub send_time: Timestamp,
    /// The events, in the order sent.
    pub events: Vec<Event>,
    /// The entities, in the order sent.
    pub entities: Vec<Entity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    sensor: String,
    send_time: String,
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}

/// Reads an envelope.
///
/// Errors: `Malformed` with each fault and its path.
pub fn parse(text: &str) -> Result<Envelope> {
    let malformed =
        |error: serde_json::Error| Problem::new(ProblemKind::Malformed, error.to_string());
    let sent: Sent<'_> = serde_json::from_str(text).map_err(malformed)?;
    let send_time = instant(&sent.send_time)?;
    let mut envelope =
        Envelope { sensor: sent.sensor, send_time, events: Vec::new(), entities: Vec::new() };
    for raw in sent.data {
        let tree: Value = serde_json::from_str(raw.get()).map_err(malformed)?;
        let id = tree["id"].as_str().unwrap_or_default().to_owned();
        let body = raw.get().to_owned();
        match tree["eventTime"].as_str() {
            Some(time) => envelope.events.push(Event {
                id,
                time: instant(time)?,
                send_time,
                sensor: envelope.sensor.clone(),
                tree,
                body,
            }),
            None => envelope.entities.push(Entity { id, body }),
        }
    }
    Ok(envelope)
}

fn instant(text: &str) -> Result<Timestamp> {
    text.parse().map_err(|_| {
        Problem::new(ProblemKind::Malformed, format!("'{text}' is not an instant in UTC"))
    })
}
