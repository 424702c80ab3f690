//! Whether an answer holds what is expected.
//!
//! An expected object holds some members of the answer's, an expected list of objects some of its elements;
//! other lists and values are equal. `<string>`, `<integer>`, `<number>`, `<boolean>`, `<object>`, `<list>`,
//! `<array>` (a list with elements), `<instant>` and `<any>` stand for any such value, `<absent>` for none;
//! `~text` stands for a text that contains it.

use lyceum_core::time::Timestamp;
use serde_json::Value;

/// The errors in the answer, each with its place.
pub(super) fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(expected, actual, "", &mut found);
    found
}

fn compare(expected: &Value, actual: &Value, at: &str, found: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(members)) => {
            for (name, value) in expected {
                let at = format!("{at}/{name}");
                match members.get(name) {
                    Some(member) if value != "<absent>" => compare(value, member, &at, found),
                    Some(member) => found.push(format!("{at} is there: {member}")),
                    None if value == "<absent>" => {}
                    None => found.push(format!("{at} is missing: {actual}")),
                }
            }
        }
        (Value::Array(expected), Value::Array(elements))
            if expected.iter().any(Value::is_object) =>
        {
            for value in expected {
                if !elements.iter().any(|element| differences(value, element).is_empty()) {
                    found.push(format!("{at}: no element is like {value}: {actual}"));
                }
            }
        }
        (Value::String(pattern), _) if is_like(pattern, actual) => {}
        (Value::Number(expected), Value::Number(actual))
            if expected.as_f64() == actual.as_f64() => {}
        _ if expected == actual => {}
        _ => found.push(format!("{at} must be {expected}: {actual}")),
    }
}

fn is_like(pattern: &str, actual: &Value) -> bool {
    if let Some(part) = pattern.strip_prefix('~') {
        return actual.as_str().is_some_and(|text| text.contains(part));
    }
    match pattern {
        "<any>" => !actual.is_null(),
        "<string>" => actual.as_str().is_some_and(|text| !text.is_empty()),
        "<integer>" => actual.is_i64(),
        "<number>" => actual.is_number(),
        "<boolean>" => actual.is_boolean(),
        "<object>" => actual.is_object(),
        "<list>" => actual.is_array(),
        "<array>" => actual.as_array().is_some_and(|elements| !elements.is_empty()),
        "<instant>" => actual.as_str().is_some_and(|text| text.parse::<Timestamp>().is_ok()),
        _ => false,
    }
}

#[test]
fn an_answer_is_compared_with_its_expected_form() {
    let difference_count = |expected: &str, actual: &str| {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        differences(&parsed(expected), &parsed(actual)).len()
    };
    assert_eq!(difference_count(r#"{"a": 1, "b": "<absent>"}"#, r#"{"a": 1.0, "c": 2}"#), 0);
    assert_eq!(difference_count(r#"{"a": 1, "b": "<absent>"}"#, r#"{"a": 2, "b": 2}"#), 2);
    assert_eq!(difference_count(r#"[{"a": "~one"}]"#, r#"[{"a": 1}, {"a": "none"}]"#), 0);
    assert_eq!(difference_count(r#"[{"a": "~one"}]"#, "[]"), 1);
    assert_eq!(difference_count("[1]", "[1, 2]"), 1);
    assert_eq!(difference_count(r#""<integer>""#, "1.5"), 1);
    assert_eq!(difference_count(r#""<array>""#, "[]"), 1);
}
