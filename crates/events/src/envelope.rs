//! An envelope, read and checked.

use std::collections::BTreeMap;

use lyceum_core::json::refuse_repeated_keys;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, messages};
use schemars::JsonSchema;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::CONTEXTS;
use crate::check::{self, DataItemKind, is_iri, not_an_instant, short, utc_instant};
use crate::event::{Entity, Event};
use crate::faults::EnvelopeErrors;
use crate::limits::{EVENT_ENVELOPE_MAX_RECORDS, EVENT_ID_MAX_BYTES};
use crate::reader::TextReader;
use crate::tree::Tree;

/// An envelope of [Caliper 1.2](https://www.imsglobal.org/spec/caliper/v1p2), section 5, for the API document.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "`parse` reads each byte of an envelope only once")]
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
#[expect(dead_code, reason = "`parse` reads each byte of an envelope only once")]
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

/// Reads and checks an envelope (Caliper 1.2, section 5). One of Caliper 1.1 is held to the same rules.
///
/// Errors: `Malformed` with the errors up to a limit, those of the envelope before those of its
/// events, or with the first key that appears twice in an object; `Invalid` if the version is not supported.
pub fn parse(text: &str) -> Result<Envelope> {
    refuse_repeated_keys(text.as_bytes())?;
    let EnvelopeMembers { known, data, mut faults } =
        EnvelopeMembers::read(text).ok_or_else(|| no_object(text))?;
    let [sensor, send_time, version] = known.each_ref().map(Option::as_ref);
    if let Some(Tree::Text(version)) = version
        && !CONTEXTS.contains(&version.as_ref())
    {
        let served = CONTEXTS.join("' or '");
        let message = format!("must be '{served}' (got '{}')", short(version));
        return Err(Problem::invalid("dataVersion", message));
    }
    let sensor = member(&mut faults, "sensor", sensor);
    if sensor.is_some_and(|sensor| !is_iri(sensor)) {
        faults.at("sensor", "must be an IRI such as https://…");
    }
    let sent = member(&mut faults, "sendTime", send_time);
    let send_time = sent.and_then(utc_instant);
    if let (Some(text), None) = (sent, send_time) {
        faults.at("sendTime", not_an_instant(text));
    }
    member(&mut faults, "dataVersion", version);
    let Some(data) = data else {
        faults.at("data", messages::required("an array of events"));
        return Err(faults.problem().expect("one was just found"));
    };
    faults.append(data.faults);
    if let Some(problem) = faults.problem() {
        return Err(problem);
    }
    let sensor = sensor.unwrap_or_default().to_owned();
    let send_time = send_time.unwrap_or(EPOCH);
    let mut events = data.events;
    for event in &mut events {
        event.sensor.clone_from(&sensor);
        event.send_time = send_time;
    }
    Ok(Envelope { sensor, send_time, events, entities: data.entities })
}

const EPOCH: Timestamp = Timestamp::from_milliseconds(0);

fn no_object(text: &str) -> Problem {
    let why = serde_json::from_str::<BTreeMap<String, &RawValue>>(text).err();
    let why = why.map(|error| format!(": {error}")).unwrap_or_default();
    Problem::new(ProblemKind::Malformed, format!("the body must be a JSON object{why}"))
}

/// A member of the envelope that must be text.
fn member<'t>(
    faults: &mut EnvelopeErrors,
    name: &str,
    value: Option<&'t Tree<'_>>,
) -> Option<&'t str> {
    match value {
        Some(Tree::Text(text)) if !text.is_empty() => return Some(text),
        Some(Tree::Null) | None => faults.at(name, messages::required("a string")),
        Some(_) => faults.at(name, messages::MUST_BE_STRING),
    }
    None
}

/// The members of a JSON object that may be an envelope.
#[derive(Default)]
struct EnvelopeMembers<'a> {
    /// Those of [`NAMES`].
    known: [Option<Tree<'a>>; 3],
    data: Option<EnvelopeData>,
    /// Errors about unknown members.
    faults: EnvelopeErrors,
}

