//! Open Badges 2.0 and before: assertions that are not verifiable credentials. They are recognized by their name and
//! not verified.

use lyceum_core::{Message, message};
use serde_json::Value;

use crate::verify::strings;

const CONTEXTS: [&str; 2] = ["https://w3id.org/openbadges/v2", "https://w3id.org/openbadges/v1"];

/// Errors: the object is an assertion of Open Badges 2.0 or before.
pub(crate) fn refuse(object: &Value) -> Result<(), Message> {
    let contexts = strings(object.get("@context"));
    let is_named = contexts.iter().any(|context| CONTEXTS.contains(&context.trim_end_matches('/')));
    let types = strings(object.get("type"));
    let is_hosted = object.get("badge").is_some()
        && object.get("recipient").is_some()
        && object.get("credentialSubject").is_none();
    match is_named || types.contains(&"Assertion") || is_hosted {
        true => Err(fault("the file is an Open Badges 2.0 assertion")),
        false => Ok(()),
    }
}

/// Errors: the text is an address. Images of Open Badges 2.0 hold that of their assertion.
pub(crate) fn refuse_address(text: &str) -> Result<(), Message> {
    match text.starts_with("https://") || text.starts_with("http://") {
        true => Err(fault(message!(
            "the file holds '{text}', the address of an Open Badges 2.0 assertion"
        ))),
        false => Ok(()),
    }
}

/// The message about a badge of Open Badges 2.0 or before.
pub(crate) fn fault(what: impl Into<Message>) -> Message {
    message!(
        "{what}; this server verifies only Open Badges 3.0, so ask the issuer for an Open Badges \
         3.0 credential",
        what = what.into()
    )
}
