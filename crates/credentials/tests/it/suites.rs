//! Credentials of other issuers, in every suite and algorithm that is verified: issued by an independent
//! implementation, confirmed here, and refused with any byte changed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use lyceum_core::random::RandomStream;
use lyceum_credentials::key::PublicKey;
use lyceum_credentials::verify::{CheckOutcome, Report, verify};
use lyceum_credentials::{did, proof};
use serde_json::{Value, json};

use crate::npm;
use crate::verifying::{Documents, now, outcome};

const DID: &str = "did:web:school.example";
const ADDRESS: &str = "https://school.example/.well-known/did.json";

/// A badge of VC 2.0.
fn second() -> Value {
    json!({
        "@context": [
            "https://www.w3.org/ns/credentials/v2",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"
        ],
        "id": "urn:uuid:second",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": {"id": DID, "type": ["Profile"], "name": "Riverside School"},
        "validFrom": "2026-01-01T00:00:00Z",
        "name": "Fractions, mastered",
        "credentialSubject": {
            "id": "did:example:ada",
            "type": ["AchievementSubject"],
            "achievement": {
                "id": "urn:uuid:achievement",
                "type": ["Achievement"],
                "name": "Fractions ½ 🎓",
                "description": "Adds, compares and divides",
                "criteria": {"narrative": "Reaches a score of 100"},
                "tag": ["maths", "grade 5"],
                "alignment": [
                    {"type": ["Alignment"], "targetName": "5.NF.A.1", "targetUrl": "https://case.example/1"},
                    {"type": ["Alignment"], "targetName": "5.NF.A.2", "targetUrl": "https://case.example/2"}
                ]
            }
        },
        "evidence": [{"type": ["Evidence"], "name": "The test", "narrative": "100 of 100"}]
    })
}

/// A badge of VC 1.1.
fn first() -> Value {
    let mut badge = second();
    badge["@context"] = json!([
        "https://www.w3.org/2018/credentials/v1",
        "https://purl.imsglobal.org/spec/ob/v3p0/context.json"
    ]);
    badge["id"] = "urn:uuid:first".into();
    let badge_members = badge.as_object_mut().unwrap();
    badge_members.shift_remove("evidence");
    let from = badge_members.shift_remove("validFrom").unwrap();
    badge["issuanceDate"] = from;
    badge["credentialSubject"]["achievement"].as_object_mut().unwrap().shift_remove("tag");
    badge
}

/// The credentials that the independent implementation issues.
static ISSUED: LazyLock<Value> = LazyLock::new(|| {
    let input = json!({
        "second": second(),
        "first": first(),
        "mandatory": {
            "second": [
                "/issuer", "/validFrom", "/credentialSubject/achievement/alignment/1", "/evidence"
            ],
            "first": ["/issuer", "/issuanceDate"]
        },
        "selected": {
            "second": [
                "/id", "/credentialSubject/achievement/name",
                "/credentialSubject/achievement/description",
                "/credentialSubject/achievement/criteria"
            ],
            "first": ["/credentialSubject", "/name"]
        }
    });
    serde_json::from_str(&npm::run("suites.mjs", &input.to_string())).unwrap()
});

fn credentials() -> impl Iterator<Item = (&'static String, &'static Value)> {
    ISSUED["credentials"].as_object().unwrap().iter()
}

fn credential(name: &str) -> Value {
    ISSUED["credentials"][name].clone()
}

fn judge(credential: &Value) -> Report {
    verify(credential.to_string().as_bytes(), &Documents::new(), now())
}

/// The failed check, by name and message.
fn fault(report: &Report) -> String {
    let failed = report.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    failed.map(|check| format!("{}: {}", check.name, check.message)).collect::<Vec<_>>().join("; ")
}

