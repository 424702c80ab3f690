//! JSON Schemas, put together.
#![expect(clippy::needless_pass_by_value, reason = "schemas are put together from parts")]

use serde_json::{Value, json};

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

/// A text that says something.
pub(crate) fn some_text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

pub(crate) fn flag() -> Value {
    json!({ "type": "boolean" })
}

pub(crate) fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(crate) fn number() -> Value {
    json!({ "type": "number" })
}

pub(crate) fn any_object() -> Value {
    json!({ "type": "object" })
}

pub(crate) fn words(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

pub(crate) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// The value or null.
pub(crate) fn or_null(value: Value) -> Value {
    json!({ "anyOf": [value, { "type": "null" }] })
}

/// A grade as requests may write it.
pub(crate) fn grade() -> Value {
    json!({ "anyOf": [{ "type": "integer" }, some_text()] })
}

pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

/// An object of which every member is there.
pub(crate) fn whole_object(properties: Value) -> Value {
    let required: Vec<String> =
        properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}
