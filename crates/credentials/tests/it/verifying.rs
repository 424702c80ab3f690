//! The verifier against everything that can be wrong.

use std::collections::BTreeMap;

use lyceum_core::random::RandomStream;
use lyceum_core::time::Timestamp;
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::status_list::{self, Bits, RevocationList};
use lyceum_credentials::verify::{
    CheckOutcome, Report, hashed, missing_documents, recipient, verify,
};
use lyceum_credentials::{badge_image, baking, did, jwt, proof};
use serde_json::{Value, json};

use crate::samples::{CREATED, badge, key, record, signed};

pub(crate) type Documents = BTreeMap<String, Value>;

pub(crate) fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn outcome(report: &Report, name: &str) -> Option<CheckOutcome> {
    let mut named = report.checks.iter().filter(|check| check.name == name);
    let first = named.next()?.outcome;
    named.all(|check| check.outcome == first).then_some(first)
}

/// The first check that failed, by name and message.
fn fault(report: &Report) -> (&str, String) {
    let failed = report.checks.iter().find(|check| check.outcome == CheckOutcome::Failed);
    failed.map_or(("", String::new()), |check| (check.name, check.message.to_string()))
}

#[test]
fn a_badge_is_confirmed_in_every_form() {
    let credential = signed(badge());
    let method = did::key_method(&key().verifying_key());
    let token = jwt::sign(&badge(), jwt::Key::EdDsa(&key()), &method).unwrap();
    let json = credential.to_string();
    let png = badge_image::png("a", "b");
    let svg = badge_image::svg("a", "b");
    let documents = lists(&[]);
    for input in [
        json.clone().into_bytes(),
        format!("\u{feff}\n{json}\n").into_bytes(),
        token.clone().into_bytes(),
        baking::bake_png(&png, &json).unwrap(),
        baking::bake_png(&png, &token).unwrap(),
        baking::bake_svg(&svg, &json).unwrap().into_bytes(),
        baking::bake_svg(&svg, &token).unwrap().into_bytes(),
    ] {
        assert_eq!(
            missing_documents(&input, &Documents::new()),
            ["https://badges.example/status/1"]
        );
        assert_eq!(missing_documents(&input, &documents), [""; 0]);
        let report = verify(&input, &documents, now());
        assert!(report.is_valid() && report.is_confirmed(), "{:#?}", report.checks);
        assert_eq!(report.credential["id"], "https://badges.example/credentials/1");
        let offline = verify(&input, &Documents::new(), now());
        assert!(offline.is_valid() && !offline.is_confirmed());
        assert_eq!(outcome(&offline, "status"), Some(CheckOutcome::Skipped));
    }
}

/// The status list of the sample, with those bits set.
fn lists(revoked: &[usize]) -> Documents {
    lists_from(revoked, CREATED.parse().unwrap())
}

/// [`lists`], signed at an instant.
fn lists_from(revoked: &[usize], signed_at: Timestamp) -> Documents {
    let mut bits = Bits::default();
    for index in revoked {
        bits.set(*index, true).unwrap();
    }
    let url = "https://badges.example/status/1";
    let issuer = did::key_of(&key().verifying_key());
    let list = status_list::credential(url, &issuer, &bits, signed_at, 300_000);
    [(url.to_owned(), signed(list))].into()
}

#[test]
fn revocation_is_seen_in_both_kinds_of_list() {
    let check = |credential: &Value, documents: &Documents| {
        let report = verify(credential.to_string().as_bytes(), documents, now());
        let (name, message) = fault(&report);
        (name.to_owned(), message, report.is_confirmed())
    };
    let credential = signed(badge());
    assert_eq!(check(&credential, &lists(&[16, 18])), (String::new(), String::new(), true));
    let (name, message, _) = check(&credential, &lists(&[17]));
    assert_eq!((name.as_str(), message.as_str()), ("status", "the credential is revoked"));
    let mut forged = lists(&[]);
    let list = forged.values_mut().next().unwrap();
    list["credentialSubject"]["ttl"] = 1.into();
    let (name, message, _) = check(&credential, &forged);
    assert_eq!(name, "status");
    assert!(message.contains("bad signature"), "{message}");

    let mut other = badge();
    other["credentialStatus"] =
        json!({"id": "https://badges.example/revoked", "type": "1EdTechRevocationList"});
    let other = signed(other);
    let id = other["id"].as_str().unwrap();
    let list = |revoked: &[(&str, Option<&str>)]| -> Documents {
        let url = "https://badges.example/revoked";
        let revoked =
            revoked.iter().map(|(id, reason)| ((*id).to_owned(), (*reason).map(ToOwned::to_owned)));
        let list = RevocationList::new(url.to_owned(), "did:example:i".to_owned(), revoked);
        [(url.to_owned(), serde_json::to_value(list).unwrap())].into()
    };
    assert!(check(&other, &list(&[("urn:uuid:other", None)])).2);
    let (name, message, _) = check(&other, &list(&[(id, Some("issued in error"))]));
    assert_eq!(name, "status");
    assert!(message.ends_with("issued in error"), "{message}");
}

