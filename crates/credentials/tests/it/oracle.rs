//! Canonical N-Quads beside the JavaScript stack (npm jsonld in safe mode, rdf-canonize), on documents
//! that chance has changed: the same text, or refused by both.

use std::collections::BTreeMap;

use lyceum_core::random::RandomStream;
use lyceum_credentials::canonize;
use serde_json::{Value, json};

use crate::samples::{badge, record, signed};
use crate::{npm, standards};

/// Documents in a usual run, and with `LYCEUM_TEST_SIZE=full`.
const DOCUMENTS: [usize; 2] = [400, 5000];

/// Documents that are refused here alone, by the words of the refusal, and why.
const OURS: &[(&str, &str)] = &[
    ("no context defines the term", "keys that are IRIs or keywords: see the test of rewriting"),
    ("write the members without", "@set and @list: see the test of rewriting"),
    ("must not be an array in an array", "an array in an array: see the test of rewriting"),
    ("write '", "compact IRIs: see the test of rewriting"),
    ("must be written as its term", "a type by its IRI: see the test of rewriting"),
    ("implementations write the number", "JavaScript rounds them, or prints them as integers"),
    (
        "contains characters that are not allowed in an IRI",
        "JavaScript escapes them, or writes odd labels",
    ),
    ("a context must be an address", "a meaning in the document could say anything"),
];

#[test]
#[ignore = "rest"]
fn canonical_text_is_that_of_the_javascript_stack() {
    let full = standards::variable("LYCEUM_TEST_SIZE").is_some_and(|size| size == "full");
    let mut random = RandomStream::seeded(26);
    let seeds = seeds();
    let mut documents = seeds.clone();
    while documents.len() < DOCUMENTS[usize::from(full)] {
        let mut document = random.pick(&seeds).clone();
        for _ in 0..=random.below(2) {
            let donor = random.pick(&seeds).clone();
            mutate(&mut document, &donor, &mut random);
        }
        if document.is_object() {
            documents.push(document);
        }
    }
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    let answers = npm::run("canonize.mjs", &lines.join("\n"));
    assert_eq!(answers.lines().count(), documents.len());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for (index, (document, answer)) in documents.iter().zip(answers.lines()).enumerate() {
        let theirs: Value = serde_json::from_str(answer).unwrap();
        let ours = canonize(document).map_err(|problem| problem.to_string());
        let verdict = match (&ours, theirs["quads"].as_str()) {
            (Ok(ours), Some(theirs)) if ours == theirs => "the same",
            (Ok(_), Some(_)) => "another text",
            (Err(_), None) => "refused by both",
            (Err(ours), Some(_)) => reason(ours).unwrap_or("refused by us alone"),
            (Ok(_), None) => "refused by them alone",
        };
        *counts.entry(verdict).or_default() += 1;
        let listed = OURS.iter().any(|(_, why)| *why == verdict);
        if !listed && !["the same", "refused by both"].contains(&verdict) {
            faults.push(format!("{verdict}\n{document}\n{}", difference(&ours, &theirs)));
        }
        if index < seeds.len() {
            assert_eq!(verdict, "the same", "{document}\n{}", difference(&ours, &theirs));
        }
    }
    println!("{counts:#?}");
    assert!(
        faults.is_empty(),
        "{} of {}: {}",
        faults.len(),
        documents.len(),
        faults[..3.min(faults.len())].join("\n\n")
    );
    assert!(counts["the same"] * 8 > documents.len(), "{counts:?}");
}

/// The lines that only one of the two has.
fn difference(ours: &Result<String, String>, theirs: &Value) -> String {
    let (Ok(ours), Some(quads)) = (ours, theirs["quads"].as_str()) else {
        return format!("ours: {ours:?}\ntheirs: {theirs}");
    };
    let lines = |one: &str, other: &str| -> Vec<String> {
        one.lines().filter(|line| !other.lines().any(|o| o == *line)).map(str::to_owned).collect()
    };
    format!("ours: {:#?}\ntheirs: {:#?}", lines(ours, quads), lines(quads, ours))
}

fn reason(message: &str) -> Option<&'static str> {
    OURS.iter().find(|(part, _)| message.contains(part)).map(|(_, why)| *why)
}

/// Documents that both accept: everything of the samples, and the official examples where they are.
fn seeds() -> Vec<Value> {
    let mut seeds = vec![badge(), signed(badge()), record(&[signed(badge())]), alike()];
    let Some(folder) = standards::folder("official examples for the oracle") else { return seeds };
    for file in [
        "openbadges/examples/simple.json",
        "openbadges/examples/endorsement-valid.json",
        "openbadges/examples/simple_v1.json",
        "openbadges/examples/bit-string-list/testlist",
        "clr/examples/simple.json",
    ] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        seeds.push(serde_json::from_str(&text).unwrap());
    }
    seeds
}

/// A badge with nodes that only their places tell apart.
fn alike() -> Value {
    let mut badge = badge();
    let achievement = &mut badge["credentialSubject"]["achievement"];
    achievement["resultDescription"][0]["allowedValue"] = json!(["A", "B", "B", "B", "A"]);
    let alignment = achievement["alignment"][0].clone();
    achievement["alignment"] = json!([alignment, alignment, alignment]);
    badge["endorsement"] = json!([
        {"type": "Profile", "parentOrg": {"type": "Profile"}},
        {"type": "Profile", "parentOrg": {"type": "Profile", "id": "_:a"}, "address": {"id": "_:a"}},
        {"type": "Profile", "parentOrg": {"type": "Profile"}}
    ]);
    badge
}

