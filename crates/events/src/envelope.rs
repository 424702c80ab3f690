//! An envelope, read and checked.

use std::fmt;

use lyceum_core::limits::EVENT_ENVELOPE_MAX_RECORDS;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::CONTEXT;
use crate::check::{self, Item, instant, is_iri, not_an_instant, short};
use crate::event::{Entity, Event};
use crate::faults::Faults;
use crate::tree::Tree;

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

/// Reads and checks an envelope (Caliper 1.2, section 5).
///
/// Errors: `Malformed` with each fault, a bounded number of them, in the order of the envelope;
/// `Invalid` when its version is another one.
pub fn parse(text: &str) -> Result<Envelope> {
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| {
        Problem::new(ProblemKind::Malformed, format!("the body is no JSON object: {error}"))
    })?;
    let mut faults = Faults::default();
    let [sensor, send_time, version, data] = members.known(&mut faults);
    if let Some(Value::String(version)) = value(version)
        && version != CONTEXT
    {
        let message = format!("'{}' is not served; '{CONTEXT}' is", short(&version));
        return Err(Problem::invalid("dataVersion", message));
    }
    let sensor = member(&mut faults, "sensor", sensor);
    if sensor.as_deref().is_some_and(|sensor| !is_iri(sensor)) {
        faults.at("sensor", "is no IRI such as https://…");
    }
    let sent = member(&mut faults, "sendTime", send_time);
    let send_time = sent.as_deref().and_then(instant);
    if let (Some(text), None) = (&sent, send_time) {
        faults.at("sendTime", not_an_instant(text));
    }
    member(&mut faults, "dataVersion", version);
    let mut envelope = Envelope {
        sensor: sensor.unwrap_or_default(),
        send_time: send_time.unwrap_or(Timestamp::from_milliseconds(0)),
        events: Vec::new(),
        entities: Vec::new(),
    };
    faults.inside("data", |faults| items(faults, data, &mut envelope));
    match faults.problem() {
        Some(problem) => Err(problem),
        None => Ok(envelope),
    }
}

/// A member of the envelope that must be text.
fn member(faults: &mut Faults, name: &str, raw: Option<&RawValue>) -> Option<String> {
    match value(raw) {
        Some(Value::String(text)) if !text.is_empty() => return Some(text),
        Some(Value::Null) | None => faults.at(name, "is missing"),
        Some(_) => faults.at(name, "is not text"),
    }
    None
}

fn value(raw: Option<&RawValue>) -> Option<Value> {
    serde_json::from_str(raw?.get()).ok()
}

fn items(faults: &mut Faults, data: Option<&RawValue>, envelope: &mut Envelope) {
    let Some(data) = data else { return faults.here("is missing") };
    let items: Vec<&RawValue> = match serde_json::from_str(data.get()) {
        Ok(items) => items,
        Err(_) => return faults.here("is not a list of events"),
    };
    if items.is_empty() {
        faults.here("is empty; an envelope carries at least one event");
    }
    if items.len() > EVENT_ENVELOPE_MAX_RECORDS {
        return faults.here(format!(
            "holds {} items; send at most {EVENT_ENVELOPE_MAX_RECORDS} at once",
            items.len()
        ));
    }
    for (index, raw) in items.into_iter().enumerate() {
        faults.item(index, |faults| item(faults, raw, envelope));
    }
}

fn item(faults: &mut Faults, raw: &RawValue, envelope: &mut Envelope) {
    let tree: Tree<'_> = match serde_json::from_str(raw.get()) {
        Ok(tree) => tree,
        Err(error) => return faults.here(format!("cannot be read: {error}")),
    };
    let before = faults.count();
    let sort = check::item(faults, &tree);
    if faults.count() > before {
        return;
    }
    match sort {
        Item::Event => {
            let event = Event::of(&tree, raw.get(), &envelope.sensor, envelope.send_time);
            envelope.events.push(event);
        }
        Item::Entity => {
            let id = tree["id"].as_str().or(tree["identifier"].as_str()).unwrap_or_default();
            envelope.entities.push(Entity { id: id.to_owned(), body: raw.get().to_owned() });
        }
    }
}

/// The members of a JSON object as they were sent, repeated ones too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The envelope's four members. Notes repeated ones and those that no envelope has.
    fn known(&self, faults: &mut Faults) -> [Option<&'a RawValue>; 4] {
        const NAMES: [&str; 4] = ["sensor", "sendTime", "dataVersion", "data"];
        let mut known = [None; 4];
        for (name, raw) in &self.0 {
            match NAMES.iter().position(|member| member == name) {
                Some(at) if known[at].replace(*raw).is_none() => {}
                Some(_) => faults.at(name, "stands twice"),
                None => faults.at(
                    short(name),
                    "an envelope has no such member; it has sensor, sendTime, dataVersion, data",
                ),
            }
        }
        known
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an envelope")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