#[test]
fn each_error_is_reported_by_its_check() {
    type Change = fn(&mut Value);
    let cases: [(&str, &str, Change); 8] = [
        ("subject", "neither an id nor an identifier", |badge| {
            badge["credentialSubject"].as_object_mut().unwrap().remove("id");
            badge["credentialSubject"].as_object_mut().unwrap().remove("identifier");
        }),
        ("validity", "is not valid before 2027", |badge| {
            badge["validFrom"] = "2027-01-01T00:00:00Z".into();
        }),
        ("validity", "expired at 2026-01", |badge| {
            badge["validUntil"] = "2026-01-31T00:00:00Z".into();
        }),
        ("schema", "validFrom: is required", |badge| {
            badge.as_object_mut().unwrap().remove("validFrom");
        }),
        ("schema", "validUntil: must be an instant", |badge| {
            badge["validUntil"] = "later".into();
        }),
        ("schema", "credentialSubject.achievement.criteria: is required", |badge| {
            badge["credentialSubject"]["achievement"].as_object_mut().unwrap().remove("criteria");
        }),
        ("schema", "type: must contain 'OpenBadgeCredential'", |badge| {
            badge["type"] = json!(["VerifiableCredential"]);
        }),
        ("issuer", "but the issuer is 'did:example:other'", |badge| {
            badge["issuer"]["id"] = "did:example:other".into();
        }),
    ];
    for (name, message, change) in cases {
        let mut badge = badge();
        change(&mut badge);
        let report = verify(signed(badge).to_string().as_bytes(), &lists(&[]), now());
        let (failed, text) = fault(&report);
        assert_eq!(failed, name, "{:#?}", report.checks);
        assert!(text.contains(message), "{text}");
        assert_eq!(outcome(&report, "proof"), Some(CheckOutcome::Passed), "{text}");
    }
}

/// Another server of the same database, whose clock is ahead, may have issued the credential or signed its status list.
#[test]
fn a_credential_and_a_status_list_may_be_a_minute_younger_than_the_clock() {
    let ahead = |seconds: i64| now().plus_seconds(seconds);
    let badge_from = |from: Timestamp| {
        let mut badge = badge();
        badge["validFrom"] = from.to_string().into();
        signed(badge).to_string()
    };
    let report =
        |badge: &str, list: Timestamp| verify(badge.as_bytes(), &lists_from(&[], list), now());
    let minute = report(&badge_from(ahead(60)), ahead(60));
    assert!(minute.is_confirmed(), "{:#?}", minute.checks);
    let longer = report(&badge_from(ahead(61)), now());
    assert_eq!(fault(&longer).0, "validity");
    let longer = report(&badge_from(now()), ahead(61));
    assert_eq!(fault(&longer).0, "status");
}

