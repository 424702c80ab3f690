//! Request bodies: JSON objects and their members.

use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, message, messages};
use serde_json::{Map, Value};

/// A JSON object.
pub type Object = Map<String, Value>;

/// Parses a body. Errors: `Malformed` with the place where it is not JSON, or where it contains the character U+0000,
/// which PostgreSQL cannot store.
pub fn parse(text: &[u8]) -> Result<Object> {
    let value = serde_json::from_slice(text).map_err(|error| Problem {
        details: vec![Detail {
            path: String::new(),
            message: Message::untranslated(error.to_string()),
        }],
        places: Box::new([(place(error.line()), place(error.column()))]),
        ..Problem::new(ProblemKind::Malformed, message!("the body is not JSON: {error}"))
    })?;
    let Value::Object(object) = value else {
        return Err(Problem::new(ProblemKind::Malformed, "the body must be a JSON object"));
    };
    match object.iter().find(|(name, value)| name.contains('\0') || has_nul(value)) {
        None => Ok(object),
        Some((name, _)) => {
            let message = message!("the member '{name}' contains the character U+0000; remove it");
            Err(Problem::new(ProblemKind::Malformed, message))
        }
    }
}

fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(members) => members.iter().any(has_nul),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains('\0') || has_nul(value))
        }
        _ => false,
    }
}

/// Checks the member `format`. Errors: `Invalid` for a format other than XML and JSON.
pub(crate) fn format(body: &Object) -> Result<()> {
    match body.get("format") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(format)) if format == "xml" || format == "json" => Ok(()),
        Some(other) => {
            let message = message!("format must be one of xml, json (got {other})");
            Err(Problem::invalid("format", message))
        }
    }
}

/// A required text that must not be empty. Errors: `Invalid`, with the member's name.
pub fn text<'o>(object: &'o Object, name: &str) -> Result<&'o str> {
    match object.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null) => Err(Problem::invalid(name, messages::required("a string"))),
        Some(_) => Err(Problem::invalid(name, "must be a string that is not empty")),
    }
}
