//! Notices tell the caller of a successful request what the server did otherwise than asked: in one header, and in the
//! member `warnings` of bodies that have it.

use std::fmt::Write;

use http::{HeaderMap, HeaderName, HeaderValue};
use lyceum_core::Detail;
use serde_json::{Value, json};

use crate::limits;

/// The header: a list of strings (RFC 9651, section 3.1), one for each notice, as `path: message`. Characters beyond
/// ASCII are percent-encoded.
pub const X_LYCEUM_NOTICE: HeaderName = HeaderName::from_static("x-lyceum-notice");

/// Sets the header if there is a notice. Notices that do not fit are counted in the last string: `"and 3 more"`.
pub fn set(headers: &mut HeaderMap, notices: &[Detail]) {
    let mut list = String::new();
    for (number, notice) in notices.iter().enumerate() {
        let text = string(&notice.to_string());
        let comma = if list.is_empty() { "" } else { ", " };
        if list.len() + comma.len() + text.len() > limits::NOTICE_HEADER_MAX_BYTES {
            let rest = notices.len() - number;
            list.extend([comma, "\"and ", &rest.to_string(), " more\""]);
            break;
        }
        list.extend([comma, &text]);
    }
    let value = (!list.is_empty()).then(|| HeaderValue::try_from(list));
    if let Some(Ok(value)) = value {
        headers.insert(X_LYCEUM_NOTICE, value);
    }
}

/// The member `warnings` with a comma before it, for the end of a JSON object; empty without notices.
pub fn member(notices: &[Detail]) -> String {
    match notices {
        [] => String::new(),
        notices => format!(",\"warnings\":{}", json!(notices)),
    }
}

/// The JSON Schema of the member `warnings`.
pub fn schema() -> Value {
    let detail = json!({
        "type": "object",
        "required": ["path", "message"],
        "properties": { "path": { "type": "string" }, "message": { "type": "string" } },
    });
    json!({ "type": "array", "items": detail })
}

/// A text as a string of a structured header.
fn string(text: &str) -> String {
    let mut string = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => string.extend(['\\', char::from(byte)]),
            b' '..=b'~' => string.push(char::from(byte)),
            _ => drop(write!(string, "%{byte:02X}")),
        }
    }
    string.push('"');
    string
}
