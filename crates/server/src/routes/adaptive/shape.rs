//! JSON Schemas of parameters.

use serde_json::{Value, json};

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

/// A text that must not be empty.
pub(crate) fn some_text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

pub(crate) fn flag() -> Value {
    json!({ "type": "boolean" })
}

pub(crate) fn whole_number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(crate) fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}
