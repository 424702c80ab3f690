//! Identifiers of issuers, `did:key`, `did:jwk` and `did:web`, and the documents that list their keys
//! (Controlled Identifiers 1.0).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use lyceum_core::problem::{Kind, Problem, Result};
use serde_json::{Value, json};

use crate::key::{PublicKey, multikey};

/// The `did:key` of a key: it says the key itself, so it is verified without asking anyone.
pub fn key_of(key: &VerifyingKey) -> String {
    format!("did:key:{}", multikey(key))
}

/// The verification method of a `did:key`: `did:key:z6Mk…#z6Mk…`.
pub fn key_method(key: &VerifyingKey) -> String {
    let multikey = multikey(key);
    format!("did:key:{multikey}#{multikey}")
}

/// The `did:web` of a server with that base address; a port and a path become part of it. Errors:
/// no `http` or `https` address, or one with a query, fragment or user.
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
            Kind::Invalid,
            format!("'{base_url}' cannot be a did:web; write it as https://host/path"),
        )),
    }
}

/// Where the document of a `did:web` is: `https://host/.well-known/did.json`, with a path
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

/// The document that lists the keys of an issuer, each as `(fragment, key)`: all of them may sign
/// credentials, so a key that was followed by another stays in it as long as what it signed is to
/// be verified. `id` is a did or an https address; the methods are `id#fragment`.
pub fn document(id: &str, keys: &[(&str, PublicKey)]) -> Value {
    let methods: Vec<Value> = keys
        .iter()
        .map(|(fragment, key)| {
            let method = format!("{id}#{fragment}");
            match key {
                PublicKey::Ed25519(key) => json!({
                    "id": method, "type": "Multikey", "controller": id,
                    "publicKeyMultibase": multikey(key),
                }),
                other => json!({
                    "id": method, "type": "JsonWebKey", "controller": id,
                    "publicKeyJwk": other.to_jwk(),
                }),
            }
        })
        .collect();
    let ids: Vec<&Value> = methods.iter().map(|method| &method["id"]).collect();
    let mut contexts =
        vec!["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"];
    if keys.iter().any(|(_, key)| !matches!(key, PublicKey::Ed25519(_))) {
        contexts.push("https://w3id.org/security/jwk/v1");
    }
    json!({
        "@context": contexts,
        "id": id,
        "assertionMethod": ids,
        "verificationMethod": methods,
    })
}

/// The document of a `did:key`, which everyone can make from its name. None: it is no did:key, or
/// of a kind of key that is not supported.
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
    fn a_did_web_and_its_address() {
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
    fn a_did_key_says_its_document() {
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
