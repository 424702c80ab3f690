//! Whether JSON fits a schema, and every error in it. Knows the keywords that schemas of types use.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::expected::{expected, one_or_other};
use crate::limits::BODY_ERRORS_MAX_COUNT;
use crate::messages;
use crate::problem::Detail;
use crate::schema::TypeSchema;
use crate::time::{Timestamp, parse_date};
use crate::{Message, message};

/// Every error of the value, in the order of its members; at most [`BODY_ERRORS_MAX_COUNT`].
pub(super) fn errors(schema: &TypeSchema, value: &Value) -> Vec<Detail> {
    let mut check =
        SchemaCheck { definitions: &schema.definitions, path: String::new(), errors: Vec::new() };
    check.value(&schema.schema, value);
    check.errors
}

/// A value under comparison with a schema.
struct SchemaCheck<'s> {
    definitions: &'s Map<String, Value>,
    path: String,
    errors: Vec<Detail>,
}

impl<'s> SchemaCheck<'s> {
    fn value(&mut self, schema: &'s Value, value: &Value) {
        let Value::Object(rules) = schema else { return };
        if let Some(reference) = rules.get("$ref") {
            self.value(self.definition(reference), value);
        }
        if let Some(types) = rules.get("type")
            && !admits(types, value)
        {
            return self.error(must_be(expected(rules)));
        }
        if let Some(words) = words(schema)
            && !words.contains(&value)
        {
            return self.error(must_be_one_of(&words, value));
        }
        match value {
            Value::String(text) => self.text(rules, text),
            Value::Number(number) => self.number(rules, number),
            Value::Array(list) => self.list(rules, list),
            Value::Object(object) => self.object(rules, object),
            Value::Bool(_) | Value::Null => {}
        }
        for part in list_of(rules.get("allOf")) {
            self.value(part, value);
        }
        for name in ["anyOf", "oneOf"] {
            self.any_of(list_of(rules.get(name)), value);
        }
    }

    fn text(&mut self, rules: &Map<String, Value>, text: &str) {
        let length = text.chars().count();
        let format = rules.get("format").and_then(Value::as_str).unwrap_or_default();
        if let Some(least) = limit(rules, "minLength").filter(|least| length < *least) {
            self.error(messages::too_short(least));
        } else if let Some(most) = limit(rules, "maxLength").filter(|most| length > *most) {
            self.error(messages::too_many(most, "characters"));
        } else if format == super::LINE_FORMAT && text.trim().is_empty() {
            self.error(messages::MUST_NOT_BE_EMPTY);
        } else if format == super::LINE_FORMAT && text.chars().any(char::is_control) {
            self.error(messages::MUST_NOT_CONTAIN_CONTROL_CHARACTERS);
        } else if (format == "date" && parse_date(text).is_none())
            || (format == "date-time" && text.parse::<Timestamp>().is_err())
        {
            self.error(must_be(expected(rules)));
        }
    }

    fn number(&mut self, rules: &Map<String, Value>, number: &Number) {
        let limit = |name: &str| rules.get(name).and_then(Value::as_f64);
        let value = number.as_f64().unwrap_or(f64::NAN);
        if limit("minimum").is_some_and(|least| value < least)
            || limit("maximum").is_some_and(|most| value > most)
            || limit("exclusiveMinimum").is_some_and(|least| value <= least)
        {
            return self.error(must_be(expected(rules)));
        }
        let (least, most) = match rules.get("format").and_then(Value::as_str) {
            Some("int32") => (i128::from(i32::MIN), i128::from(i32::MAX)),
            Some("uint32") => (0, i128::from(u32::MAX)),
            Some("int64" | "int") => (i128::from(i64::MIN), i128::from(i64::MAX)),
            _ => return,
        };
        if number.as_i128().is_none_or(|number| !(least..=most).contains(&number)) {
            self.error(message!("must be a whole number from {least} to {most}"));
        }
    }