#[test]
#[ignore = "rest"]
fn a_credential_of_every_suite_is_confirmed() {
    assert_eq!(credentials().count(), 15);
    for (name, credential) in credentials() {
        let report = judge(credential);
        assert!(report.is_confirmed(), "{name}: {:#?}\n{credential:#}", report.checks);
        assert!(proof::supported(&proof::proofs(credential)[0]).is_ok(), "{name}");
    }
    let derived = credential("ecdsa-sd-2023 derived, second");
    let achievement = &derived["credentialSubject"]["achievement"];
    assert_eq!((derived.get("name"), achievement.get("tag")), (None, None));
    assert_eq!(achievement["alignment"].as_array().unwrap().len(), 1);
    let contexts = credential("eddsa-rdfc-2022, first")["@context"].clone();
    assert!(
        contexts
            .as_array()
            .unwrap()
            .contains(&"https://w3id.org/security/data-integrity/v2".into())
    );
}

#[test]
#[ignore = "rest"]
fn no_changed_byte_of_any_suite_is_accepted() {
    let mut random = RandomStream::seeded(29);
    for (name, credential) in credentials() {
        let text = credential.to_string();
        let mut at = 0;
        while at < text.len() {
            let mut changed = text.clone().into_bytes();
            let before = changed[at];
            while changed[at] == before {
                changed[at] = b" !\"-.019:AZaz{}[]\\"[usize::try_from(random.below(18)).unwrap()];
            }
            let is_same =
                serde_json::from_slice::<Value>(&changed).is_ok_and(|read| read == *credential);
            let report = verify(&changed, &Documents::new(), now());
            let shown = String::from_utf8_lossy(&changed);
            assert!(is_same || !report.is_valid(), "{name}, byte {at} of {shown}");
            at += 1 + usize::try_from(random.below(24)).unwrap();
        }
    }
}

#[test]
#[ignore = "rest"]
fn members_that_are_added_removed_or_moved_are_not_accepted() {
    for (name, credential) in credentials() {
        type Change = fn(&mut Value);
        let alterations: [Change; 7] = [
            |badge| badge["description"] = "Added".into(),
            |badge| drop(badge["issuer"].as_object_mut().unwrap().shift_remove("name")),
            |badge| badge["proof"]["created"] = "2026-01-02T00:00:00Z".into(),
            |badge| badge["proof"]["domain"] = "other.example".into(),
            |badge| {
                let contexts = badge["@context"].as_array_mut().unwrap();
                contexts.push("https://purl.imsglobal.org/spec/ob/v3p0/extensions.json".into());
                badge["image"] = json!({"id": "https://a.example/b.png", "type": "Image"});
            },
            |badge| badge["credentialSubject"]["achievement"]["alignment"] = json!([]),
            |badge| badge["validUntil"] = "2036-01-01T00:00:00Z".into(),
        ];
        for (n, alter) in alterations.into_iter().enumerate() {
            let mut changed = credential.clone();
            alter(&mut changed);
            assert!(!judge(&changed).is_valid(), "{name}, change {n}");
        }
    }
}

#[test]
#[ignore = "rest"]
fn a_suite_accepts_only_its_own_kind_of_key_and_proof() {
    for (from, to) in [
        ("eddsa-rdfc-2022, second", "ecdsa-rdfc-2019"),
        ("eddsa-rdfc-2022, second", "eddsa-2022"),
        ("eddsa-rdfc-2022, second", "eddsa-jcs-2022"),
        ("eddsa-rdfc-2022, second", "Ed25519Signature2020"),
        ("ecdsa-rdfc-2019 P-384, second", "ecdsa-sd-2023"),
        ("ecdsa-sd-2023 base, second", "ecdsa-rdfc-2019"),
    ] {
        let mut credential = credential(from);
        credential["proof"]["cryptosuite"] = to.into();
        let report = judge(&credential);
        assert!(!report.is_valid(), "{from} as {to}");
        let takes_another = format!("{:?}", report.checks).contains("needs another kind of key");
        assert_eq!(
            takes_another,
            ["ecdsa-rdfc-2019", "ecdsa-sd-2023"].contains(&to) && !from.starts_with("ecdsa-sd"),
            "{from} as {to}"
        );
    }
    let mut former = credential("Ed25519Signature2020, first");
    former["proof"]["cryptosuite"] = "eddsa-rdfc-2022".into();
    assert!(!judge(&former).is_valid());
}

