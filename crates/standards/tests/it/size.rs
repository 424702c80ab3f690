//! A large framework: stored, read and searched without a scan. `LYCEUM_TEST_SIZE=full` takes 20 000
//! items.

use std::time::{Duration, Instant};

use lyceum_standards::{Query, Shape, class, repository};
use serde_json::{Value, json};

use crate::{both, json, reader, store, written};

const WHEN: &str = "2026-01-15T08:00:00Z";

fn id(kind: u32, number: usize) -> String {
    format!("7e{kind:06}-0000-4000-8000-{number:012}")
}

fn link(id: &str) -> Value {
    json!({ "title": "node", "identifier": id, "uri": format!("https://example.org/{id}") })
}

/// A framework of that many items, twelve below each.
fn framework(items: usize) -> Value {
    let item = |number: usize| {
        let id = id(1, number);
        json!({
            "identifier": id, "uri": format!("https://example.org/items/{id}"), "lastChangeDateTime": WHEN,
            "humanCodingScheme": format!("LY.{}.{}.{number}", number % 13, number % 7),
            "fullStatement": format!(
                "Students compare and order fractions with the same numerator or denominator, reason about \
                 their size, and explain statement{number} to another student in writing"),
            "educationLevel": [format!("{:02}", number % 13)], "CFItemType": "Standard", "language": "en",
        })
    };
    let association = |number: usize| {
        let parent = if number < 12 { id(0, 1) } else { id(1, number / 12) };
        json!({
            "identifier": id(2, number), "uri": "https://example.org/a", "lastChangeDateTime": WHEN,
            "associationType": "isChildOf", "sequenceNumber": number,
            "originNodeURI": link(&id(1, number)), "destinationNodeURI": link(&parent),
        })
    };
    json!({
        "CFDocument": {
            "identifier": id(0, 1), "uri": "https://example.org/d", "creator": "Board",
            "title": "Large", "lastChangeDateTime": WHEN,
        },
        "CFItems": (1..=items).map(item).collect::<Value>(),
        "CFAssociations": (1..=items).map(association).collect::<Value>(),
    })
}

/// A package with every class, of both versions.
pub(crate) fn rich() -> Value {
    let mut package = framework(3);
    let one = |number: usize, more: &Value| {
        let mut one = json!({
            "identifier": id(3, number), "uri": "https://example.org/d", "title": "Number",
            "lastChangeDateTime": WHEN, "extensions": { "a": 1 },
        });
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        one
    };
    package["CFDocument"]["extensions"] = json!({ "identifier": "mine" });
    package["CFDocument"]["frameworkType"] = "K12".into();
    package["CFItems"][0]["subject"] = json!(["Math"]);
    package["CFItems"][0]["subjectURI"] = json!([link(&id(3, 2))]);
    package["CFAssociations"][1]["associationType"] = "ext:unlocks".into();
    package["CFAssociations"][1]["notes"] = "since 1.1".into();
    package["CFAssociations"][2]["destinationNodeURI"]["targetType"] = "CASE".into();
    package["CFDefinitions"] = json!({
        "CFConcepts": [one(1, &json!({ "hierarchyCode": "1" }))],
        "CFSubjects": [one(2, &json!({ "hierarchyCode": "1" }))],
        "CFLicenses": [one(3, &json!({ "licenseText": "CC BY" }))],
        "CFItemTypes": [one(4, &json!({ "hierarchyCode": "1", "description": "d" }))],
        "CFAssociationGroupings": [one(5, &json!({}))],
        "extensions": { "b": 2 },
    });
    let level = json!({
        "identifier": id(3, 8), "uri": "https://example.org/l", "lastChangeDateTime": WHEN,
        "extensions": [{ "c": 3 }],
    });
    let criterion = json!({
        "identifier": id(3, 7), "uri": "https://example.org/c", "lastChangeDateTime": WHEN,
        "weight": 0.5, "CFRubricCriterionLevels": [level], "extensions": { "d": 4 },
    });
    package["CFRubrics"] = json!([one(6, &json!({ "CFRubricCriteria": [criterion] }))]);
    package
}

#[test]
fn a_large_framework_is_stored_read_and_searched() {
    #[expect(clippy::disallowed_methods, reason = "tests are told how large they are")]
    let full = std::env::var("LYCEUM_TEST_SIZE").is_ok_and(|size| size == "full");
    let items = if full { 20_000 } else { 600 };
    let sent = framework(items).to_string();
    both(|db| {
        let timed = |what: &str, work: &dyn Fn()| -> Duration {
            let begun = Instant::now();
            work();
            println!("{items} items, {what}: {:?}", begun.elapsed());
            begun.elapsed()
        };
        let took = timed("stored", &|| drop(store(db, &sent)));
        assert!(
            took < Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 5 }),
            "{took:?}"
        );
        timed("replaced", &|| drop(store(db, &sent)));
        let whole = id(0, 1);
        timed("read", &|| drop(written(db, Shape::V1p1, &whole)));
        timed("read by the platform", &|| drop(written(db, Shape::Platform, &whole)));
        assert_eq!(json(&written(db, Shape::V1p1, &whole)), json(&sent));

        let found = |query: &[(&str, &str)]| {
            let query = Query::read(&class::ITEM, query.iter().copied()).unwrap();
            assert!(query.is_cheap());
            let reader = reader(Shape::V1p1);
            db.read_blocking(|tx| repository::list(tx, &reader, &query)).unwrap()
        };
        let last = format!("statement{items}");
        timed("searched", &|| assert_eq!(found(&[("search", &last)]).total, 1));
        timed("searched for what all have", &|| {
            assert_eq!(found(&[("search", "stud frac")]).total, items as u64);
        });
        assert_eq!(
            found(&[("search", "fraction"), ("grade", "5")]).total,
            found(&[("grade", "05")]).total
        );
        // The code is a beginning of longer ones.
        assert!((1..4).contains(&found(&[("search", "ly.1.1.92")]).total));
        assert_eq!(found(&[("search", "fraction"), ("limit", "7")]).count, 7);
    });
}
