//! Credentials signed here, before independent verifiers; and the other way round.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::verify::{hashed, verify};
use lyceum_credentials::{badge_image, baking, did, jwt, proof};
use serde_json::{Value, json};

use crate::npm;
use crate::samples::{CREATED, badge, key, record, signed};

const RECIPIENT: &str = "ada@school.example";

/// A badge for [`RECIPIENT`] whose status list need not be asked.
fn plain() -> Value {
    let mut badge = badge();
    badge.as_object_mut().unwrap().remove("credentialStatus");
    let subject = &mut badge["credentialSubject"];
    subject["id"] = format!("mailto:{RECIPIENT}").into();
    subject["identifier"][0]["identityHash"] = hashed(RECIPIENT, Some("Kosher")).into();
    badge
}

#[test]
#[ignore = "rest"]
fn the_javascript_stack_accepts_what_is_signed_here() {
    let did = "did:web:school.example";
    let mut ours = plain();
    ours["issuer"]["id"] = did.into();
    let method = format!("{did}#key-1");
    let ours = proof::sign(ours, &key(), &method, CREATED.parse().unwrap()).unwrap();
    let name = did::key_of(&key().verifying_key());
    let good = [signed(badge()), signed(record(&[signed(plain())])), ours.clone()];
    let mut bad = ours;
    bad["credentialSubject"]["achievement"]["name"] = "Decimals".into();
    let documents = json!({
        did: did::document(did, &[("key-1", PublicKey::Ed25519(key().verifying_key()))]),
        &name: did::key_document(&name),
    });
    let verify: Vec<&Value> = good.iter().chain([&bad]).collect();
    let unsigned = json!({
        "@context": plain()["@context"], "id": "urn:uuid:1",
        "type": ["VerifiableCredential", "EndorsementCredential"],
        "issuer": name, "validFrom": "2026-01-01T00:00:00Z", "name": "Recommended",
        "credentialSubject": {
            "id": "urn:uuid:2", "type": ["EndorsementSubject"], "endorsementComment": "\u{1}½\n"
        }
    });
    let seed = "07".repeat(32);
    let answer = npm::verify(
        &json!({"verify": verify, "documents": documents, "sign": [unsigned], "seed": seed}),
    );
    let verified: Vec<bool> =
        answer["verified"].as_array().unwrap().iter().map(|one| one["verified"] == true).collect();
    assert_eq!(verified, [true, true, true, false], "{:#}", answer["verified"]);
    assert_eq!(answer["verified"][3]["error"], "Invalid signature.");
    let theirs = answer["signed"][0].to_string();
    let now = "2026-06-01T00:00:00Z".parse().unwrap();
    let report = is_confirmed(&theirs, now);
    assert!(report, "{theirs}");
    assert!(!is_confirmed(&theirs.replace("Recommended", "Recommende"), now));
}

fn is_confirmed(credential: &str, now: lyceum_core::time::Timestamp) -> bool {
    verify(credential.as_bytes(), &BTreeMap::new(), now).is_confirmed()
}

#[test]
#[ignore = "rest"]
fn the_python_stack_accepts_what_is_signed_and_baked_here() {
    let public = key().verifying_key();
    // SubjectPublicKeyInfo of Ed25519 (RFC 8410): a fixed head, then the key.
    let head = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
    let spki = BASE64_STANDARD.encode([&head[..], public.as_bytes()].concat());
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{spki}\n-----END PUBLIC KEY-----\n");
    let good = signed(plain());
    let mut bad = good.clone();
    bad["name"] = "Decimals".into();
    let token = |credential: &Value| {
        jwt::sign(credential, jwt::Key::EdDsa(&key()), &did::key_method(&public)).unwrap()
    };
    let (right, wrong) = (token(&plain()), token(&plain()).replace('.', ".e"));
    let folder = tempfile::tempdir().unwrap();
    let png = badge_image::png("Fractions", "Riverside");
    let svg = badge_image::svg("Fractions", "Riverside");
    let write =
        |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("token.png", baking::bake_png(&png, &right).unwrap());
    write("token.svg", baking::bake_svg(&svg, &right).unwrap().into_bytes());
    write("json.png", baking::bake_png(&png, &good.to_string()).unwrap());
    write("json.svg", baking::bake_svg(&svg, &good.to_string()).unwrap().into_bytes());
    write("changed.png", baking::bake_png(&png, &bad.to_string()).unwrap());
    let images = ["token.png", "token.svg", "json.png", "json.svg", "changed.png"];
    let input = json!({
        "pem": pem, "recipient": RECIPIENT, "documents": [good, bad], "tokens": [right, wrong],
        "images": images,
    });
    write("asked.json", input.to_string().into_bytes());
    let answer = python(folder.path());
    assert_eq!(answer["documents"][0], json!([true, true]), "{answer:#}");
    assert!(answer["documents"][1].as_array().unwrap().iter().all(Value::is_string), "{answer:#}");
    assert_eq!(answer["tokens"][0], true, "{answer:#}");
    assert!(answer["tokens"][1].is_string(), "{answer:#}");
    for (index, name) in images.iter().enumerate() {
        assert_eq!(answer["images"][index] == true, *name != "changed.png", "{name}: {answer:#}");
    }
}

fn python(folder: &Path) -> Value {
    let root = npm::root();
    let run = Command::new("python3")
        .arg(root.join("tests/clients/bootstrap.py"))
        .args([root.join("target/venvs"), "badges".into()])
        .args([root.join("tests/verifiers/openbadges.py"), folder.to_owned()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 is installed");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}
