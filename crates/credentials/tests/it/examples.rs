//! The verifier against the standards' examples.

use std::path::Path;

use lyceum_credentials::key::PublicKey;
use lyceum_credentials::verify::{CheckOutcome, Report, missing_documents, verify};
use lyceum_credentials::{baking, did};
use serde_json::Value;

use crate::standards;
use crate::verifying::{Documents, now, outcome};

/// The documents that the issuers of the examples would serve: each lists the keys that its
/// credentials name.
fn documents_of(credential: &Value, documents: &mut Documents) {
    match credential {
        Value::Object(object) => {
            if let Some(method) = object.get("verificationMethod").and_then(Value::as_str)
                && let Some((controller, fragment)) = method.split_once('#')
                && controller.starts_with("https://")
                && let Ok(key) = PublicKey::from_multikey(fragment)
            {
                let document = did::document(controller, &[(fragment, key)]);
                documents.insert(controller.to_owned(), document);
            }
            object.values().for_each(|value| documents_of(value, documents));
        }
        Value::Array(items) => items.iter().for_each(|item| documents_of(item, documents)),
        _ => {}
    }
}

fn example(folder: &Path, file: &str) -> Report {
    let input = std::fs::read(folder.join(file)).unwrap_or_else(|fault| panic!("{file}: {fault}"));
    let text = baking::unbake(&input).map_or(input.clone(), String::into_bytes);
    let mut documents = Documents::new();
    if let Ok(credential) = serde_json::from_slice(&text) {
        documents_of(&credential, &mut documents);
    }
    let list = folder.join("openbadges/examples/bit-string-list/testlist");
    let list: Value = serde_json::from_str(&std::fs::read_to_string(list).unwrap()).unwrap();
    for url in missing_documents(&input, &documents) {
        if url.ends_with("/testlist") {
            documents_of(&list, &mut documents);
            documents.insert(url, list.clone());
        }
    }
    verify(&input, &documents, now())
}

#[test]
fn every_example_of_the_standard_gets_its_expected_report() {
    let Some(folder) = standards::folder("examples of the verifier") else { return };
    let ob = |name: &str| format!("openbadges/examples/{name}");
    let mut seen = 0;
    for name in [
        "simple.json",
        "simple.1ob",
        "simple-context-alias.json",
        "simple-context-version.json",
        "simple-did-web-method.json",
        "simple-json.svg",
        "simple_v1.json",
        "endorsement-valid.json",
    ] {
        let report = example(&folder, &ob(name));
        assert!(report.is_valid() && report.is_confirmed(), "{name}: {:#?}", report.checks);
        seen += 1;
    }
    let report = example(&folder, "clr/examples/simple.json");
    assert!(report.is_valid() && report.is_confirmed(), "{:#?}", report.checks);
    // The key of these stands in their own header, where anyone could put one: they fit, and count as forged.
    for name in ["simple-jwt.png", "simple-jwt_v1.png", "simple-jwt_v1.svg"] {
        let report = example(&folder, &ob(name));
        let outcomes = ["proof", "issuer"].map(|check| outcome(&report, check));
        let wanted = [Some(CheckOutcome::Passed), Some(CheckOutcome::Failed)];
        assert_eq!(outcomes, wanted, "{name}: {:#?}", report.checks);
        seen += 1;
    }
    for (name, check, message) in [
        ("simple-err-issuer-type.json", "schema", "issuer.type: must contain 'Profile'"),
        (
            "simple-err-issuer-parentorg-type.json",
            "schema",
            "issuer.parentOrg.type: must contain 'Profile'",
        ),
        (
            "simple-err-issuer-otheridentifier-type.json",
            "schema",
            "issuer.otherIdentifier[1].type: must contain 'IdentifierEntry'",
        ),
        (
            "simple-err-credential-subject-identifier-type.json",
            "schema",
            "credentialSubject.identifier[0].type: must contain 'IdentityObject'",
        ),
        (
            "simple-err-credential-subject-profile-type.json",
            "schema",
            "credentialSubject.source.type: must contain 'Profile'",
        ),
        (
            "simple-err-credential-subject-achievement-result-description-type.json",
            "schema",
            "credentialSubject.achievement.resultDescription[",
        ),
        ("simple-err-evidence-type.json", "schema", "evidence[1].type: must contain 'Evidence'"),
        ("simple-err-proof-method-no-scheme.json", "proof", "has no scheme"),
        ("simple-err-proof-method-unknown-scheme.json", "proof", "has the scheme 'xxx'"),
        (
            "simple-err-proof-method-unknown-did-method.json",
            "proof",
            "the DID method 'example' is not supported",
        ),
        ("simple-noproof.json", "proof", "has no proof"),
        ("bit-string-list/credential-status-revoked-blank-nodes.json", "status", "is revoked"),
        (
            "complete_v1.json",
            "proof",
            "the key 'https://1edtech.edu/issuers/565049#key-1' is unknown",
        ),
        ("velocity.jwt", "proof", "the DID method 'velocity' is not supported"),
    ] {
        let report = example(&folder, &ob(name));
        let found = report.checks.iter().any(|one| {
            (one.name, one.outcome) == (check, CheckOutcome::Failed)
                && one.message.contains(message)
        });
        assert!(found, "{name}: {:#?}", report.checks);
        seen += 1;
    }
    // The one example of an issuer that there was. Its list is not at hand, nor is its key document.
    let report = example(&folder, &ob("credential-status-revoked.json"));
    assert_eq!(outcome(&report, "proof"), Some(CheckOutcome::Passed), "{:#?}", report.checks);
    assert!(report.is_valid() && !report.is_confirmed());
    seen += 1;
    for (name, message) in [
        ("simple_v1.json", "has the scheme 'urn'"),
        (
            "simple_old_safesigned.json",
            "the context 'https://dc.imsglobal.org/draft/clr/v2p0/context'",
        ),
    ] {
        let report = example(&folder, &format!("clr/examples/{name}"));
        let is_reported = report.checks.iter().any(|check| check.message.contains(message));
        assert!(!report.is_valid() && is_reported, "{name}: {:#?}", report.checks);
    }
    let files = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let examples = folder.join("openbadges/examples");
    // The folder of status lists is one entry with one credential.
    assert_eq!(seen, files(&examples), "an example is not looked at");
    assert_eq!(files(&folder.join("clr/examples")), 3);
}
