//! The tables of terms against the official JSON schemas of Caliper 1.2: one document for each property
//! and kind of value, one for each property and type of entity, one for each value of a closed list. Where the
//! two judge differently, `schema_differences.tsv` gives the reason in the words of the specification.
//!
//! `LYCEUM_BLESS=1` rewrites that file and keeps the reasons of lines that stay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lyceum_events::{CONTEXT, parse};
use serde_json::{Map, Value, json};

use crate::{AFTER_ALL, official};

/// The official schemas by name.
struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    fn read() -> Option<Self> {
        let folder = official::folder("v1p2-jsonschema")?;
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        Some(Self(files.map(|file| (name(&file), read(&file))).collect()))
    }

    /// Whether a value fits a schema: the part of draft 4 that these use. References are bare names.
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        fn all(of: &Value) -> &[Value] {
            of.as_array().map_or(&[], Vec::as_slice)
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let (name, part) = reference.split_once('#').unwrap_or((reference, ""));
            return self.fits(self.0[name].pointer(part).unwrap(), value);
        }
        let fits_type = match &schema["type"] {
            Value::String(one) => is_of_type(one, value),
            many => {
                many.is_null()
                    || all(many).iter().any(|one| is_of_type(one.as_str().unwrap(), value))
            }
        };
        let any = |key: &str| all(&schema[key]).iter().any(|one| self.fits(one, value));
        let members = schema["properties"].as_object();
        fits_type
            && (schema["anyOf"].is_null() || any("anyOf"))
            && (schema["oneOf"].is_null() || any("oneOf"))
            && (schema["enum"].is_null() || all(&schema["enum"]).contains(value))
            && value.as_str().is_none_or(|text| matches_pattern(schema["pattern"].as_str(), text))
            && value.as_array().is_none_or(|items| {
                schema["items"].is_null()
                    || items.iter().all(|one| self.fits(&schema["items"], one))
            })
            && value.as_object().is_none_or(|object| {
                all(&schema["required"])
                    .iter()
                    .all(|name| object.contains_key(name.as_str().unwrap()))
                    && object.iter().all(|(name, value)| {
                        let schema = members.and_then(|members| members.get(name));
                        schema.is_none_or(|schema| self.fits(schema, value))
                    })
            })
    }

    /// The types of events or entities: their names, and their properties with a schema.
    fn types(&self, events: bool) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.0.iter().filter_map(move |(name, schema)| {
            let properties = schema["properties"].as_object()?;
            let is_typed = properties.get("type")?["pattern"].is_string();
            let is_event = properties.contains_key("eventTime");
            let is_part = name == "SystemIdentifier";
            (is_typed && is_event == events && !is_part).then_some((name.as_str(), properties))
        })
    }
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().to_owned()
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type {other}"),
    }
}

/// The patterns of these schemas are whole words, and one of a UUID that no property here uses.
fn matches_pattern(pattern: Option<&str>, text: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.trim_start_matches('^').trim_end_matches('$') == text)
}

const IRI: &str = "https://example.edu/things/1";
const TIME: &str = "2026-01-15T08:00:00.000Z";

/// The shortest entity of a type.
fn entity(name: &str) -> Value {
    let mut entity = json!({ "id": IRI, "type": name });
    if name == "AggregateMeasure" {
        entity["metric"] = json!("WordsRead");
        entity["metricValue"] = json!(1.0);
    }
    entity
}