#[test]
#[ignore = "rest"]
fn an_unknown_proof_beside_a_valid_one_is_ignored() {
    for (name, credential) in credentials() {
        let known = credential["proof"].clone();
        for unknown in [
            json!({"type": "BbsBlsSignature2020", "proofPurpose": "assertionMethod"}),
            json!({"type": "DataIntegrityProof", "cryptosuite": "bbs-2023"}),
            json!({"type": "DataIntegrityProof", "cryptosuite": "eddsa-rdfc-2022",
                   "proofPurpose": "assertionMethod", "verificationMethod": "did:ion:abc#key",
                   "proofValue": "z1"}),
            json!({"type": "DataIntegrityProof", "cryptosuite": "eddsa-rdfc-2022",
                   "previousProof": "urn:uuid:1"}),
        ] {
            let mut both = credential.clone();
            for proofs in [json!([unknown, known]), json!([known, unknown])] {
                both["proof"] = proofs;
                let report = judge(&both);
                assert!(report.is_confirmed(), "{name}: {:#?}", report.checks);
            }
            both["proof"] = json!([unknown]);
            assert_eq!(outcome(&judge(&both), "proof"), Some(CheckOutcome::Failed), "{name}");
            // A proof that does not fit does not count as unknown.
            let mut bad = known.clone();
            bad["created"] = "2026-01-02T00:00:00Z".into();
            both["proof"] = json!([known, bad]);
            assert!(!judge(&both).is_valid(), "{name}");
        }
    }
}

#[test]
#[ignore = "rest"]
fn tokens_of_both_data_models_and_every_algorithm_are_confirmed() {
    let tokens = ISSUED["tokens"].as_object().unwrap();
    assert_eq!(tokens.len(), 8);
    for (name, issued) in tokens {
        let key = PublicKey::from_jwk(&issued["jwk"]).unwrap();
        let documents: Documents =
            [(ADDRESS.to_owned(), did::document(DID, &[("key-1", key)]))].into();
        let token = issued["token"].as_str().unwrap();
        let report = verify(token.as_bytes(), &documents, now());
        assert!(report.is_confirmed(), "{name}: {:#?}", report.checks);
        let is_second = name.ends_with("second");
        assert_eq!(report.credential, if is_second { second() } else { first() }, "{name}");
        let enveloped = json!({
            "@context": "https://www.w3.org/ns/credentials/v2",
            "id": format!("data:application/vc+jwt,{token}"),
            "type": "EnvelopedVerifiableCredential"
        });
        let report = verify(enveloped.to_string().as_bytes(), &documents, now());
        assert!(report.is_confirmed(), "{name}: {:#?}", report.checks);
        for member in ["issuer", "credentialSubject", "proof"] {
            let mut forged = enveloped.clone();
            forged[member] = json!({ "id": DID });
            let report = verify(forged.to_string().as_bytes(), &documents, now());
            assert!(!report.is_valid(), "{name} with {member} beside the token");
        }
        for at in (0..token.len()).step_by(3) {
            let mut changed = token.to_owned().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(!verify(&changed, &documents, now()).is_valid(), "{name}, byte {at}");
        }
    }
}

