//! `lyceum badge`

use ed25519_dalek::SigningKey;
use lyceum_credentials::status_list::{self, Bits};
use lyceum_credentials::verify::hashed;
use lyceum_credentials::{badge_image, baking, did, proof};
use serde_json::{Value, json};

use crate::transcript::Place;

const LIST: &str = "https://badges.example/status/1";

fn signed(credential: Value) -> Value {
    let key = SigningKey::from_bytes(&[7; 32]);
    let method = did::key_method(&key.verifying_key());
    proof::sign(credential, &key, &method, "2026-01-15T08:00:00Z".parse().unwrap()).unwrap()
}

fn issuer() -> String {
    did::key_of(&SigningKey::from_bytes(&[7; 32]).verifying_key())
}

fn badge() -> Value {
    json!({
        "@context": [
            "https://www.w3.org/ns/credentials/v2",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"
        ],
        "id": "urn:uuid:1",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": {"id": issuer(), "type": ["Profile"], "name": "Riverside"},
        "validFrom": "2025-01-01T00:00:00Z",
        "name": "Fractions",
        "credentialSubject": {
            "type": ["AchievementSubject"],
            "identifier": [{
                "type": "IdentityObject", "hashed": true, "identityType": "emailAddress",
                "identityHash": hashed("ada@school.example", Some("salt")), "salt": "salt"
            }],
            "achievement": {
                "id": "urn:uuid:2", "type": ["Achievement"], "name": "Fractions",
                "description": "All of them", "criteria": {"narrative": "Score of 100"}
            }
        }
    })
}

#[test]
fn a_badge_is_verified_check_by_check() {
    let place = Place::new();
    let good = signed(badge());
    place.write("good.json", &good.to_string());
    let (code, stdout, stderr) = place.run("badge verify good.json");
    assert_eq!((code, stderr.as_str()), (0, "valid: every check passed\n"), "{stdout}");
    let names: Vec<&str> =
        stdout.lines().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(
        names,
        ["parse", "schema", "subject", "proof", "issuer", "status", "validity"],
        "{stdout}"
    );
    let png = baking::bake_png(&badge_image::png("a", "b"), &good.to_string()).unwrap();
    std::fs::write(place.path().join("good.png"), png).unwrap();
    let (code, stdout, _) =
        place.run("--json badge verify good.png --recipient ada@school.example");
    let stdout: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 0, "{stdout:#}");
    assert_eq!((&stdout["valid"], &stdout["confirmed"]), (&true.into(), &true.into()));
    assert_eq!(stdout["credential"]["name"], "Fractions");
    assert_eq!(
        stdout["checks"][7],
        json!({
            "name": "recipient", "outcome": "passed",
            "message": "the credential was given to 'ada@school.example'"
        })
    );

    let (code, stdout, stderr) = place.run("badge verify good.json --recipient bob@school.example");
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("failed   recipient"), "{stdout}");
    assert_eq!(stderr, "error: not valid: 1 of the checks failed\n");
    place.write("changed.json", &good.to_string().replace("All of them", "None of them"));
    let (code, stdout, _) = place.run("badge verify changed.json");
    assert!(code == 1 && stdout.contains("failed   proof        bad signature"), "{stdout}");
    assert_eq!(place.run("badge verify none.json").0, 4);
    assert_eq!(place.run("badge verify good.json --fetched x").0, 2);
}

#[test]
fn a_status_list_is_read_from_a_file() {
    let place = Place::new();
    let mut listed = badge();
    listed["credentialStatus"] = status_list::entry(LIST, 5);
    place.write("badge.json", &signed(listed).to_string());
    let mut bits = Bits::default();
    let mut write = |name: &str, revoked: bool| {
        bits.set(5, revoked).unwrap();
        let from = "2026-01-01T00:00:00Z".parse().unwrap();
        let list = status_list::credential(LIST, &issuer(), &bits, from, 300_000);
        place.write(name, &signed(list).to_string());
    };
    write("clear.json", false);
    write("revoked.json", true);
    let (code, stdout, stderr) = place.run("badge verify badge.json");
    assert_eq!(code, 0, "{stdout}");
    assert!(stderr.contains("no check failed, but 1 could not be run"), "{stderr}");
    assert!(stderr.contains(&format!("--fetched {LIST}=FILE")), "{stderr}");
    assert_eq!(place.run("badge verify badge.json --strict").0, 1);
    let with = |file: &str| {
        place.run(&format!("badge verify badge.json --fetched {LIST}={file} --strict"))
    };
    let (code, stdout, stderr) = with("clear.json");
    assert_eq!(code, 0, "{stdout}{stderr}");
    let (code, stdout, _) = with("revoked.json");
    assert!(code == 1 && stdout.contains("the credential is revoked"), "{stdout}");
}