/// The shortest event of a type that our tables accept.
fn event(name: &str) -> Value {
    const SHORTEST: [(&str, &str, &str); 25] = [
        ("AnnotationEvent", "Tagged", "Document"),
        ("AssessmentEvent", "Started", "Assessment"),
        ("AssessmentItemEvent", "Started", "AssessmentItem"),
        ("AssignableEvent", "Started", "AssignableDigitalResource"),
        ("Event", "Created", "Document"),
        ("FeedbackEvent", "Commented", "Document"),
        ("ForumEvent", "Subscribed", "Forum"),
        ("GradeEvent", "Graded", "Attempt"),
        ("MediaEvent", "Started", "VideoObject"),
        ("MessageEvent", "Posted", "Message"),
        ("NavigationEvent", "NavigatedTo", "WebPage"),
        ("OutcomeEvent", "Graded", "Attempt"),
        ("QuestionnaireEvent", "Started", "Questionnaire"),
        ("QuestionnaireItemEvent", "Started", "QuestionnaireItem"),
        ("ReadingEvent", "Viewed", "Document"),
        ("ResourceManagementEvent", "Created", "Document"),
        ("SearchEvent", "Searched", "SoftwareApplication"),
        ("SessionEvent", "LoggedIn", "SoftwareApplication"),
        ("SurveyEvent", "OptedIn", "Survey"),
        ("SurveyInvitationEvent", "Sent", "SurveyInvitation"),
        ("ThreadEvent", "MarkedAsRead", "Thread"),
        ("ToolLaunchEvent", "Launched", "SoftwareApplication"),
        ("ToolUseEvent", "Used", "SoftwareApplication"),
        ("ViewEvent", "Viewed", "Document"),
        ("", "", ""),
    ];
    let known = SHORTEST.iter().find(|(known, ..)| *known == name);
    let (_, action, object) = known.unwrap_or_else(|| panic!("no shortest {name}"));
    let mut event = json!({
        "@context": CONTEXT, "id": "urn:uuid:7e10e4f3-a0d8-4430-95bd-783ffae4d916", "type": name,
        "actor": entity("Person"), "action": action, "object": entity(object), "eventTime": TIME,
    });
    if name == "ToolLaunchEvent" {
        event["federatedSession"] = entity("LtiSession");
    }
    event
}

#[test]
fn results_are_viewed_and_items_of_case_identified() {
    let mut viewed = json!({
        "@context": CONTEXT, "id": "urn:uuid:7e10e4f3-a0d8-4430-95bd-783ffae4d916", "type": "ViewEvent",
        "profile": "GradingProfile", "actor": entity("Person"), "action": "Viewed",
        "object": {"id": "https://example.edu/results/1", "type": "Result"}, "eventTime": TIME,
    });
    assert!(is_accepted(&viewed));
    let identifier = json!({
        "type": "SystemIdentifier", "identifierType": "CaseItemUri",
        "identifier": "https://example.edu/case/items/1",
    });
    viewed["object"]["otherIdentifiers"] = json!([identifier]);
    assert!(is_accepted(&viewed));
    viewed["object"] = json!({"id": "https://example.edu/attempts/1", "type": "Attempt"});
    assert!(!is_accepted(&viewed));
}

fn is_accepted(document: &Value) -> bool {
    let envelope = json!({
        "sensor": "https://example.edu/sensors/1", "sendTime": TIME, "dataVersion": CONTEXT, "data": [document],
    });
    parse(&envelope.to_string(), AFTER_ALL).is_ok()
}

/// A text of the sort that the property holds; the schemas do not check formats.
fn text(schema: &Value) -> Value {
    let by_pattern = schema["pattern"].as_str().map(|it| it.trim_matches(['^', '$']));
    match (by_pattern, schema["format"].as_str()) {
        (Some(word), _) => word.into(),
        (None, Some("date-time")) => TIME.into(),
        (None, Some("duration")) => "PT1S".into(),
        (None, _) => IRI.into(),
    }
}

/// Values by name: one of each kind of JSON, lists of them, entities, and all values of a closed list.
fn values(schemas: &Schemas, schema: &Value) -> Vec<(String, Value)> {
    let text = text(schema);
    let mut values = vec![
        ("null".to_owned(), Value::Null),
        ("true".to_owned(), json!(true)),
        ("a number".to_owned(), json!(1)),
        ("text".to_owned(), text.clone()),
        ("an object".to_owned(), json!({ "any": "thing" })),
        ("an empty list".to_owned(), json!([])),
        ("a list of text".to_owned(), json!([IRI])),
        ("a list of numbers".to_owned(), json!([1])),
        ("a list of true".to_owned(), json!([true])),
    ];
    let is_list = schema["type"] == "array";
    for (name, _) in schemas.types(false) {
        let one = entity(name);
        let value = if is_list { json!([one]) } else { one };
        values.push((name.to_owned(), value));
    }
    let mut words = BTreeSet::new();
    closed_list(schemas, schema, &mut words);
    for word in words.iter().map(String::as_str).chain((!words.is_empty()).then_some("NoSuchWord"))
    {
        let value = if is_list { json!([word]) } else { json!(word) };
        values.push((format!("'{word}'"), value));
    }
    values
}

