//! The values that a schema asks for, in the words of messages: "a whole number from 1 to 9".

use serde_json::{Map, Value};

use crate::{Message, message};

/// The values that a schema expects, such as "a string"; `None` for a schema without types.
pub(super) fn expected(rules: &Map<String, Value>) -> Option<Message> {
    let types: Vec<&str> = match rules.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    };
    // A type that admits null marks an optional member. The client sent a value, so the message leaves null out.
    let kinds = types.iter().filter(|ty| types.len() == 1 || **ty != "null");
    one_or_other(kinds.map(|ty| kind(ty, rules)))
}

/// The kinds with "or" between them.
pub(super) fn one_or_other(kinds: impl IntoIterator<Item = Message>) -> Option<Message> {
    kinds.into_iter().reduce(|one, other| message!("{one} or {other}"))
}

fn kind(ty: &str, rules: &Map<String, Value>) -> Message {
    let number = |kind: Message| match range(rules) {
        Some(range) => message!("{kind} {range}"),
        None => kind,
    };
    match ty {
        "string" => match rules.get("format").and_then(Value::as_str) {
            Some("date-time") => "an instant such as 2026-01-15T08:00:00Z".into(),
            Some("date") => "a date such as 2026-01-15".into(),
            _ => "a string".into(),
        },
        "integer" => number("a whole number".into()),
        "number" => number("a number".into()),
        "boolean" => "true or false".into(),
        "array" => "an array".into(),
        "object" => "an object".into(),
        other => Message::untranslated(other),
    }
}

fn range(rules: &Map<String, Value>) -> Option<Message> {
    let number = |name: &str| rules.get(name).and_then(Value::as_f64);
    Some(match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => message!("from {least} to {most}"),
        (Some(least), None) => message!("from {least} up"),
        (None, Some(most)) => message!("of at most {most}"),
        (None, None) => {
            let least = number("exclusiveMinimum")?;
            message!("above {least}")
        }
    })
}
