//! An envelope, read and checked.

use std::collections::BTreeMap;
use std::fmt;

use lyceum_core::json::refuse_repeated_keys;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message, messages};
use schemars::JsonSchema;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::CONTEXTS;
use crate::check::{self, is_iri, not_an_instant, short, utc_instant};
use crate::event::{Entity, Event};
use crate::faults::EnvelopeErrors;
use crate::limits::{EVENT_AHEAD_MAX_S, EVENT_ENVELOPE_MAX_RECORDS, EVENT_ID_MAX_BYTES};
use crate::tree::Tree;

/// An envelope of [Caliper 1.2](https://www.imsglobal.org/spec/caliper/v1p2), section 5, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "`parse` reports all errors of an envelope")]
pub struct CaliperEnvelope {
    /// The IRI of the sensor.
    #[schemars(extend("format" = "iri"))]
    sensor: String,
    /// When the sensor sent the envelope, in UTC.
    send_time: Timestamp,
    /// The version of Caliper.
    #[schemars(extend("enum" = CONTEXTS))]
    data_version: String,
    /// The events and entities.
    #[schemars(length(min = 1, max = EVENT_ENVELOPE_MAX_RECORDS))]
    data: Vec<EnvelopeRecord>,
}

/// An event of a metric profile of Caliper 1.2, an `ActivityEvent` or `TimeSpentEvent` of the custom profile, or an entity.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "`parse` reports all errors of an envelope")]
struct EnvelopeRecord {
    /// The type of the event or entity.
    #[serde(rename = "type")]
    record_type: String,
    /// The members that the type defines.
    #[serde(flatten)]
    members: Map<String, Value>,
}

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

/// The members of an envelope, before they are checked.
#[derive(Default)]
struct SentEnvelope<'a> {
    sensor: Option<&'a RawValue>,
    send_time: Option<&'a RawValue>,
    data_version: Option<&'a RawValue>,
    data: Option<SentItems<'a>>,
    /// The names of members that an envelope does not have.
    unknown: Vec<String>,
}

impl<'de> Deserialize<'de> for SentEnvelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = SentEnvelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("object")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut members: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut sent = SentEnvelope::default();
        while let Some(name) = members.next_key::<String>()? {
            let is_repeated = match &*name {
                "sensor" => sent.sensor.replace(members.next_value()?).is_some(),
                "sendTime" => sent.send_time.replace(members.next_value()?).is_some(),
                "dataVersion" => sent.data_version.replace(members.next_value()?).is_some(),
                "data" => sent.data.replace(members.next_value()?).is_some(),
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    sent.unknown.push(name);
                    continue;
                }
            };
            if is_repeated {
                // `parse` replaces this error by one that names the key.
                return Err(A::Error::custom("repeated"));
            }
        }
        Ok(sent)
    }
}

/// The member `data`.
#[derive(Default)]
struct SentItems<'a> {
    /// The texts of the events and entities, which are stored exactly as they were sent, not more than an envelope may
    /// have. `None` if it is not an array.
    texts: Option<Vec<&'a RawValue>>,
    /// The number of items that were sent.
    count: usize,
}

