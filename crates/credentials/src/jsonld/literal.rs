//! Literals: their lexical forms, and the canonical form of JSON literals (RFC 8785).

use std::borrow::Cow;
use std::fmt::Write;

use lyceum_core::{Message, message};
use serde_json::{Number, Value};

/// The datatype of JSON literals.
pub(super) const JSON: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";

const BOOLEAN: &str = "http://www.w3.org/2001/XMLSchema#boolean";
const INTEGER: &str = "http://www.w3.org/2001/XMLSchema#integer";
const DOUBLE: &str = "http://www.w3.org/2001/XMLSchema#double";

/// Implementations differ about numbers beyond this.
const GREATEST: f64 = 9_007_199_254_740_992.0;
/// JavaScript writes smaller numbers in another form, which its JSON-LD library treats as integers.
const LEAST: f64 = 1e-6;

/// The lexical form of a string, number or boolean, and its default datatype (JSON-LD 1.1 API, 8.2.2). Errors:
/// implementations differ about the number, or the value is of another type.
pub(super) fn lexical<'a>(
    value: &'a Value,
    datatype: Option<&str>,
) -> Result<(Cow<'a, str>, Option<&'static str>), Message> {
    match value {
        Value::String(_) if datatype == Some(DOUBLE) => {
            Err("write an xsd:double as a number, not as a string".into())
        }
        Value::String(text) => Ok((Cow::Borrowed(text), None)),
        Value::Bool(true) => Ok((Cow::Borrowed("true"), Some(BOOLEAN))),
        Value::Bool(false) => Ok((Cow::Borrowed("false"), Some(BOOLEAN))),
        Value::Number(number) => {
            let number = exact(number)?;
            match number.fract() == 0.0 && datatype != Some(DOUBLE) {
                true => Ok((Cow::Owned(format!("{}", number + 0.0)), Some(INTEGER))),
                false => Ok((Cow::Owned(double(number)), Some(DOUBLE))),
            }
        }
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err("must be a string, a number, true or false".into())
        }
    }
}

fn exact(number: &Number) -> Result<f64, Message> {
    let value = number.as_f64().unwrap_or(f64::INFINITY);
    match value == 0.0 || (LEAST..=GREATEST).contains(&value.abs()) {
        true => Ok(value),
        false => Err(message!(
            "implementations write the number {number} in different ways, so no signature can \
             cover it; write it as a string"
        )),
    }
}

/// The canonical form of `xsd:double`, with at most 16 digits: `5.3E0`.
fn double(number: f64) -> String {
    let text = format!("{number:.15e}");
    let (mantissa, exponent) = text.split_once('e').expect("the format has an exponent");
    let mantissa = mantissa.trim_end_matches('0');
    let digit = if mantissa.ends_with('.') { "0" } else { "" };
    format!("{mantissa}{digit}E{exponent}")
}

/// Whether the text, in lower case, is a language tag in JSON-LD's form.
pub(super) fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let fits = |part: &str| (1..=8).contains(&part.len());
    parts.next().is_some_and(|first| fits(first) && first.bytes().all(|b| b.is_ascii_alphabetic()))
        && parts.all(|part| fits(part) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// The canonical form of JSON (RFC 8785). Errors: a number that implementations write in different ways.
pub(crate) fn canonical_json(value: &Value) -> Result<String, Message> {
    let mut out = String::new();
    write_json(value, &mut out)?;
    Ok(out)
}

fn write_json(value: &Value, out: &mut String) -> Result<(), Message> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        // Within these bounds, Rust writes a number as JavaScript does.
        Value::Number(number) => {
            write!(out, "{}", exact(number)? + 0.0).expect("writing to a string never fails");
        }
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_json(item, out)?;
            }
            out.push(']');
        }
        Value::Object(object) => {
            let mut members: Vec<(Vec<u16>, &String, &Value)> = object
                .iter()
                .map(|(key, value)| (key.encode_utf16().collect(), key, value))
                .collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (index, (_, key, value)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_string(key, out);
                out.push(':');
                write_json(value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("a string is JSON"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_written_as_every_implementation_writes_them() {
        let text = |value: Value| lexical(&value, None).map(|(text, _)| text.into_owned());
        for (number, expected) in [
            (json!(3), "3"),
            (json!(3.0), "3"),
            (json!(-0.0), "0"),
            (json!(0.1 + 0.2), "3.0E-1"),
            (json!(5.25), "5.25E0"),
            (json!(-1234.5), "-1.2345E3"),
            (json!(9_007_199_254_740_992_u64), "9007199254740992"),
        ] {
            assert_eq!(text(number.clone()).as_deref(), Ok(expected), "{number}");
        }
        for number in [json!(9_007_199_254_740_993_i64 + 1), json!(1e30), json!(1e-7), json!(-1e16)]
        {
            assert!(text(number.clone()).is_err(), "{number}");
        }
        assert_eq!(lexical(&json!(3), Some(DOUBLE)).unwrap().0, "3.0E0");
    }

    #[test]
    fn json_literals_are_canonical() {
        let value = json!({"b": [2000.0, 1.5, true, null], "a": "\u{1}\"é", "€": 1, "\r": 2});
        assert_eq!(
            canonical_json(&value).unwrap(),
            "{\"\\r\":2,\"a\":\"\\u0001\\\"é\",\"b\":[2000,1.5,true,null],\"€\":1}"
        );
    }

    #[test]
    fn language_tags_are_checked() {
        for tag in ["en", "en-us", "de-1996", "x-a-b"] {
            assert!(is_language(tag), "{tag}");
        }
        for tag in ["", "e_n", "en-", "123", "abcdefghi", "en-abcdefghi"] {
            assert!(!is_language(tag), "{tag}");
        }
    }
}
