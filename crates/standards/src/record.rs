//! Records as they were sent, held against their classes.

use std::borrow::Cow;

use lyceum_core::text::is_uri;
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Message, Problem, ProblemKind, Result, message, messages};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::class::{Class, Field, Type};
use crate::fault::{Faults, Path};

/// The schema of an item's identifier. Fields name it: `#[schemars(with = "ItemIdentifier")]`.
pub(crate) struct ItemIdentifier;

impl JsonSchema for ItemIdentifier {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ItemIdentifier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "uuid" })
    }
}

/// A record, ready to be stored.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its identifier.
    pub id: String,
    /// When it was changed last.
    pub changed: Timestamp,
    /// The JSON of its standard members without `extensions`.
    pub body: String,
    /// The JSON of its `extensions`.
    pub extensions: Option<String>,
    /// A JSON object of members that no standard defines.
    pub beyond: Option<String>,
}

/// A checked record and its standard members.
pub(crate) type CheckedRecord = (Record, Map<String, Value>);

/// Checks a record. Adds the errors to `faults`; `None` if there was an error.
pub(crate) fn check(
    class: &'static Class,
    value: Value,
    path: &Path<'_>,
    faults: &mut Faults,
) -> Option<CheckedRecord> {
    let Value::Object(mut sent) = value else {
        faults.add(path, message!("must be an object: a {class.name}"));
        return None;
    };
    sent.retain(|_, value| !value.is_null());
    if let Some(owner) = class.owner {
        sent.remove(owner);
    }
    alias(&mut sent, "sourcedId", "identifier");
    if class.name == "CFItem" {
        alias(&mut sent, "cfItemType", "CFItemType");
    }
    let mut seen = RecordCheck { faults, none: true };
    let (mut known, mut beyond) = (Map::new(), Map::new());
    for (name, value) in sent {
        match class.field(&name) {
            Some(field) => {
                let value = seen.value(field, value, &Path::Member(path, &name));
                known.insert(name, value);
            }
            None => drop(beyond.insert(name, value)),
        }
    }
    seen.required(class, &known, path);
    if !seen.none {
        return None;
    }
    let extensions = known.remove("extensions").map(|value| value.to_string());
    let text = |name: &str| known.get(name).and_then(Value::as_str).unwrap_or_default();
    let record = Record {
        id: text("identifier").to_owned(),
        changed: text("lastChangeDateTime").parse().ok()?,
        body: serde_json::to_string(&known).expect("JSON has text"),
        extensions,
        beyond: (!beyond.is_empty()).then(|| Value::Object(beyond).to_string()),
    };
    Some((record, known))
}

fn alias(sent: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = sent.shift_remove(from) {
        sent.entry(to).or_insert(value);
    }
}

/// The state of a check.
struct RecordCheck<'f> {
    faults: &'f mut Faults,
    none: bool,
}

impl RecordCheck<'_> {
    fn fault(&mut self, path: &Path<'_>, message: impl Into<Message>) {
        self.none = false;
        self.faults.add(path, message);
    }

    fn required(&mut self, class: &Class, known: &Map<String, Value>, path: &Path<'_>) {
        for field in class.fields.iter().filter(|field| field.required) {
            if !known.contains_key(field.name) {
                let message = message!("is required in a {class.name}");
                self.fault(&Path::Member(path, field.name), message);
            }
        }
    }

    /// The value in its stored form. Adds an error if the value does not fit its field.
    fn value(&mut self, field: &Field, value: Value, path: &Path<'_>) -> Value {
        let wanted = match (field.ty, &value) {
            (Type::Object(class), Value::Object(_)) => return self.object(class, value, path),
            (Type::Objects(class), Value::Array(_)) => {
                let Value::Array(members) = value else { unreachable!("matched above") };
                let members = members.into_iter().enumerate();
                return members
                    .map(|(index, member)| self.object(class, member, &Path::At(path, index)))
                    .collect();
            }
            (_, Value::String(text)) if text.contains('\0') => {
                Some("must not contain the character U+0000".into())
            }
            (ty, value) => misfit(ty, value),
        };
        if let Some(message) = wanted {
            self.fault(path, message);
        }
        value
    }

    fn object(&mut self, class: &'static Class, value: Value, path: &Path<'_>) -> Value {
        let Value::Object(mut sent) = value else {
            self.fault(path, message!("must be an object: a {class.name}"));
            return value;
        };
        sent.retain(|_, value| !value.is_null());
        alias(&mut sent, "sourcedId", "identifier");
        let mut members = Map::new();
        for (name, value) in sent {
            let at = Path::Member(path, &name);
            match class.field(&name) {
                Some(field) => {
                    let value = self.value(field, value, &at);
                    members.insert(name, value);
                }
                None => self.fault(&at, messages::unknown_member(class.name)),
            }
        }
        self.required(class, &members, path);
        Value::Object(members)
    }
}

