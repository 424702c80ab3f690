//! JSON Schemas of parameters.

use serde_json::{Value, json};

/// Any text.
pub fn text() -> Value {
    json!({ "type": "string" })
}

/// A text that must not be empty.
pub fn some_text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

/// `true` or `false`.
pub fn flag() -> Value {
    json!({ "type": "boolean" })
}

/// A number without fractions, at least 0.
pub fn whole_number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

/// The schema of a text that is one of these words.
pub fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}