/// The members of an envelope except `data`.
const NAMES: [&str; 3] = ["sensor", "sendTime", "dataVersion"];

/// The content of `data`, read before the rest of the envelope is known.
#[derive(Default)]
struct EnvelopeData {
    /// Without sensor and send time, which are set later.
    events: Vec<Event>,
    entities: Vec<Entity>,
    faults: EnvelopeErrors,
}

impl<'a> EnvelopeMembers<'a> {
    /// Reads each byte once. `None` if the text is not a JSON object.
    fn read(text: &'a str) -> Option<Self> {
        let (mut members, mut reader) = (Self::default(), TextReader::of(text));
        reader.takes('{').then_some(())?;
        reader.each('}', |reader| {
            let name: String = reader.value()?.0.ok()?;
            reader.takes(':').then_some(())?;
            members.take(&name, reader)
        })?;
        reader.is_over().then_some(members)
    }

    fn take(&mut self, name: &str, reader: &mut TextReader<'a>) -> Option<()> {
        if name == "data" {
            self.data = Some(EnvelopeData::read(reader)?);
            return Some(());
        }
        let value = reader.value()?.0.unwrap_or(Tree::Null);
        match NAMES.iter().position(|known| *known == name) {
            Some(at) => self.known[at] = Some(value),
            None => {
                let message = "is not a member of an envelope, which has sensor, sendTime, \
                               dataVersion and data; remove it";
                self.faults.at(short(name), message);
            }
        }
        Some(())
    }
}

impl EnvelopeData {
    fn read(reader: &mut TextReader<'_>) -> Option<Self> {
        let (mut data, mut faults) = (Self::default(), EnvelopeErrors::default());
        faults.inside("data", |faults| match reader.takes('[') {
            true => data.items(faults, reader),
            false => {
                faults.here("must be an array of events");
                reader.skip()
            }
        })?;
        data.faults = faults;
        Some(data)
    }

    fn items(&mut self, faults: &mut EnvelopeErrors, reader: &mut TextReader<'_>) -> Option<()> {
        let mut count = 0;
        reader.each(']', |reader| {
            count += 1;
            if count > EVENT_ENVELOPE_MAX_RECORDS {
                return reader.skip();
            }
            let (tree, text) = reader.value()?;
            faults.item(count - 1, |faults| self.item(faults, tree, text));
            Some(())
        })?;
        if count == 0 {
            faults.here("must have at least one event");
        }
        if count > EVENT_ENVELOPE_MAX_RECORDS {
            let most = EVENT_ENVELOPE_MAX_RECORDS;
            faults.forget();
            faults.here(format!(
                "must have at most {most} items (got {count}); send several envelopes"
            ));
        }
        Some(())
    }

    fn item(
        &mut self,
        faults: &mut EnvelopeErrors,
        tree: serde_json::Result<Tree<'_>>,
        text: &str,
    ) {
        let tree = match tree {
            Ok(tree) => tree,
            Err(error) => return faults.here(format!("cannot be read: {error}")),
        };
        let before = faults.count();
        let sort = check::item(faults, &tree);
        if faults.count() > before {
            return;
        }
        match sort {
            DataItemKind::Event => self.events.push(Event::of(&tree, text, "", EPOCH)),
            DataItemKind::Entity => {
                let id = tree["id"].as_str().or(tree["identifier"].as_str()).unwrap_or_default();
                if id.len() > EVENT_ID_MAX_BYTES || id.contains('\0') {
                    let message = format!(
                        "must have at most {EVENT_ID_MAX_BYTES} bytes and must not contain U+0000"
                    );
                    return faults.at("identifier", message);
                }
                self.entities.push(Entity { id: id.to_owned(), body: text.to_owned() });
            }
        }
    }
}
