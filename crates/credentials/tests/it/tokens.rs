//! Tokens in each algorithm: `RS256` and `EdDSA` are issued, `ES256` is verified too.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use lyceum_core::time::Timestamp;
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::verify::{Outcome, verify};
use lyceum_credentials::{did, jwt};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RsaKeyPair};
use serde_json::{Value, json};

use crate::samples::{badge, key};

const DID: &str = "did:web:school.example";

fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// The badge of an issuer whose document lists the key as `key-1`; no status.
fn issued(public: &PublicKey) -> (Value, BTreeMap<String, Value>) {
    let mut badge = badge();
    badge["issuer"]["id"] = DID.into();
    badge.as_object_mut().unwrap().remove("credentialStatus");
    let document = did::document(DID, &[("key-1", public.clone())]);
    (badge, [("https://school.example/.well-known/did.json".to_owned(), document)].into())
}

/// A key of 2048 bits, which nothing but this test uses.
fn rsa() -> (RsaKeyPair, PublicKey) {
    let pair = RsaKeyPair::from_pkcs8(include_bytes!("rsa.pk8")).unwrap();
    let public = PublicKey::of_rsa(&pair);
    (pair, public)
}

#[test]
fn a_token_signed_with_rsa_is_confirmed() {
    let (pair, public) = rsa();
    let (badge, documents) = issued(&public);
    let token = jwt::sign(&badge, jwt::Key::Rs256(&pair), &format!("{DID}#key-1")).unwrap();
    assert_eq!(jwt::read(&token).unwrap().algorithm(), "RS256");
    let report = verify(token.as_bytes(), &documents, now());
    assert!(report.is_confirmed(), "{:#?}", report.checks);
    // A key id alone is one of the issuer's.
    let short = jwt::sign(&badge, jwt::Key::Rs256(&pair), "key-1").unwrap();
    assert!(verify(short.as_bytes(), &documents, now()).is_confirmed());
    let (badge, others) = issued(&PublicKey::Ed25519(key().verifying_key()));
    let report = verify(token.as_bytes(), &others, now());
    let proof = report.checks.iter().find(|check| check.name == "proof").unwrap();
    assert_eq!(proof.message, "the token says RS256, and its key signs with EdDSA");
    assert_eq!(badge["issuer"]["id"], DID);
}

#[test]
fn a_token_signed_with_p256_is_confirmed() {
    let random = SystemRandom::new();
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap();
    let public = PublicKey::P256(pair.public_key().as_ref().to_vec());
    assert_eq!(PublicKey::from_jwk(&public.to_jwk()).unwrap(), public);
    let (badge, documents) = issued(&public);
    // What is issued here with another key, its header and signature replaced.
    let ours = jwt::sign(&badge, jwt::Key::EdDsa(&key()), "key-1").unwrap();
    let payload = ours.split('.').nth(1).unwrap();
    let token = |header: &Value| {
        let signed = format!("{}.{payload}", BASE64.encode(header.to_string()));
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        format!("{signed}.{}", BASE64.encode(signature))
    };
    let named = token(&json!({"alg": "ES256", "kid": format!("{DID}#key-1")}));
    assert!(verify(named.as_bytes(), &documents, now()).is_confirmed());
    // A key in the header is the issuer's where the issuer's document lists it.
    let bare = token(&json!({"alg": "ES256", "jwk": public.to_jwk()}));
    assert!(verify(bare.as_bytes(), &documents, now()).is_confirmed());
    let issuer = |documents: &BTreeMap<String, Value>| {
        let report = verify(bare.as_bytes(), documents, now());
        report.checks.into_iter().find(|check| check.name == "issuer").unwrap().outcome
    };
    assert_eq!(issuer(&BTreeMap::new()), Outcome::Skipped);
    let (_, others) = issued(&rsa().1);
    assert_eq!(issuer(&others), Outcome::Failed);
    let mut private = public.to_jwk();
    private["d"] = "AAAA".into();
    let shown = token(&json!({"alg": "ES256", "jwk": private}));
    assert!(!verify(shown.as_bytes(), &documents, now()).is_valid());
}

#[test]
fn claims_that_say_something_else_are_refused() {
    let (badge, documents) = issued(&PublicKey::Ed25519(key().verifying_key()));
    let ours = jwt::sign(&badge, jwt::Key::EdDsa(&key()), "key-1").unwrap();
    let header = ours.split('.').next().unwrap();
    for (claim, value) in [
        ("iss", json!("did:web:other.example")),
        ("iss", Value::Null),
        ("jti", json!("urn:uuid:other")),
        ("sub", json!("did:example:other")),
        ("nbf", json!(1)),
        ("exp", json!(4_000_000_000_u64)),
        ("nbf", json!("2026")),
    ] {
        let mut payload: Value = badge.clone();
        let read = jwt::read(&ours).unwrap();
        payload.as_object_mut().unwrap().extend(read.claims);
        payload[claim] = value;
        let signed = format!("{header}.{}", BASE64.encode(payload.to_string()));
        let signature = ed25519_dalek::Signer::sign(&key(), signed.as_bytes()).to_bytes();
        let token = format!("{signed}.{}", BASE64.encode(signature));
        let report = verify(token.as_bytes(), &documents, now());
        let failed: Vec<&str> = report
            .checks
            .iter()
            .filter(|check| check.outcome == Outcome::Failed)
            .map(|check| check.name)
            .collect();
        assert_eq!(failed, ["claims"], "{claim}: {:#?}", report.checks);
    }
}