    fn list(&mut self, rules: &'s Map<String, Value>, list: &[Value]) {
        if let Some(least) = limit(rules, "minItems").filter(|least| list.len() < *least) {
            return self.error(too_few(least));
        }
        if let Some(most) = limit(rules, "maxItems").filter(|most| list.len() > *most) {
            return self.error(messages::too_many(most, "members"));
        }
        let Some(items) = rules.get("items") else { return };
        for (index, value) in list.iter().enumerate() {
            self.inside(format_args!("[{index}]"), |check| check.value(items, value));
        }
    }

    fn object(&mut self, rules: &'s Map<String, Value>, object: &Map<String, Value>) {
        let known = rules.get("properties").and_then(Value::as_object);
        let is_required =
            |name: &str| list_of(rules.get("required")).iter().any(|other| other == name);
        for (name, schema) in known.into_iter().flatten() {
            match object.get(name) {
                Some(value)
                    if !value.is_null() || !is_required(name) || self.takes_null(schema) =>
                {
                    self.member(name, |check| check.value(schema, value));
                }
                None if !is_required(name) => {}
                _ => self.member(name, |check| {
                    let message = messages::required(check.to_send(schema));
                    check.error(message);
                }),
            }
        }
        let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
        // An alternative may require a member that the type itself describes.
        let required = list_of(rules.get("required")).iter().filter_map(Value::as_str);
        for name in required.filter(|name| !is_known(name) && !object.contains_key(*name)) {
            self.member(name, |check| check.error(messages::required("a value")));
        }
        let Some(others) = rules.get("additionalProperties") else { return };
        for (name, value) in object.iter().filter(|(name, _)| !is_known(name)) {
            self.member(name, |check| match others {
                Value::Bool(false) => {
                    let names =
                        known.into_iter().flat_map(|known| known.keys().map(String::as_str));
                    check.error(messages::not_a_member(name, names));
                }
                others => check.value(others, value),
            });
        }
    }

    /// The errors of the alternative that was probably meant.
    fn any_of(&mut self, alternatives: &'s [Value], value: &Value) {
        if alternatives.is_empty() {
            return;
        }
        if let Some(tag) = self.tag(alternatives) {
            return self.tagged(tag, alternatives, value);
        }
        let mut fewest: Option<Vec<Detail>> = None;
        for alternative in alternatives {
            let before = std::mem::take(&mut self.errors);
            self.value(alternative, value);
            let errors = std::mem::replace(&mut self.errors, before);
            if errors.is_empty() {
                return;
            }
            let is_meant = self.types(alternative).is_none_or(|types| admits(types, value));
            if is_meant && fewest.as_ref().is_none_or(|fewest| errors.len() < fewest.len()) {
                fewest = Some(errors);
            }
        }
        match fewest {
            Some(errors) => {
                self.errors.extend(errors);
                self.errors.truncate(BODY_ERRORS_MAX_COUNT);
            }
            None => {
                let kinds = alternatives.iter().filter_map(|one| self.kind(one));
                self.error(must_be(one_or_other(kinds)));
            }
        }
    }

    /// The member that tells the alternatives apart: each has another constant there.
    fn tag(&self, alternatives: &'s [Value]) -> Option<&'s str> {
        let (name, _) = self
            .properties(alternatives.first()?)?
            .iter()
            .find(|(_, schema)| schema.get("const").is_some())?;
        let has_it =
            |one| self.properties(one).and_then(|known| known.get(name)?.get("const")).is_some();
        alternatives.iter().all(has_it).then_some(name)
    }

    fn tagged(&mut self, tag: &'s str, alternatives: &'s [Value], value: &Value) {
        let Value::Object(object) = value else { return self.error("must be an object") };
        let word = |one| self.properties(one)?.get(tag)?.get("const");
        let sent = object.get(tag).unwrap_or(&Value::Null);
        if let Some(alternative) = alternatives.iter().find(|one| word(one) == Some(sent)) {
            return self.value(alternative, value);
        }
        let words: Vec<&Value> = alternatives.iter().filter_map(word).collect();
        let message = match sent {
            Value::Null => messages::required(one_of(&words)),
            sent => must_be_one_of(&words, sent),
        };
        self.member(tag, |check| check.error(message));
    }

    fn definition(&self, reference: &Value) -> &'s Value {
        let name = reference.as_str().and_then(|text| text.rsplit('/').next()).unwrap_or_default();
        self.definitions.get(name).unwrap_or(&Value::Null)
    }