fn closed_list(schemas: &Schemas, schema: &Value, into: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str()
        && let Some(target) = schemas.0.get(name)
    {
        closed_list(schemas, target, into);
    }
    if let Some(words) = schema["enum"].as_array() {
        into.extend(words.iter().map(|word| word.as_str().unwrap().to_owned()));
    }
    if schema["items"].is_object() {
        closed_list(schemas, &schema["items"], into);
    }
}

/// The differences to the schemas: the property and the value, whether we accept it, and of which types.
fn differences(schemas: &Schemas) -> BTreeMap<(String, String, bool), BTreeSet<String>> {
    let mut found: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    let mut documents = 0;
    for events in [true, false] {
        for (name, properties) in schemas.types(events) {
            let base = if events { event(name) } else { entity(name) };
            assert!(is_accepted(&base), "{base}");
            for (property, schema) in
                properties.iter().filter(|(it, _)| *it != "type" && *it != "id")
            {
                for (what, value) in values(schemas, schema) {
                    documents += 1;
                    let mut document = base.clone();
                    document[property] = value.clone();
                    let is_ours = is_accepted(&document);
                    if schemas.fits(schema, &value) != is_ours {
                        let place = (property.clone(), what, is_ours);
                        found.entry(place).or_default().insert(name.to_owned());
                    }
                }
            }
        }
    }
    assert!(documents > 50_000, "only {documents} documents");
    found
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schema_differences.tsv")
}

/// The types of values that share all else as one line each: property, types, what we do, values.
fn lines(found: BTreeMap<(String, String, bool), BTreeSet<String>>) -> BTreeSet<[String; 4]> {
    let mut by_values: BTreeMap<(String, String, bool), BTreeSet<String>> = BTreeMap::new();
    for ((property, value, is_ours), types) in found {
        let types = types.into_iter().collect::<Vec<_>>().join(" ");
        by_values.entry((property, types, is_ours)).or_default().insert(value);
    }
    let verdict = |is_ours| if is_ours { "accepted" } else { "refused" };
    by_values
        .into_iter()
        .map(|((property, types, is_ours), values)| {
            let values = values.into_iter().collect::<Vec<_>>().join(", ");
            [property, types, verdict(is_ours).to_owned(), values]
        })
        .collect()
}

#[test]
fn our_tables_agree_with_the_official_schemas_except_for_listed_differences() {
    let Some(schemas) = Schemas::read() else { return };
    let found = lines(differences(&schemas));
    let text = fs::read_to_string(file()).unwrap_or_default();
    let listed: BTreeMap<[String; 4], String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            let [property, types, ours, values, reason] = &cells[..] else { panic!("{line}") };
            ([property, types, ours, values].map(String::clone), reason.clone())
        })
        .collect();
    #[expect(clippy::disallowed_methods, reason = "whether the file is written is not a setting")]
    let is_blessed = std::env::var("LYCEUM_BLESS").is_ok();
    if is_blessed {
        let head = text.lines().filter(|line| line.starts_with('#')).map(str::to_owned);
        let lines = found.iter().map(|cells| {
            let reason = listed.get(cells).map_or("", String::as_str);
            format!("{}\t{reason}", cells.join("\t"))
        });
        fs::write(file(), head.chain(lines).map(|line| line + "\n").collect::<String>()).unwrap();
        return;
    }
    let listed_places: BTreeSet<_> = listed.keys().cloned().collect();
    let (new, gone) = (&found - &listed_places, &listed_places - &found);
    assert!(new.is_empty() && gone.is_empty(), "not listed: {new:#?}\nlisted in vain: {gone:#?}");
    for (place, reason) in &listed {
        assert!(reason.len() > 20, "{place:?} has no reason");
    }
}
