//! JSON Schemas, put together.
#![expect(clippy::needless_pass_by_value, reason = "schemas are put together from parts")]

use serde_json::{Value, json};

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// A text that says something.
pub(super) fn some_text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

pub(super) fn flag() -> Value {
    json!({ "type": "boolean" })
}

pub(super) fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(super) fn number() -> Value {
    json!({ "type": "number" })
}

pub(super) fn any_object() -> Value {
    json!({ "type": "object" })
}

pub(super) fn words(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// The value or null.
pub(super) fn or_null(value: Value) -> Value {
    json!({ "anyOf": [value, { "type": "null" }] })
}

/// A grade as requests may write it.
pub(super) fn grade() -> Value {
    json!({ "anyOf": [{ "type": "integer" }, some_text()] })
}

pub(super) fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

/// An object of which every member is there.
pub(super) fn whole_object(properties: Value) -> Value {
    let required: Vec<String> =
        properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}