#[test]
#[ignore = "rest"]
fn a_token_of_the_second_data_model_ends_with_its_signature() {
    use ed25519_dalek::Signer;
    let key = crate::samples::key();
    let public = PublicKey::Ed25519(key.verifying_key());
    let documents: Documents =
        [(ADDRESS.to_owned(), did::document(DID, &[("key-1", public)]))].into();
    let verified = |claims: Value, kind: &str| {
        let mut payload = second();
        payload.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
        let header = json!({"alg": "EdDSA", "typ": kind, "kid": format!("{DID}#key-1")});
        let signed = [header, payload].map(|part| BASE64.encode(part.to_string())).join(".");
        let token = format!("{signed}.{}", BASE64.encode(key.sign(signed.as_bytes()).to_bytes()));
        verify(token.as_bytes(), &documents, now())
    };
    let at = now().seconds();
    assert!(verified(json!({}), "vc+jwt").is_confirmed());
    assert!(
        verified(json!({"iat": at - 9, "exp": at + 9, "iss": DID}), "vc+ld+jwt").is_confirmed()
    );
    assert!(verified(json!({"nbf": at + 60}), "vc+jwt").is_confirmed(), "clocks may differ");
    for (claims, kind) in [
        (json!({"exp": at - 1}), "vc+jwt"),
        (json!({"nbf": at + 61}), "vc+jwt"),
        (json!({"iss": "did:web:other.example"}), "vc+jwt"),
        (json!({"sub": "did:example:ben"}), "vc+jwt"),
        (json!({}), "JWT"),
    ] {
        let report = verified(claims.clone(), kind);
        assert!(fault(&report).starts_with("claims: "), "{claims}: {:#?}", report.checks);
    }
}

#[test]
#[ignore = "rest"]
fn a_status_list_of_2021_revokes_a_credential() {
    let list = "https://badges.example/status/2021";
    let mut bits = lyceum_credentials::status_list::Bits::default();
    bits.set(17, true).unwrap();
    let issuer = did::key_of(&crate::samples::key().verifying_key());
    let listed = |encoded: String, kind: &str| {
        crate::samples::signed(json!({
            "@context": [
                "https://www.w3.org/2018/credentials/v1", "https://w3id.org/vc/status-list/2021/v1",
                "https://w3id.org/security/data-integrity/v2"
            ],
            "id": list,
            "type": ["VerifiableCredential", "StatusList2021Credential"],
            "issuer": issuer,
            "issuanceDate": "2026-01-01T00:00:00Z",
            "credentialSubject": {
                "id": format!("{list}#list"), "type": kind,
                "statusPurpose": "revocation", "encodedList": encoded
            }
        }))
    };
    let judged = |index: usize, document: &Value| {
        let mut badge = first();
        badge["@context"].as_array_mut().unwrap().extend([
            "https://w3id.org/vc/status-list/2021/v1".into(),
            "https://w3id.org/security/data-integrity/v2".into(),
        ]);
        badge["issuer"]["id"] = issuer.clone().into();
        badge["credentialStatus"] = json!({
            "id": format!("{list}#{index}"), "type": "StatusList2021Entry",
            "statusPurpose": "revocation", "statusListIndex": index.to_string(),
            "statusListCredential": list
        });
        let badge = crate::samples::signed(badge);
        let documents: BTreeMap<String, Value> = [(list.to_owned(), document.clone())].into();
        verify(badge.to_string().as_bytes(), &documents, now())
    };
    // Lists of 2021 have no multibase prefix.
    let encoded = bits.encode().trim_start_matches('u').to_owned();
    let right = listed(encoded.clone(), "StatusList2021");
    let report = judged(16, &right);
    assert!(report.is_confirmed(), "{:#?}", report.checks);
    assert_eq!(fault(&judged(17, &right)), "status: the credential is revoked");
    let other = encoded.replace('-', "+").replace('_', "/");
    assert_eq!(
        fault(&judged(17, &listed(other, "StatusList2021"))),
        "status: the credential is revoked"
    );
    let mut forged = right.clone();
    forged["issuanceDate"] = "2026-01-02T00:00:00Z".into();
    assert!(fault(&judged(16, &forged)).starts_with("status: "));
    assert_eq!(outcome(&judged(16, &Value::Null), "status"), Some(CheckOutcome::Skipped));
}