#[test]
fn each_kind_of_invalid_proof_has_its_message() {
    let check = |change: fn(&mut Value)| {
        let mut credential = signed(badge());
        change(&mut credential);
        let report = verify(credential.to_string().as_bytes(), &lists(&[]), now());
        let failed = report.checks.iter().find(|check| check.name == "proof");
        let failed = failed.filter(|check| check.outcome == CheckOutcome::Failed);
        failed.unwrap_or_else(|| panic!("{:#?}", report.checks)).message.to_string()
    };
    for (message, change) in [
        ("bad signature", (|c| c["name"] = "Other".into()) as fn(&mut Value)),
        ("not all data is covered by the proof: extra", |c| c["extra"] = 1.into()),
        ("not all data is covered", |c| {
            c["@context"] = json!(["https://www.w3.org/ns/credentials/v2"]);
        }),
        ("'proofValue' is not a signature", |c| c["proof"]["proofValue"] = "u123".into()),
        ("unsupported proof type 'bbs-2023'", |c| c["proof"]["cryptosuite"] = "bbs-2023".into()),
        ("ecdsa-rdfc-2019 needs another kind of key", |c| {
            c["proof"]["cryptosuite"] = "ecdsa-rdfc-2019".into();
        }),
        ("the proof's purpose is \"authentication\"", |c| {
            c["proof"]["proofPurpose"] = "authentication".into();
        }),
        ("the proof expired", |c| c["proof"]["expires"] = "2026-02-01T00:00:00Z".into()),
        ("has no proof", |c| c["proof"] = json!([])),
        ("must not have a context", |c| c["proof"]["@context"] = c["@context"].clone()),
        ("is not a Multikey", |c| c["proof"]["verificationMethod"] = "did:key:6Mk#6Mk".into()),
    ] {
        let found = check(change);
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_key_belongs_to_the_issuer_only_if_the_issuers_document_lists_it() {
    let did = "did:web:school.example:badges";
    let address = "https://school.example/badges/did.json";
    let mut credential = badge();
    credential["issuer"]["id"] = did.into();
    let method = format!("{did}#key-1");
    let credential =
        proof::sign(credential, &key(), &method, CREATED.parse().unwrap()).unwrap().to_string();
    assert!(missing_documents(credential.as_bytes(), &lists(&[])).contains(&address.to_owned()));
    let public = PublicKey::Ed25519(key().verifying_key());
    let later = PublicKey::Ed25519(ed25519_dalek::SigningKey::from_bytes(&[9; 32]).verifying_key());
    let report = |document: Value| {
        let mut documents = lists(&[]);
        documents.insert(address.to_owned(), document);
        verify(credential.as_bytes(), &documents, now())
    };
    let rotated = did::document(did, &[("key-2", later.clone()), ("key-1", public.clone())]);
    assert!(report(rotated.clone()).is_confirmed());
    let mut not_asserting = rotated.clone();
    not_asserting["assertionMethod"] = json!([format!("{did}#key-2")]);
    let mut other_controller = rotated.clone();
    other_controller["verificationMethod"][1]["controller"] = "did:example:other".into();
    for (document, message) in [
        (Value::Null, "is not available"),
        (did::document(did, &[("key-1", later.clone())]), "bad signature"),
        (did::document(did, &[("key-2", later)]), "does not list"),
        (did::document("did:web:other.example", &[("key-1", public)]), "has the id"),
        (not_asserting, "under assertionMethod"),
        (other_controller, "says that its controller is"),
    ] {
        let report = report(document);
        let (name, text) = fault(&report);
        assert!(name == "proof" && text.contains(message), "{name}: {text}");
    }
}

#[test]
fn a_record_is_valid_only_if_each_of_its_credentials_is() {
    let mut plain = badge();
    plain.as_object_mut().unwrap().remove("credentialStatus");
    let method = did::key_method(&key().verifying_key());
    let token = jwt::sign(&plain, jwt::Key::EdDsa(&key()), &method).unwrap();
    let verified = |held: Value| {
        let record = signed(record(held.as_array().unwrap())).to_string();
        verify(record.as_bytes(), &Documents::new(), now())
    };
    let report = verified(json!([signed(plain.clone()), signed(plain.clone())]));
    assert!(report.is_confirmed(), "{:#?}", report.checks);
    assert_eq!(report.checks.iter().filter(|check| check.name == "nested").count(), 2);
    let mut changed = signed(plain.clone());
    changed["name"] = "Better".into();
    let report = verified(json!([signed(plain.clone()), changed]));
    assert_eq!(fault(&report).0, "nested");
    assert!(
        fault(&report).1.contains("credential 2: proof: bad signature"),
        "{:?}",
        fault(&report)
    );

    // An endorsement is of what it stands beside.
    let endorsement = |of: &str| {
        signed(json!({
            "@context": plain["@context"],
            "id": "urn:uuid:endorsement",
            "type": ["VerifiableCredential", "EndorsementCredential"],
            "issuer": plain["issuer"],
            "validFrom": "2026-01-01T00:00:00Z",
            "name": "Recommended",
            "credentialSubject":
                {"id": of, "type": ["EndorsementSubject"], "endorsementComment": "Good"}
        }))
    };
    let issuer = plain["issuer"]["id"].as_str().unwrap();
    let mut endorsed = plain.clone();
    endorsed["issuer"]["endorsement"] = json!([endorsement(issuer)]);
    endorsed["issuer"]["endorsementJwt"] =
        json!([jwt::sign(&endorsement(issuer), jwt::Key::EdDsa(&key()), &method).unwrap()]);
    let report = verify(signed(endorsed.clone()).to_string().as_bytes(), &Documents::new(), now());
    assert!(report.is_confirmed(), "{:#?}", report.checks);
    assert_eq!(report.checks.iter().filter(|check| check.name == "endorsement").count(), 2);
    endorsed["issuer"]["endorsement"] = json!([endorsement("urn:uuid:another")]);
    let report = verify(signed(endorsed).to_string().as_bytes(), &Documents::new(), now());
    // It is of something else, which does not make the badge invalid.
    let unverified = report.checks.iter().find(|check| check.outcome == CheckOutcome::Skipped);
    let unverified = unverified.filter(|check| check.name == "endorsement").unwrap();
    assert!(unverified.message.to_string().starts_with("unverified"), "{}", unverified.message);
    assert!(report.is_verified() && !report.is_confirmed());

    // A token in a record is covered as text, and stands for itself.
    assert!(verified(json!([token])).is_confirmed());
    let report = verified(json!([token.replace('.', ".A")]));
    assert_eq!(fault(&report).0, "nested");
}

#[test]
fn a_recipient_matches_only_the_identity_of_its_hash_or_address() {
    let credential = badge();
    for (identity, outcome) in [
        ("did:example:ada", CheckOutcome::Passed),
        ("a@example.org", CheckOutcome::Passed),
        ("b@example.org", CheckOutcome::Failed),
    ] {
        let mut credential = credential.clone();
        credential["credentialSubject"]["identifier"][0]["identityHash"] =
            hashed("a@example.org", Some("Kosher")).into();
        assert_eq!(recipient(&credential, identity).outcome, outcome, "{identity}");
    }
    let mut mailed = credential;
    mailed["credentialSubject"]["id"] = "mailto:c@example.org".into();
    assert_eq!(recipient(&mailed, "c@example.org").outcome, CheckOutcome::Passed);
    assert_eq!(
        hashed("a", Some("b")),
        "sha256$fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603"
    );
}

#[test]
fn tokens_cannot_choose_how_they_are_checked() {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
    let method = did::key_method(&key().verifying_key());
    let token = jwt::sign(&badge(), jwt::Key::EdDsa(&key()), &method).unwrap();
    let rest = token.split_once('.').unwrap().1;
    for header in [
        json!({"alg": "none", "kid": method}),
        json!({"alg": "HS256", "kid": method}),
        json!({"alg": "RS256", "kid": method}),
        json!({"alg": "EdDSA", "kid": method, "crit": ["b64"], "b64": false}),
        json!({"alg": "EdDSA"}),
    ] {
        let token = format!("{}.{rest}", BASE64.encode(header.to_string()));
        let report = verify(token.as_bytes(), &lists(&[]), now());
        assert_eq!(fault(&report).0, "proof", "{header}");
    }
}

#[test]
fn any_bytes_get_a_report() {
    let method = did::key_method(&key().verifying_key());
    let token = jwt::sign(&badge(), jwt::Key::EdDsa(&key()), &method).unwrap();
    let inputs = [
        signed(badge()).to_string().into_bytes(),
        token.clone().into_bytes(),
        baking::bake_svg(&badge_image::svg("a", "b"), &token).unwrap().into_bytes(),
    ];
    let mut random = RandomStream::seeded(5);
    let pieces: [&[u8]; 12] = [
        b"null",
        b"[]",
        b"{}",
        b"\"\"",
        b"1e400",
        b"\\u0000",
        b"@",
        b"_:",
        b"{\"@value\":1}",
        b"\"@context\":",
        b"{\"@list\":[]}",
        b"[[[[",
    ];
    let mut refused = 0;
    for input in inputs {
        for _ in 0..200 {
            let mut input = input.clone();
            for _ in 0..=random.below(3) {
                let at = usize::try_from(random.below(input.len() as u64)).unwrap();
                let end = (at + usize::try_from(random.below(12)).unwrap()).min(input.len());
                match random.below(2) {
                    0 => drop(input.splice(at..end, random.pick(&pieces).iter().copied())),
                    _ => input[at] = u8::try_from(random.below(256)).unwrap(),
                }
            }
            let report = verify(&input, &lists(&[]), now());
            assert!(!report.checks.is_empty());
            refused += usize::from(!report.is_valid());
        }
    }
    assert!(refused > 500, "{refused}");
    for input in [&b""[..], b"{", b"\xff\xfe", b"a.b", b"a.b.c", b"<svg/>", b"\x89PNG\r\n\x1a\n"] {
        let report = verify(input, &lists(&[]), now());
        assert_eq!(fault(&report).0, "parse");
        assert_eq!(report.credential, Value::Null);
    }
    let deep = [r#"{"a":"#.repeat(200), "1".to_owned(), "}".repeat(200)].concat();
    assert_eq!(fault(&verify(deep.as_bytes(), &lists(&[]), now())).0, "parse");
    let twice = r#"{"id":"a","id":"b"}"#;
    let report = verify(twice.as_bytes(), &lists(&[]), now());
    assert!(fault(&report).1.contains("appears twice"));
}
