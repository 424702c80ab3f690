//! The standards' own canonical N-Quads, and their signed examples.

use std::path::Path;

use lyceum_credentials::key::PublicKey;
use lyceum_credentials::{canonize, proof};
use serde_json::{Value, json};

use crate::standards;

const OB: [&str; 2] = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
];

fn text(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_else(|fault| panic!("{file}: {fault:?}"))
}

fn proof_options() -> Value {
    json!({
        "@context": OB,
        "type": "DataIntegrityProof",
        "created": "2010-01-01T19:23:24Z",
        "verificationMethod":
            "https://example.edu/issuers/565049#z6MkjZRZv3aez3r18pB1RBFJR1kwUVJ5jHt92JmQwXbd5hwi",
        "cryptosuite": "eddsa-rdfc-2022",
        "proofPurpose": "assertionMethod"
    })
}

#[test]
fn canonical_text_of_a_badge_agrees_with_the_standard() {
    let Some(folder) = standards::folder("canonical N-Quads of a badge") else { return };
    let badge = json!({
        "@context": OB,
        "id": "http://example.com/credentials/3527",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": {
            "id": "https://example.edu/issuers/565049", "type": ["Profile"],
            "url": "https://www.imsglobal.org", "name": "Example Corp"
        },
        "validFrom": "2010-01-01T00:00:00Z",
        "name": "Teamwork Badge",
        "credentialSubject": {
            "id": "did:example:ebfeb1f712ebc6f1c276e12ec21",
            "type": ["AchievementSubject"],
            "achievement": {
                "id": "https://example.com/achievements/21st-century-skills/teamwork",
                "type": ["Achievement"],
                "criteria": {
                    "narrative": "Team members are nominated for this badge by their peers and \
                                  recognized upon review by Example Corp management."
                },
                "description": "This badge recognizes the development of the capacity to \
                                collaborate within a group environment.",
                "name": "Teamwork"
            }
        }
    });
    let vectors = folder.join("openbadges/test-vectors");
    assert_eq!(canonize(&badge).unwrap(), text(&vectors, "obv3p0-document-canon.txt"));
    assert_eq!(canonize(&proof_options()).unwrap(), text(&vectors, "obv3p0-proof-canon.txt"));
}

#[test]
fn canonical_text_of_a_record_agrees_with_the_standard() {
    let Some(folder) = standards::folder("canonical N-Quads of a record") else { return };
    let issuer = json!({
        "id": "https://example.edu/issuers/565049", "type": ["Profile"],
        "name": "Example University"
    });
    let achievement = |uuid: &str, name: &str| {
        json!({
            "id": format!("urn:uuid:{uuid}"),
            "type": ["Achievement"],
            "creator": issuer,
            "name": name,
            "criteria": {"id": format!("https://example.edu/achievements/{uuid}/criteria")},
            "description": name,
            "image": {"id": "https://example.edu/achievements/sample.png", "type": "Image"}
        })
    };
    let first = achievement("a7467ef6-56cb-11ec-bf63-0242ac130002", "Achievement 1");
    let second = achievement("dd887f0a-56cb-11ec-bf63-0242ac130002", "Achievement 2");
    let schema = |url: &str| json!([{"id": url, "type": "1EdTechJsonSchemaValidator2019"}]);
    let mut proof = proof_options();
    proof["proofValue"] =
        "z45QnLySMt2mWuW787G6cf3SLkP97ZkMZxLeXH5yaaTQPCtTup4GCV95tU8HEnQJSyGCokSj3\
                           AvUhmJtvveTmN4Vu"
            .into();
    proof.as_object_mut().unwrap().remove("@context");
    let subject = "did:example:ebfeb1f712ebc6f1c276e12ec21";
    let extensions = "https://purl.imsglobal.org/spec/ob/v3p0/extensions.json";
    let record = json!({
        "@context": [
            OB[0], "https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json", OB[1], extensions
        ],
        "id": "http://example.edu/credentials/3732",
        "type": ["VerifiableCredential", "ClrCredential"],
        "issuer": issuer,
        "validFrom": "2010-01-01T00:00:00Z",
        "name": "Sample Transcript",
        "credentialSubject": {
            "id": subject,
            "type": ["ClrSubject"],
            "verifiableCredential": [{
                "@context": [OB[0], OB[1], extensions],
                "id": "urn:uuid:91537dba-56cb-11ec-bf63-0242ac130002",
                "type": ["VerifiableCredential", "OpenBadgeCredential"],
                "issuer": issuer,
                "validFrom": "2010-01-01T00:00:00Z",
                "name": "Example University Degree",
                "credentialSubject":
                    {"id": subject, "type": ["AchievementSubject"], "achievement": first},
                "credentialSchema": schema(
                    "https://purl.imsglobal.org/spec/ob/v3p0/schema/json/\
                     ob_v3p0_achievementcredential_schema.json"),
                "proof": [proof]
            }],
            "achievement": [first, second],
            "association": [{
                "type": "Association", "associationType": "isParentOf",
                "sourceId": "urn:uuid:a7467ef6-56cb-11ec-bf63-0242ac130002",
                "targetId": "urn:uuid:dd887f0a-56cb-11ec-bf63-0242ac130002"
            }]
        },
        "credentialSchema": schema(
            "https://purl.imsglobal.org/spec/clr/v2p0/schema/json/\
             clr_v2p0_clrcredential_schema.json")
    });
    let vectors = folder.join("clr/test-vectors");
    assert_eq!(canonize(&record).unwrap(), text(&vectors, "clrv2p0-document-canon.txt"));
    assert_eq!(canonize(&proof_options()).unwrap(), text(&vectors, "clrv2p0-proof-canon.txt"));
}

#[test]
fn proofs_of_the_signed_examples_are_valid() {
    let Some(folder) = standards::folder("signed examples") else { return };
    for file in [
        "openbadges/examples/simple.json",
        "openbadges/examples/simple-context-alias.json",
        "openbadges/examples/simple-context-version.json",
        "openbadges/examples/simple-did-web-method.json",
        "openbadges/examples/endorsement-valid.json",
        "openbadges/examples/bit-string-list/credential-status-revoked-blank-nodes.json",
        "openbadges/examples/bit-string-list/testlist",
        "clr/examples/simple.json",
    ] {
        let mut credential: Value = serde_json::from_str(&text(&folder, file)).unwrap();
        let check = |credential: &Value| {
            let proof = &proof::proofs(credential)[0];
            let method = proof["verificationMethod"].as_str().unwrap();
            let key = PublicKey::from_multikey(method.split_once('#').unwrap().1).unwrap();
            proof::check(credential, proof, &key)
        };
        check(&credential).unwrap_or_else(|fault| panic!("{file}: {fault:?}"));
        credential["name"] = "Another name".into();
        assert!(matches!(check(&credential), Err(proof::Fault::Signature)), "{file}");
    }
}
