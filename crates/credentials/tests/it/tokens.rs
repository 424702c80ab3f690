//! Tokens in each algorithm: `RS256` and `EdDSA` are issued, `ES256` is verified too.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use lyceum_core::time::Timestamp;
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::verify::{CheckOutcome, verify};
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
    assert_eq!(proof.message, "the token names the algorithm RS256, but its key signs with EdDSA");
    assert_eq!(badge["issuer"]["id"], DID);
}

#[test]
fn a_token_signed_with_p256_is_confirmed() {
    let random = SystemRandom::new();
    let created = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, created.as_ref(), &random)
            .unwrap();
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
    assert_eq!(issuer(&BTreeMap::new()), CheckOutcome::Failed, "anyone could put one there");
    let (_, others) = issued(&rsa().1);
    assert_eq!(issuer(&others), CheckOutcome::Failed);
    let mut private = public.to_jwk();
    private["d"] = "AAAA".into();
    let shown = token(&json!({"alg": "ES256", "jwk": private}));
    assert!(!verify(shown.as_bytes(), &documents, now()).is_valid());
}

#[test]
fn claims_that_contradict_the_credential_are_refused() {
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
            .filter(|check| check.outcome == CheckOutcome::Failed)
            .map(|check| check.name)
            .collect();
        assert_eq!(failed, ["claims"], "{claim}: {:#?}", report.checks);
    }
}

#[test]
fn a_key_in_the_name_of_a_key_counts_only_if_the_issuers_document_lists_it() {
    let public = PublicKey::Ed25519(key().verifying_key());
    let other = PublicKey::Ed25519(ed25519_dalek::SigningKey::from_bytes(&[9; 32]).verifying_key());
    let web = "https://school.example/i";
    let own = did::key_of(&key().verifying_key());
    let name = own.trim_start_matches("did:key:");
    for (issuer, address) in [(web, web), (DID, "https://school.example/.well-known/did.json")] {
        let named = token(issuer, &json!({"alg": "EdDSA", "kid": format!("{issuer}#{name}")}));
        let short = token(issuer, &json!({"alg": "EdDSA", "kid": name}));
        for token in [named, short] {
            let outcome = |documents: &BTreeMap<String, Value>| {
                let report = verify(token.as_bytes(), documents, now());
                let issuer = report.checks.iter().find(|check| check.name == "issuer");
                (report.is_valid(), report.is_confirmed(), issuer.map(|check| check.outcome))
            };
            assert_eq!(outcome(&BTreeMap::new()), (false, false, Some(CheckOutcome::Failed)));
            let unread = BTreeMap::from([(address.to_owned(), Value::Null)]);
            assert_eq!(
                outcome(&unread),
                (false, false, Some(CheckOutcome::Failed)),
                "it answered 404"
            );
            let document = |key: &PublicKey| {
                let document = did::document(issuer, &[(name, key.clone())]);
                BTreeMap::from([(address.to_owned(), document)])
            };
            assert_eq!(outcome(&document(&public)), (true, true, Some(CheckOutcome::Passed)));
            assert!(!outcome(&document(&other)).0, "the document has another key of that name");
        }
    }
}

/// A token of the issuer with that header, signed by the key of the samples.
fn token(issuer: &str, header: &Value) -> String {
    let mut badge = badge();
    badge["issuer"]["id"] = issuer.into();
    badge.as_object_mut().unwrap().remove("credentialStatus");
    let ours = jwt::sign(&badge, jwt::Key::EdDsa(&key()), "key-1").unwrap();
    let payload = ours.split('.').nth(1).unwrap();
    let signed = format!("{}.{payload}", BASE64.encode(header.to_string()));
    let signature = ed25519_dalek::Signer::sign(&key(), signed.as_bytes()).to_bytes();
    format!("{signed}.{}", BASE64.encode(signature))
}

#[test]
fn a_key_in_a_token_counts_only_if_the_issuers_document_lists_it() {
    let public = PublicKey::Ed25519(key().verifying_key());
    let other = PublicKey::Ed25519(ed25519_dalek::SigningKey::from_bytes(&[9; 32]).verifying_key());
    let own = did::key_of(&key().verifying_key());
    let as_jwk = |jwk: &Value| format!("did:jwk:{}", BASE64.encode(jwk.to_string()));
    let own_jwk = as_jwk(&public.to_jwk());
    let mut encrypts = public.to_jwk();
    encrypts["use"] = "enc".into();
    let bare = json!({"alg": "EdDSA", "jwk": public.to_jwk()});
    let by = |kid: &str| json!({"alg": "EdDSA", "kid": kid});
    let both = |kid: &str| json!({"alg": "EdDSA", "kid": kid, "jwk": public.to_jwk()});
    let address = "https://school.example/.well-known/did.json";
    let listing = |document: Value| BTreeMap::from([(address.to_owned(), document)]);
    let lists = listing(did::document(DID, &[("key-1", public.clone())]));
    let mut only_authenticates = did::document(DID, &[("key-1", public.clone())]);
    only_authenticates["authentication"] = only_authenticates["assertionMethod"].take();
    let mut of_another = did::document(&own, &[("key-1", public.clone())]);
    of_another["id"] = DID.into();
    let nothing = BTreeMap::new();
    for (what, issuer, header, documents) in [
        ("listed", DID, &bare, &lists),
        ("a did:key is its own document", own.as_str(), &bare, &nothing),
        ("a did:jwk is its own document", own_jwk.as_str(), &bare, &nothing),
        ("a did:jwk names its key", own_jwk.as_str(), &by(&format!("{own_jwk}#0")), &nothing),
        ("a key id is stronger than a key", DID, &both("key-1"), &lists),
    ] {
        let report = verify(token(issuer, header).as_bytes(), documents, now());
        assert!(report.is_confirmed(), "{what}: {:#?}", report.checks);
    }
    let others_key = did::key_of(&ed25519_dalek::SigningKey::from_bytes(&[9; 32]).verifying_key());
    for (what, issuer, header, documents) in [
        ("no document at hand", DID, &bare, &nothing),
        ("an issuer without documents", "https://school.example/about", &bare, &nothing),
        ("another key", DID, &bare, &listing(did::document(DID, &[("key-1", other.clone())]))),
        ("not for assertions", DID, &bare, &listing(only_authenticates)),
        ("a key that another controls", DID, &bare, &listing(of_another.clone())),
        ("a did:key of another key", others_key.as_str(), &bare, &nothing),
        ("a did:jwk of another key", &as_jwk(&other.to_jwk()), &bare, &nothing),
        ("a did:jwk that encrypts", &as_jwk(&encrypts), &bare, &nothing),
        ("the key id of another party", DID, &by(&format!("{own}#{}", &own[8..])), &lists),
        ("the same with the key beside it", DID, &both(&format!("{own_jwk}#0")), &lists),
        ("no fragment of the did:jwk", own_jwk.as_str(), &by(&format!("{own_jwk}#1")), &nothing),
    ] {
        let report = verify(token(issuer, header).as_bytes(), documents, now());
        assert!(!report.is_valid(), "{what}: {:#?}", report.checks);
    }
}
