//! Reads request bodies: JSON objects and their members. Errors name the member.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message, messages};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::json;
use crate::limits;

/// A JSON object.
pub type Object = Map<String, Value>;

/// Reads a body as a type. Errors: those of [`parse`]; `Invalid` with every error and its path if members break the schema
/// of the type.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(text: &[u8]) -> Result<T> {
    lyceum_core::body::of(Value::Object(parse(text)?))
}

/// Reads a body. Errors: `Malformed` if it is not a JSON object, is nested too deeply, repeats a member
/// or contains the character U+0000, which PostgreSQL cannot store.
pub fn parse(text: &[u8]) -> Result<Object> {
    let malformed = |message: &'static str| Problem::new(ProblemKind::Malformed, message);
    let value = json::read(text)?;
    if has_nul(&value) {
        return Err(malformed("the body must not contain the character U+0000"));
    }
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(malformed("the body must be a JSON object")),
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(members) => members.iter().any(has_nul),
        Value::Object(members) => {
            members.iter().any(|(name, member)| name.contains('\0') || has_nul(member))
        }
        _ => false,
    }
}

/// The text of a member; `None` if it is missing or empty. Errors: `Invalid` at the path for another
/// type.
pub fn opt_text<'o>(object: &'o Object, name: &str, path: &str) -> Result<Option<&'o str>> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(Problem::invalid(path, messages::MUST_BE_STRING)),
    }
}

/// The text of a required member. Errors: `Invalid` at the path.
pub fn text<'o>(object: &'o Object, name: &str, path: &str) -> Result<&'o str> {
    opt_text(object, name, path)?
        .ok_or_else(|| Problem::invalid(path, messages::required("a string")))
}

/// The absolute URI of a required member. Errors: `Invalid` at the path.
pub fn uri<'o>(object: &'o Object, name: &str, path: &str) -> Result<&'o str> {
    let uri = text(object, name, path)?;
    match is_uri(uri) {
        true => Ok(uri),
        false => Err(Problem::invalid(
            path,
            "must be an absolute URI, such as https://example.org/badges/1 or urn:uuid:…",
        )),
    }
}

/// The instant of a member, in any offset. Errors: `Invalid` at the path.
pub fn opt_instant(object: &Object, name: &str, path: &str) -> Result<Option<Timestamp>> {
    let Some(text) = opt_text(object, name, path)? else { return Ok(None) };
    instant(text).map(Some).ok_or_else(|| Problem::invalid(path, not_an_instant(text)))
}

/// The error of a text that is not an instant.
pub(crate) fn not_an_instant(text: &str) -> Message {
    message!("{rule} (got '{text}')", rule = Message::from(messages::MUST_BE_INSTANT))
}

/// Parses an instant with date and time. A date alone is rejected.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|_| text.len() > "2026-01-15".len())
}

/// Whether a member that may be one text or a list of texts has the text.
pub fn has_type(object: &Object, wanted: &str) -> bool {
    match object.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(all)) => all.iter().any(|one| one == wanted),
        _ => false,
    }
}

/// The objects of a member that may be one object or a list. Other values are skipped.
pub fn objects<'o>(object: &'o Object, name: &str) -> impl Iterator<Item = &'o Object> {
    let members = match object.get(name) {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    members.iter().filter_map(Value::as_object)
}

/// Whether the credential is signed. Clients also send an empty list of proofs, or null.
pub fn has_proof(credential: &Object) -> bool {
    match credential.get("proof") {
        Some(Value::Array(proofs)) => !proofs.is_empty(),
        proof => proof.is_some_and(Value::is_object),
    }
}

/// The id of an issuer, which is a text or an object with an `id`.
pub fn issuer_id(credential: &Object) -> Option<&str> {
    match credential.get("issuer")? {
        Value::String(id) => Some(id),
        issuer => issuer.get("id")?.as_str(),
    }
}

/// Whether the text is an absolute URI within the limit.
pub fn is_uri(text: &str) -> bool {
    text.len() <= limits::CREDENTIAL_ID_MAX_BYTES && lyceum_core::text::is_uri(text)
}
