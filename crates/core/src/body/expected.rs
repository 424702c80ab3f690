//! The values that a schema asks for, in the words of messages: "a whole number from 1 to 9".

use serde_json::{Map, Value};

/// The values that a schema expects, such as "a string"; empty for a schema without types.
pub(super) fn expected(rules: &Map<String, Value>) -> String {
    let types: Vec<&str> = match rules.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    };
    // A type that admits null marks an optional member. The client sent a value, so the message leaves null out.
    let kinds = types.iter().filter(|ty| types.len() == 1 || **ty != "null");
    kinds.map(|ty| kind(ty, rules)).collect::<Vec<_>>().join(" or ")
}

fn kind(ty: &str, rules: &Map<String, Value>) -> String {
    match ty {
        "string" => match rules.get("format").and_then(Value::as_str) {
            Some("date-time") => "an instant such as 2026-01-15T08:00:00Z".to_owned(),
            Some("date") => "a date such as 2026-01-15".to_owned(),
            _ => "a string".to_owned(),
        },
        "integer" => format!("a whole number{}", range(rules)),
        "number" => format!("a number{}", range(rules)),
        "boolean" => "true or false".to_owned(),
        "array" => "an array".to_owned(),
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

fn range(rules: &Map<String, Value>) -> String {
    let number = |name: &str| rules.get(name).and_then(Value::as_f64);
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least} up"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => match number("exclusiveMinimum") {
            Some(least) => format!(" above {least}"),
            None => String::new(),
        },
    }
}