/// The message if the value does not fit the type.
fn misfit(ty: Type, value: &Value) -> Option<Message> {
    let text = value.as_str();
    let fits = match ty {
        Type::Text => text.is_some(),
        Type::Uri => text.is_some_and(is_uri),
        Type::Uuid => text.is_some_and(is_uuid),
        Type::Instant => {
            text.is_some_and(|text| text.contains(['T', 't']) && text.parse::<Timestamp>().is_ok())
        }
        Type::Date => text.is_some_and(|text| parse_date(text).is_some()),
        Type::Integer => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        Type::Number => value.is_number(),
        Type::Texts => value.as_array().is_some_and(|list| {
            list.iter().all(|text| text.as_str().is_some_and(|text| !text.contains('\0')))
        }),
        Type::Word(words, open) => text.is_some_and(|text| {
            words.contains(&text) || open && text.strip_prefix("ext:").is_some_and(is_plain)
        }),
        Type::Extensions => value.is_object(),
        Type::ExtensionList => {
            value.as_array().is_some_and(|list| list.iter().all(Value::is_object))
        }
        Type::Object(_) | Type::Objects(_) => false,
    };
    let wanted = || match ty {
        Type::Text => "must be a string".into(),
        Type::Uri => "must be an absolute URI such as https://example.org/items/1".into(),
        Type::Uuid => messages::MUST_BE_UUID.into(),
        Type::Instant => messages::MUST_BE_INSTANT.into(),
        Type::Date => messages::MUST_BE_DATE.into(),
        Type::Integer => "must be a whole number of at most 32 bits".into(),
        Type::Number => messages::MUST_BE_NUMBER.into(),
        Type::Texts => "must be an array of strings".into(),
        Type::Word(words, false) => message!("must be one of {words}", words = words.join(", ")),
        Type::Word(words, true) => {
            message!(
                "must be one of {words}, or your own word in the form ext:word",
                words = words.join(", ")
            )
        }
        Type::Extensions => messages::MUST_BE_OBJECT.into(),
        Type::ExtensionList => "must be an array of objects".into(),
        Type::Object(class) => message!("must be an object: a {class.name}"),
        Type::Objects(class) => {
            message!("must be an array of objects: {class.name}")
        }
    };
    (!fits).then(wanted)
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Whether a text is a UUID as CASE writes it: `8-4-4-4-12` hex digits in small letters.
pub(crate) fn is_uuid(text: &str) -> bool {
    lyceum_core::text::is_uuid(text) && !text.contains(|c: char| c.is_ascii_uppercase())
}

/// The identifier of a path. Errors: `BadId`.
pub fn identifier(text: &str) -> Result<String> {
    let lower = text.to_ascii_lowercase();
    match is_uuid(&lower) {
        true => Ok(lower),
        false => Err(Problem::new(
            ProblemKind::BadId,
            "the id must be a UUID such as c496e222-b8df-11e7-ba24-039ffdae3771",
        )),
    }
}