impl<'de> Deserialize<'de> for SentItems<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = SentItems<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("value")
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut items: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while texts.len() < EVENT_ENVELOPE_MAX_RECORDS {
            let Some(text) = items.next_element()? else { break };
            texts.push(text);
        }
        let mut count = texts.len();
        // Those beyond the limit are only counted.
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(SentItems { texts: Some(texts), count })
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut members: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(SentItems::default())
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Self::Value, E> {
        Ok(SentItems::default())
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(SentItems::default())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Self::Value, E> {
        Ok(SentItems::default())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Self::Value, E> {
        Ok(SentItems::default())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Self::Value, E> {
        Ok(SentItems::default())
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<Self::Value, E> {
        Ok(SentItems::default())
    }
}

/// Reads and checks an envelope (Caliper 1.2, section 5). One of Caliper 1.1 is held to the same rules.
///
/// Errors: `Malformed` with the errors up to a limit, those of the envelope before those of its
/// events, or with the first key that appears twice in an object; `Invalid` if the version is not supported.
pub fn parse(text: &str, now: Timestamp) -> Result<Envelope> {
    read(text, now).or_else(|problem| {
        // Reported alone, because the other errors may be those of the wrong one of two values.
        refuse_repeated_keys(text.as_bytes())?;
        Err(problem)
    })
}

/// [`parse`] that finds repeated keys, but does not say which.
fn read(text: &str, now: Timestamp) -> Result<Envelope> {
    let sent: SentEnvelope<'_> =
        serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
    let mut faults = EnvelopeErrors::default();
    for name in &sent.unknown {
        let message = "is not a member of an envelope, which has sensor, sendTime, dataVersion \
                       and data; remove it";
        faults.at(short(name), message);
    }
    let sensor = member(&mut faults, "sensor", sent.sensor);
    if sensor.as_deref().is_some_and(|sensor| !is_iri(sensor)) {
        faults.at("sensor", "must be an IRI such as https://…");
    }
    let sent_at = member(&mut faults, "sendTime", sent.send_time);
    let send_time = sent_at.as_deref().and_then(utc_instant);
    match (&sent_at, send_time) {
        (Some(text), None) => faults.at("sendTime", not_an_instant(text)),
        (_, Some(time)) => refuse_future(&mut faults, "sendTime", time, now),
        (None, None) => {}
    }
    if let Some(version) = member(&mut faults, "dataVersion", sent.data_version)
        && !CONTEXTS.contains(&&*version)
    {
        let served = CONTEXTS.join("' or '");
        let message = message!("must be '{served}' (got '{text}')", text = short(&version));
        return Err(Problem::invalid("dataVersion", message));
    }
    let mut envelope = Envelope {
        sensor: sensor.unwrap_or_default(),
        send_time: send_time.unwrap_or(Timestamp::from_milliseconds(0)),
        events: Vec::new(),
        entities: Vec::new(),
    };
    faults.inside("data", |faults| envelope.read_items(faults, sent.data, now));
    faults.problem().map_or(Ok(envelope), Err)
}

/// Refuses a time that a wrong clock wrote. Reports of today would not contain the event, and no correction would count
/// after an envelope of the future.
fn refuse_future(faults: &mut EnvelopeErrors, name: &str, time: Timestamp, now: Timestamp) {
    if time > now.plus_seconds(EVENT_AHEAD_MAX_S) {
        let most = EVENT_AHEAD_MAX_S / 3600;
        let message = message!(
            "must be at most {most} h after the time of the server, {now} (got {time}); check the clock of the sensor"
        );
        faults.at(name, message);
    }
}

/// Why a text is not read as an envelope.
fn unreadable(text: &str, error: &serde_json::Error) -> Problem {
    let message = match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        Err(error) => message!("the body must be a JSON object: {error}"),
        Ok(_) => message!("the JSON cannot be read: {error}"),
    };
    Problem::new(ProblemKind::Malformed, message)
}

/// A member of the envelope that must be text.
fn member(faults: &mut EnvelopeErrors, name: &str, value: Option<&RawValue>) -> Option<String> {
    match value.map(|value| serde_json::from_str(value.get())) {
        Some(Ok(text)) => return Some(text),
        Some(Err(_)) => faults.at(name, messages::MUST_BE_STRING),
        None => faults.at(name, messages::required("a string")),
    }
    None
}

impl Envelope {
    /// Reads and checks the items of `data`.
    fn read_items(
        &mut self,
        faults: &mut EnvelopeErrors,
        sent: Option<SentItems<'_>>,
        now: Timestamp,
    ) {
        let most = EVENT_ENVELOPE_MAX_RECORDS;
        let Some(SentItems { texts, count }) = sent else {
            return faults.here(messages::required("an array of events"));
        };
        match texts {
            None => faults.here("must be an array of events"),
            Some(texts) if texts.is_empty() => faults.here("must have at least one event"),
            Some(_) if count > most => faults.here(message!(
                "must have at most {most} items (got {count}); send several envelopes"
            )),
            Some(texts) => {
                for (index, item) in texts.iter().enumerate() {
                    faults.item(index, |faults| self.read_item(faults, item.get(), now));
                }
            }
        }
    }

    fn read_item(&mut self, faults: &mut EnvelopeErrors, text: &str, now: Timestamp) {
        let tree: Tree<'_> = match serde_json::from_str(text) {
            Ok(tree) => tree,
            Err(error) => return faults.here(message!("cannot be read: {error}")),
        };
        if tree.has_repeated_names() {
            // `parse` replaces this error by one that names the key.
            return faults.here("appears twice in one JSON object; send the key once");
        }
        let is_event = check::item(faults, &tree);
        if !faults.is_empty() {
            return;
        }
        if is_event {
            let event = Event::of(&tree, text, &self.sensor, self.send_time);
            refuse_future(faults, "eventTime", event.time, now);
            return self.events.push(event);
        }
        let id = tree["id"].as_str().or(tree["identifier"].as_str()).unwrap_or_default();
        if id.len() > EVENT_ID_MAX_BYTES || id.contains('\0') {
            let message = message!(
                "must have at most {EVENT_ID_MAX_BYTES} bytes and must not contain U+0000"
            );
            return faults.at("identifier", message);
        }
        self.entities.push(Entity { id: id.to_owned(), body: text.to_owned() });
    }
}