    /// The schema, or the one to which it does nothing but refer.
    fn resolved(&self, schema: &'s Value) -> &'s Value {
        match schema.get("$ref") {
            Some(reference) => self.definition(reference),
            None => schema,
        }
    }

    fn properties(&self, schema: &'s Value) -> Option<&'s Map<String, Value>> {
        let own = schema.get("properties").or_else(|| self.resolved(schema).get("properties"));
        own?.as_object()
    }

    fn types(&self, schema: &'s Value) -> Option<&'s Value> {
        self.resolved(schema).get("type")
    }

    fn takes_null(&self, schema: &'s Value) -> bool {
        let schema = self.resolved(schema);
        let alternatives = list_of(schema.get("anyOf"));
        match schema.get("type") {
            Some(types) => admits(types, &Value::Null),
            None if alternatives.is_empty() => {
                schema.get("oneOf").is_none() && words(schema).is_none()
            }
            None => alternatives.iter().any(|one| self.takes_null(one)),
        }
    }

    /// The expected value of an alternative, such as `a string`; nothing for null.
    fn kind(&self, schema: &'s Value) -> Option<Message> {
        let kind = expected(self.resolved(schema).as_object()?)?;
        (kind.template() != "null").then_some(kind)
    }

    /// The value to send if one is missing.
    fn to_send(&self, schema: &'s Value) -> Message {
        let schema = self.resolved(schema);
        if let Some(words) = words(schema) {
            return one_of(&words);
        }
        let alternatives =
            ["anyOf", "oneOf"].into_iter().flat_map(|name| list_of(schema.get(name)));
        let kinds = std::iter::once(schema).chain(alternatives).filter_map(|one| self.kind(one));
        let mut kinds: Vec<Message> = kinds.collect();
        kinds.dedup();
        one_or_other(kinds).unwrap_or_else(|| "any JSON".into())
    }

    fn member(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.inside(format_args!("{dot}{name}"), check);
    }

    fn inside(&mut self, step: std::fmt::Arguments<'_>, check: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        let _ = self.path.write_fmt(step);
        check(self);
        self.path.truncate(length);
    }

    fn error(&mut self, message: impl Into<Message>) {
        if self.errors.len() < BODY_ERRORS_MAX_COUNT {
            self.errors.push(Detail { path: self.path.clone(), message: message.into() });
        }
    }
}

fn limit(rules: &Map<String, Value>, name: &str) -> Option<usize> {
    usize::try_from(rules.get(name)?.as_u64()?).ok()
}

fn must_be(wanted: Option<Message>) -> Message {
    let wanted = wanted.unwrap_or_else(|| "another value".into());
    message!("must be {wanted}")
}

fn must_be_one_of(words: &[&Value], got: &Value) -> Message {
    let words: Vec<&str> = words.iter().filter_map(|word| word.as_str()).collect();
    match got {
        Value::String(got) => messages::must_be_one_of(&words, got),
        _ => message!("must be one of {words}", words = words.join(", ")),
    }
}

fn one_of(words: &[&Value]) -> Message {
    let words: Vec<&str> = words.iter().filter_map(|word| word.as_str()).collect();
    message!("one of {words}", words = words.join(", "))
}

fn too_few(least: usize) -> Message {
    match least {
        1 => messages::MUST_NOT_BE_EMPTY.into(),
        _ => message!("must have at least {least} members"),
    }
}

fn list_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The values that a schema lists; `None` if it allows others.
fn words(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(one) = schema.get("const") {
        return Some(vec![one]);
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        return Some(words.iter().collect());
    }
    let alternatives = list_of(schema.get("oneOf"));
    let each: Option<Vec<_>> = alternatives.iter().map(words).collect();
    Some(each?.concat()).filter(|words| !words.is_empty())
}

fn admits(types: &Value, value: &Value) -> bool {
    let admits_one = |ty: &Value| match ty.as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => false,
    };
    match types {
        Value::Array(types) => types.iter().any(admits_one),
        one => admits_one(one),
    }
}
