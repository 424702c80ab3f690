//! Identifiers of issuers, `did:key`, `did:jwk` and `did:web`, and the documents that list their keys
//! (Controlled Identifiers 1.0).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use lyceum_core::message;
use lyceum_core::problem::{Problem, ProblemKind, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::key::{PublicKey, multikey};

/// The `did:key` of a key. It contains the key, so verifiers need no document.
pub fn key_of(key: &VerifyingKey) -> String {
    format!("did:key:{}", multikey(key))
}

/// The verification method of a `did:key`: `did:key:z6Mk…#z6Mk…`.
pub fn key_method(key: &VerifyingKey) -> String {
    let multikey = multikey(key);
    format!("did:key:{multikey}#{multikey}")
}

/// The `did:web` of a server with that base address, including port and path. Errors: the address is not `http` or `https`,
/// or has a query, fragment or user.
pub fn web(base_url: &str) -> Result<String> {
    let rest = base_url.strip_prefix("https://").or_else(|| base_url.strip_prefix("http://"));
    let rest = rest.map(|rest| rest.trim_end_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', '@', '%', '[']) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let mut did = format!("did:web:{}", host.replace(':', "%3A"));
            for segment in path.split('/').filter(|segment| !segment.is_empty()) {
                did.push(':');
                did.push_str(segment);
            }
            Ok(did)
        }
        _ => Err(Problem::new(
            ProblemKind::Invalid,
            message!("'{base_url}' cannot be a did:web; write it as https://host/path"),
        )),
    }
}

/// The address of the document of a `did:web`: `https://host/.well-known/did.json`, or with a path
/// `https://host/path/did.json`. `None` if it is not a did:web.
pub fn web_address(did: &str) -> Option<String> {
    let rest = did.strip_prefix("did:web:").filter(|rest| !rest.contains(['/', '?', '#', '@']))?;
    let mut parts = rest.split(':');
    let host = parts.next().filter(|host| !host.is_empty())?;
    let host = host.replace("%3A", ":").replace("%3a", ":");
    let path: Vec<&str> = parts.collect();
    if path.iter().any(|segment| segment.is_empty() || segment.starts_with('.')) {
        return None;
    }
    Some(match path.is_empty() {
        true => format!("https://{host}/.well-known/did.json"),
        false => format!("https://{host}/{}/did.json", path.join("/")),
    })
}

/// The document of a DID: it lists the keys of an issuer ([Controlled Identifiers
/// 1.0](https://www.w3.org/TR/cid-1.0/), [did:web](https://w3c-ccg.github.io/did-method-web/)).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DidDocument {
    /// The JSON-LD contexts.
    #[serde(rename = "@context")]
    contexts: Vec<&'static str>,
    /// The DID.
    id: String,
    /// The ids of the keys that may sign credentials.
    assertion_method: Vec<String>,
    /// The keys.
    verification_method: Vec<VerificationMethod>,
}

/// A public key of an issuer (Controlled Identifiers 1.0, section 2.2).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VerificationMethod {
    /// The id, which proofs name.
    id: String,
    /// "Multikey" or "`JsonWebKey`".
    #[serde(rename = "type")]
    method_type: &'static str,
    /// The DID of the owner.
    controller: String,
    /// The key as a Multikey.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_multibase: Option<String>,
    /// The key as a JWK (RFC 7517).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    public_key_jwk: Option<Value>,
}

impl DidDocument {
    /// The document of the issuer `id`, a DID or an https address. Each key is a pair of fragment and key; all may sign
    /// credentials. A replaced key stays in the document as long as its signatures must be verified.
    pub fn new(id: &str, keys: &[(&str, PublicKey)]) -> Self {
        let methods: Vec<VerificationMethod> =
            keys.iter().map(|(fragment, key)| VerificationMethod::new(id, fragment, key)).collect();
        let mut contexts =
            vec!["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"];
        if methods.iter().any(|method| method.public_key_jwk.is_some()) {
            contexts.push("https://w3id.org/security/jwk/v1");
        }
        Self {
            contexts,
            id: id.to_owned(),
            assertion_method: methods.iter().map(|method| method.id.clone()).collect(),
            verification_method: methods,
        }
    }
}

impl VerificationMethod {
    fn new(id: &str, fragment: &str, key: &PublicKey) -> Self {
        let (method_type, public_key_multibase, public_key_jwk) = match key {
            PublicKey::Ed25519(key) => ("Multikey", Some(multikey(key)), None),
            other => ("JsonWebKey", None, Some(other.to_jwk())),
        };
        Self {
            id: format!("{id}#{fragment}"),
            method_type,
            controller: id.to_owned(),
            public_key_multibase,
            public_key_jwk,
        }
    }
}

/// [`DidDocument::new`] as JSON.
pub fn document(id: &str, keys: &[(&str, PublicKey)]) -> Value {
    serde_json::to_value(DidDocument::new(id, keys)).expect("its keys are texts")
}

/// The document of a `did:key`, which follows from its name. `None` for another DID method and for a kind of key that is not
/// supported.
pub fn key_document(did: &str) -> Option<Value> {
    let multikey = did.strip_prefix("did:key:")?;
    let key = PublicKey::from_multikey(multikey).ok()?;
    Some(document(did, &[(multikey, key)]))
}

/// The document of a `did:jwk`, whose name is the key as a JWK. A key for encryption signs nothing. Answers
/// nothing for another DID method and for a kind of key that is not supported.
pub fn jwk_document(did: &str) -> Option<Value> {
    let name = did.strip_prefix("did:jwk:")?;
    let jwk: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(name).ok()?).ok()?;
    let is_for_signing = jwk["use"].as_str().is_none_or(|usage| usage == "sig");
    let key = PublicKey::from_jwk(&jwk).ok()?;
    (is_for_signing && jwk.get("d").is_none()).then(|| document(did, &[("0", key)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_did_web_is_converted_to_its_address_and_back() {
        for (base, did, address) in [
            ("https://a.example", "did:web:a.example", "https://a.example/.well-known/did.json"),
            ("https://a.example/x/y/", "did:web:a.example:x:y", "https://a.example/x/y/did.json"),
            (
                "http://localhost:8080",
                "did:web:localhost%3A8080",
                "https://localhost:8080/.well-known/did.json",
            ),
        ] {
            assert_eq!(web(base).unwrap(), did);
            assert_eq!(web_address(did).unwrap(), address);
        }
        for base in ["", "https://", "ftp://a", "https://a?b", "https://me@a"] {
            assert!(web(base).is_err(), "{base}");
        }
        for did in ["did:web:", "did:web:a::b", "did:web:a:..:b", "did:key:z6Mk", "did:web:a#b"] {
            assert_eq!(web_address(did), None, "{did}");
        }
    }

    #[test]
    fn the_document_of_a_did_key_contains_its_key() {
        let did = "did:key:z6MkjZRZv3aez3r18pB1RBFJR1kwUVJ5jHt92JmQwXbd5hwi";
        let document = key_document(did).unwrap();
        assert_eq!(document["assertionMethod"][0], document["verificationMethod"][0]["id"]);
        assert_eq!(document["verificationMethod"][0]["controller"], did);
        let PublicKey::Ed25519(key) =
            PublicKey::from_method(&document["verificationMethod"][0]).unwrap()
        else {
            panic!("{document}")
        };
        assert_eq!(
            (key_of(&key), key_method(&key)),
            (did.to_owned(), format!("{did}#{}", &did[8..]))
        );
        assert_eq!(key_document("did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc"), None);
    }
}