/// Changes one place: a value, a key, or what stands there.
fn mutate(document: &mut Value, donor: &Value, random: &mut RandomStream) {
    let place = pick(document, random);
    let count = |value: &Value| value.as_object().map_or(0, serde_json::Map::len) as u64;
    match (place, random.below(6)) {
        (Value::Object(object), 0) if !object.is_empty() => {
            let keys: Vec<String> = object.keys().cloned().collect();
            object.shift_remove(random.pick(&keys));
        }
        (Value::Object(object), 1) if !object.is_empty() => {
            let keys: Vec<String> = object.keys().cloned().collect();
            let value = object.shift_remove(random.pick(&keys)).unwrap();
            object.insert((*random.pick(KEYS)).to_owned(), value);
        }
        (Value::Object(object), 2 | 3) => {
            object.insert((*random.pick(KEYS)).to_owned(), random.pick(&values()).clone());
        }
        (Value::Array(items), 0..=2) => items.push(random.pick(&values()).clone()),
        (place, 4) => {
            let mut donor = donor.clone();
            let given = pick(&mut donor, random).take();
            if count(&given) > 0 || !given.is_object() {
                *place = given;
            }
        }
        (place, 5) => {
            let inner = place.take();
            *place = match random.below(5) {
                0 => json!([inner]),
                1 => json!([[inner], inner]),
                2 => json!({"@list": [inner]}),
                3 => json!({"@set": inner}),
                _ => json!({"@value": inner}),
            };
        }
        (place, _) => *place = random.pick(&values()).clone(),
    }
}

/// A place below the document, deeper ones as likely as others.
fn pick<'a>(value: &'a mut Value, random: &mut RandomStream) -> &'a mut Value {
    let children = match value {
        Value::Object(object) => object.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if children == 0 || random.below(5) == 0 {
        return value;
    }
    let child = usize::try_from(random.below(children as u64)).unwrap();
    let child = match value {
        Value::Object(object) => object.values_mut().nth(child).unwrap(),
        Value::Array(items) => &mut items[child],
        _ => unreachable!("it has children"),
    };
    pick(child, random)
}

const KEYS: &[&str] = &[
    "id",
    "type",
    "@id",
    "@type",
    "@value",
    "@language",
    "@index",
    "@context",
    "@foo",
    "name",
    "description",
    "image",
    "tag",
    "result",
    "criteria",
    "Criteria",
    "narrative",
    "identifier",
    "alignment",
    "proof",
    "issuer",
    "evidence",
    "endorsement",
    "allowedValue",
    "creditsEarned",
    "partial",
    "https://vocabulary.example/term",
    "obi:term",
    "cred:term",
    "_:p",
    "undefinedTerm",
    "",
    "a:b",
    "termsOfUse",
    "jwk",
    "proofPurpose",
    "hashed",
    "verifiableCredential",
    "previousProof",
    "achievement",
];

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-0.0),
        json!(3.0),
        json!(2.5),
        json!(0.1 + 0.2),
        json!(1e21),
        json!(1e-7),
        json!(123_456_789_012_345_680_u64),
        json!(-17),
        json!(""),
        json!("text \u{7f}\u{1}\t\"\\é𝄞"),
        json!("relative"),
        json!("https://a.example/x"),
        json!("https://a.example/x y"),
        json!("https://a.example/<>"),
        json!("_:b0"),
        json!("_:same"),
        json!("_:"),
        json!("urn:uuid:1"),
        json!("2026-01-01T00:00:00Z"),
        json!("Achievement"),
        json!("Profile"),
        json!("obi:Achievement"),
        json!("@json"),
        json!("@keyword"),
        json!("assertionMethod"),
        json!([]),
        json!({}),
        json!([null, "a", ["b", ["c"]]]),
        json!({"id": "_:same"}),
        json!({"id": "urn:uuid:1", "name": "one"}),
        json!({"id": "relative"}),
        json!({"type": "Profile"}),
        json!({"type": ["AchievementSubject", "IdentifierEntry"], "id": "urn:uuid:2"}),
        json!({"type": ["Achievement", "Profile"], "name": "two"}),
        json!({"@value": "typed", "@type": "https://a.example/type"}),
        json!({"@value": "typed", "@type": "Profile"}),
        json!({"@value": "typed", "@type": "relative"}),
        json!({"@value": 1.5, "@type": "http://www.w3.org/2001/XMLSchema#double"}),
        json!({"@value": "hello", "@language": "EN-us"}),
        json!({"@value": "hello", "@language": "not a tag"}),
        json!({"@value": {"b": [1, 2.5, "é", null], "a": {}}, "@type": "@json"}),
        json!({"@value": null}),
        json!({"@list": ["a", {"name": "in a list"}, null, ["nested"]]}),
        json!({"@list": []}),
        json!({"@set": ["a", {"@set": ["b"]}]}),
        json!({"@context": "https://www.w3.org/ns/credentials/v2", "id": "urn:uuid:3", "name": "three"}),
        json!({"@context": "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.1.json", "name": "four"}),
        json!({"@context": null, "name": "five"}),
        json!({"@context": {"extra": "https://a.example/extra"}, "extra": "six"}),
    ]
}
