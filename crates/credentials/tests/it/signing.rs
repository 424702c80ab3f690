//! Credentials that are signed here are read here, and no part of them can be changed.

use ed25519_dalek::SigningKey;
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::{canonize, did, json, jwt, proof};
use serde_json::Value;

use crate::samples::{badge, key, signed};

fn public() -> PublicKey {
    PublicKey::Ed25519(key().verifying_key())
}

fn check(credential: &Value) -> Result<(), proof::Fault> {
    proof::check(credential, &proof::proofs(credential)[0], &public())
}

#[test]
fn a_signed_badge_is_accepted_in_any_order_of_its_members() {
    let signed = signed(badge());
    check(&signed).unwrap();
    let mut turned: Value = signed.clone();
    let object = turned.as_object_mut().unwrap();
    let members: Vec<(String, Value)> = object.clone().into_iter().rev().collect();
    *object = members.into_iter().collect();
    assert_ne!(turned.to_string(), signed.to_string());
    check(&turned).unwrap();
    let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
    let proof = &proof::proofs(&signed)[0];
    let fault = proof::check(&signed, proof, &PublicKey::Ed25519(other)).unwrap_err();
    assert!(matches!(fault, proof::Fault::Signature), "{fault:?}");
}

#[test]
fn a_change_of_any_byte_of_a_signed_badge_is_noticed() {
    let text = signed(badge()).to_string();
    let (mut unread, mut refused) = (0, 0);
    let mut accepted = Vec::new();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        // Another letter case, or another character if it is not a letter.
        bytes[at] ^= if bytes[at].is_ascii_alphabetic() { 0x20 } else { 1 };
        match json::read(&bytes) {
            Err(_) => unread += 1,
            Ok(changed) if check_any(&changed).is_err() => refused += 1,
            Ok(changed) => accepted.push(changed),
        }
    }
    // The context gives the class Criteria and the property criteria one IRI. The verifier misses
    // the property.
    let [turned] = &accepted[..] else { panic!("{accepted:#?}") };
    assert!(turned["credentialSubject"]["achievement"]["Criteria"].is_object());
    assert!(refused > 1500, "{refused} changes were read and refused, {unread} were no JSON");
}

/// Checks what may have lost its proof.
fn check_any(credential: &Value) -> Result<(), proof::Fault> {
    match proof::proofs(credential) {
        [proof] => proof::check(credential, proof, &public()),
        _ => Err(proof::Fault::Signature),
    }
}

#[test]
fn a_badge_as_jwt_repeats_itself_in_claims() {
    let method = did::key_method(&key().verifying_key());
    let token = jwt::sign(&badge(), jwt::Key::EdDsa(&key()), &method).unwrap();
    let read = jwt::read(&token).unwrap();
    assert_eq!(read.credential, badge());
    assert_eq!(read.header["kid"], method);
    assert_eq!(read.claims["nbf"], 1_767_225_600);
    assert_eq!(read.claims["sub"], "did:example:ada");
    assert_eq!(read.differences(crate::samples::CREATED.parse().unwrap()), [""; 0]);
    assert!(read.is_signed_by(&public()));
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[at] ^= 1;
        let changed = String::from_utf8(changed).unwrap();
        let accepted = jwt::read(&changed).is_ok_and(|token| token.is_signed_by(&public()));
        assert!(!accepted, "byte {at} of {token}");
    }
}

#[test]
fn canonical_text_contains_all_statements_of_a_badge() {
    let text = canonize(&badge()).unwrap();
    for line in [
        "\"2.5E0\"^^<https://www.w3.org/2001/XMLSchema#float>",
        "\"3\"^^<https://www.w3.org/2001/XMLSchema#float>",
        "\"true\"^^<https://www.w3.org/2001/XMLSchema#boolean>",
        "\"Adds, compares and divides \\\"fractions\\\"\\n½ + ⅓ = ⅚ 🎓\"",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>",
        "<https://www.w3.org/ns/credentials/status#statusListIndex> \"17\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
