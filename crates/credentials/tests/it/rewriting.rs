//! A proof covers what a document means. Ways to write the same meaning so that a reader of the JSON no
//! longer finds it are refused, although other implementations would find the proof to fit.

use std::collections::BTreeMap;

use lyceum_credentials::canonize;
use lyceum_credentials::verify::verify;
use serde_json::{Value, json};

use crate::samples::{badge, record, signed};

/// Writes a member of the badge under another name.
fn renamed(badge: &Value, path: &str, from: &str, to: &str) -> Value {
    let mut badge = badge.clone();
    let object = badge.pointer_mut(path).unwrap().as_object_mut().unwrap();
    let value = object.shift_remove(from).unwrap();
    object.insert(to.to_owned(), value);
    badge
}

#[test]
fn a_rewritten_credential_does_not_keep_its_signature() {
    let mut badge = badge();
    badge["credentialStatus"] = json!({
        "id": "https://badges.example/revoked", "type": "1EdTechRevocationList"
    });
    let badge = signed(badge);
    let set = |pointer: &str, value: Value| {
        let mut badge = badge.clone();
        *badge.pointer_mut(pointer).unwrap() = value;
        badge
    };
    let status = badge["credentialStatus"].clone();
    let credentials = "https://www.w3.org/2018/credentials#";
    for rewritten in [
        renamed(&badge, "", "credentialStatus", &format!("{credentials}credentialStatus")),
        renamed(&badge, "", "validUntil", &format!("{credentials}validUntil")),
        renamed(&badge, "/credentialStatus", "type", "@type"),
        renamed(&badge, "/credentialStatus", "id", "@id"),
        renamed(&badge, "", "id", "@id"),
        set("/credentialStatus", json!([[status]])),
        set("/credentialStatus", json!({"@set": [status]})),
        set("/credentialStatus", json!([{"@set": status}])),
        set(
            "/credentialStatus/type",
            "https://purl.imsglobal.org/spec/vcrl/v1p0/context.json#1EdTechRevocationList".into(),
        ),
        set("/credentialStatus", json!(status["id"])),
        set(
            "/validUntil",
            json!({
                "@value": badge["validUntil"], "@type": "http://www.w3.org/2001/XMLSchema#dateTime"
            }),
        ),
        set("/validUntil", json!([badge["validUntil"]])),
    ] {
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        let report = verify(rewritten.to_string().as_bytes(), &BTreeMap::new(), now);
        assert!(!report.is_valid(), "{rewritten}\n{:#?}", report.checks);
    }
    assert!(
        verify(badge.to_string().as_bytes(), &BTreeMap::new(), "2026-06-01".parse().unwrap())
            .is_valid()
    );
}

#[test]
fn members_that_canonicalization_would_drop_are_refused_with_their_path() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 13] = [
        (
            "credentialSubject.achievement.favourite: no context defines the term 'favourite'",
            |badge| {
                badge["credentialSubject"]["achievement"]["favourite"] = true.into();
            },
        ),
        ("issuer.type: 'InvalidProfile' is neither a term", |badge| {
            badge["issuer"]["type"] = json!(["InvalidProfile"]);
        }),
        ("issuer.id: 'relative' is neither a term", |badge| {
            badge["issuer"]["id"] = "relative".into();
        }),
        ("id: 'https://a b' contains characters", |badge| badge["id"] = "https://a b".into()),
        ("image: '2020-01-01T00:00:00Z' is neither", |badge| {
            badge["image"] = "2020-01-01T00:00:00Z".into();
        }),
        ("@foo: no context defines the term '@foo'", |badge| badge["@foo"] = 1.into()),
        ("_:p: no context defines the term '_:p'", |badge| badge["_:p"] = 1.into()),
        ("name.@value: the value does not match", |badge| badge["name"] = json!({"@value": null})),
        ("@context: a context must be an address", |badge| badge["@context"] = Value::Null),
        ("@context: the context 'https://a.example/c' is not supported", |badge| {
            badge["@context"] =
                json!(["https://www.w3.org/ns/credentials/v2", "https://a.example/c"]);
        }),
        ("credentialSubject.creditsEarned: implementations write the number 1e+30", |badge| {
            badge["credentialSubject"]["creditsEarned"] = json!(1e30);
        }),
        ("name.@value: 'e_n' is not a language tag", |badge| {
            badge["name"] = json!({"@value": "x", "@language": "e_n"});
        }),
        ("credentialSubject.type: the protected term", |badge| {
            badge["credentialSubject"]["type"] = json!(["AchievementSubject", "IdentifierEntry"]);
        }),
    ];
    for (message, change) in cases {
        let mut badge = badge();
        change(&mut badge);
        let problem = canonize(&badge).unwrap_err();
        assert!(problem.message.to_string().starts_with(message), "{problem}");
    }
}

#[test]
fn equal_values_in_other_notations_have_the_same_canonical_text() {
    let line = |change: fn(&mut Value), line: &str| {
        let mut badge = badge();
        change(&mut badge);
        let text = canonize(&badge).unwrap();
        assert!(text.contains(line), "{line}\n{text}");
    };
    line(|badge| badge["name"] = json!({"@value": "x", "@language": "EN-us"}), "\"x\"@en-us");
    line(
        |badge| badge["credentialSubject"]["creditsEarned"] = json!(3.0),
        "\"3\"^^<https://www.w3.org/2001/XMLSchema#float>",
    );
    // The contexts of CLR 2.0.1 leave xsd: undefined, and everyone signs that.
    assert!(canonize(&record(&[])).unwrap().contains("\"true\"^^<xsd:boolean>"));
    // Several types bring their contexts together.
    assert!(canonize(&record(&[])).unwrap().contains("vocab.html#partial"));
    let mut nulls = badge();
    nulls["validUntil"] = Value::Null;
    let mut without = badge();
    without.as_object_mut().unwrap().remove("validUntil");
    assert_eq!(canonize(&nulls).unwrap(), canonize(&without).unwrap());
    let mut compact = record(&[]);
    compact["credentialSubject"]["id"] = "obi:ada".into();
    let problem = canonize(&compact).unwrap_err();
    assert!(
        problem.message.contains("write 'obi:ada' as 'https://purl.imsglobal.org/"),
        "{problem}"
    );
}

#[test]
fn poisoned_graphs_are_refused_in_time() {
    let context = json!(["https://www.w3.org/ns/credentials/v2"]);
    let leaves =
        |n: usize| -> Vec<Value> { (0..n).map(|i| json!({"id": format!("_:l{i}")})).collect() };
    let hubs = |n| {
        json!({
            "@context": context, "id": "urn:x", "type": "VerifiableCredential",
            "evidence": [
                {"id": "_:h1", "type": "VerifiableCredential", "evidence": leaves(n)},
                {"id": "_:h2", "type": "VerifiableCredential", "evidence": leaves(n)}
            ]
        })
    };
    assert!(canonize(&hubs(4)).is_ok());
    for n in [8, 12, 40] {
        let problem = canonize(&hubs(n)).unwrap_err();
        assert!(problem.message.contains("20000 steps"), "{problem}");
    }
    let nested: Vec<Value> = (0..5)
        .map(|i| json!({"id": format!("_:m{i}"), "type": "VerifiableCredential", "evidence": leaves(5)}))
        .collect();
    let nested = json!({
        "@context": context, "id": "urn:x", "type": "VerifiableCredential", "evidence": nested
    });
    drop(canonize(&nested));
}
