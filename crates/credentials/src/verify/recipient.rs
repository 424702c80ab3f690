//! Whether a credential was given to a person: hashed identities (Open Badges 3.0, `IdentityObject`).

use lyceum_core::message;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Check;

const NAME: &str = "recipient";

/// Whether the credential is about who has that identity: an e-mail address or another identifier,
/// or the subject's id.
pub fn check(credential: &Value, identity: &str) -> Check {
    let subject = &credential["credentialSubject"];
    let identifiers = match &subject["identifier"] {
        Value::Array(many) => many.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    let id = subject["id"].as_str();
    let by_id = id.is_some_and(|id| id == identity || id.strip_prefix("mailto:") == Some(identity));
    if by_id || identifiers.iter().any(|entry| matches_identity(entry, identity)) {
        return Check::passed(NAME, message!("the credential was given to '{identity}'"));
    }
    Check::failed(NAME, message!("the credential was not given to '{identity}'"))
}

fn matches_identity(entry: &Value, identity: &str) -> bool {
    let hash = entry["identityHash"].as_str().unwrap_or_default();
    match entry["hashed"].as_bool() {
        Some(true) => hash.eq_ignore_ascii_case(&hashed(identity, entry["salt"].as_str())),
        _ => hash == identity,
    }
}

/// An identity as `identityHash` holds it: `sha256$` and the hexadecimal hash of identity and salt.
pub fn hashed(identity: &str, salt: Option<&str>) -> String {
    let hash = Sha256::new_with_prefix(identity).chain_update(salt.unwrap_or_default());
    let hex = crate::rdf::hex(hash);
    format!("sha256${}", String::from_utf8_lossy(hex.as_ref()))
}