#[test]
#[ignore = "rest"]
fn an_open_badge_2_0_is_refused_with_a_message_that_names_the_version() {
    use lyceum_credentials::badge_image;
    let assertion = json!({
        "@context": "https://w3id.org/openbadges/v2",
        "type": "Assertion",
        "id": "https://badges.example/assertions/1",
        "recipient": {"type": "email", "hashed": false, "identity": "ada@example.org"},
        "badge": "https://badges.example/badges/1",
        "issuedOn": "2020-01-01T00:00:00Z",
        "verification": {"type": "hosted"}
    });
    let text = assertion.to_string();
    let token = format!("{}.{}.AAAA", BASE64.encode(r#"{"alg":"RS256"}"#), BASE64.encode(&text));
    let png = badge_image::png("a", "b");
    let svg = badge_image::svg("a", "b");
    let chunked = |kind: [u8; 4], before: &str, text: &str| {
        let data = [&kind[..], b"openbadges\0", before.as_bytes(), text.as_bytes()].concat();
        let mut crc = flate2::Crc::new();
        crc.update(&data);
        let length = u32::try_from(data.len() - 4).unwrap().to_be_bytes();
        let (start, end) = png.split_at(png.len() - 12);
        [start, &length[..], &data[..], &crc.sum().to_be_bytes()[..], end].concat()
    };
    let in_svg = |element: &str| {
        let namespace = "xmlns:openbadges=\"http://openbadges.org\"";
        svg.replacen("</title>", &format!("</title><openbadges:assertion {namespace}{element}"), 1)
    };
    let address = "https://badges.example/assertions/1";
    for (name, input) in [
        ("json", text.clone().into_bytes()),
        ("token", token.clone().into_bytes()),
        ("address", address.as_bytes().to_vec()),
        ("png", chunked(*b"iTXt", "\0\0\0\0", &text)),
        ("png token", chunked(*b"iTXt", "\0\0\0\0", &token)),
        ("png of the first version", chunked(*b"tEXt", "", address)),
        ("svg", in_svg(&format!("><![CDATA[{text}]]></openbadges:assertion>")).into_bytes()),
        ("svg token", in_svg(&format!(" verify=\"{token}\"/>")).into_bytes()),
    ] {
        let report = verify(&input, &Documents::new(), now());
        assert!(fault(&report).starts_with("parse: "), "{name}: {:#?}", report.checks);
        assert!(fault(&report).contains("Open Badges 2.0"), "{name}: {}", fault(&report));
    }
}

#[test]
#[ignore = "rest"]
fn any_bytes_in_a_selective_proof_get_a_report() {
    let mut random = RandomStream::seeded(2023);
    for name in ["ecdsa-sd-2023 base, second", "ecdsa-sd-2023 derived, second"] {
        let whole = credential(name);
        let value = whole["proof"]["proofValue"].as_str().unwrap();
        let bytes = BASE64.decode(&value[1..]).unwrap();
        for _ in 0..400 {
            let mut bytes = bytes.clone();
            match random.below(4) {
                0 => bytes.truncate(usize::try_from(random.below(bytes.len() as u64)).unwrap()),
                1 => bytes.push(0),
                _ => {
                    let at = usize::try_from(random.below(bytes.len().min(80) as u64)).unwrap();
                    bytes[at] =
                        bytes[at].wrapping_add(1 + u8::try_from(random.below(255)).unwrap());
                }
            }
            let mut changed = whole.clone();
            changed["proof"]["proofValue"] = format!("u{}", BASE64.encode(&bytes)).into();
            assert!(!judge(&changed).is_valid(), "{name}: {bytes:?}");
        }
    }
    for bytes in [
        &[][..],
        &[0xd9, 0x5d, 0x00],
        &[0xd9, 0x5d, 0x01, 0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0x81; 300],
    ] {
        let mut changed = credential("ecdsa-sd-2023 base, second");
        changed["proof"]["proofValue"] = format!("u{}", BASE64.encode(bytes)).into();
        assert!(fault(&judge(&changed)).contains("not a base or derived proof"));
    }
}
