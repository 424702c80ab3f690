//! `lyceum standards`, on both stores.

use std::time::Instant;

use serde_json::{Value, json};

use crate::admin::migrated_places;
use crate::transcript::Place;

const FRAMEWORK: &str = "7e000000-0000-4000-8000-000000000001";

fn item(number: usize) -> String {
    format!("7e000000-0000-4000-8000-1{number:011}")
}

/// A framework of items in one row below the document.
fn package(items: usize) -> Value {
    let when = "2026-01-15T08:00:00+00:00";
    let link = |id: &str| json!({"title": "node", "identifier": id, "uri": format!("https://example.org/{id}")});
    let one = |number: usize| {
        json!({
            "identifier": item(number), "uri": "https://example.org/i", "lastChangeDateTime": when,
            "humanCodingScheme": format!("M.{number}"),
            "fullStatement": format!("Students understand statement {number} about the place value of whole \
                numbers and explain it to others, in words and in writing"),
        })
    };
    let up = |number: usize| {
        json!({
            "identifier": item(number).replace("-8000-", "-9000-"), "uri": "https://example.org/a",
            "lastChangeDateTime": when, "associationType": "isChildOf",
            "originNodeURI": link(&item(number)), "destinationNodeURI": link(FRAMEWORK),
        })
    };
    json!({
        "CFDocument": {"identifier": FRAMEWORK, "uri": "https://example.org/d", "creator": "Board",
                       "title": "Mathematics", "lastChangeDateTime": when},
        "CFItems": (0..items).map(one).collect::<Value>(),
        "CFAssociations": (0..items).map(up).collect::<Value>(),
        "extensions": {"made": "by hand"},
    })
}

#[test]
fn a_framework_is_imported_listed_published_and_exported() {
    for place in migrated_places() {
        place.write("math.json", &package(3).to_string());
        let (code, stdout, done) = place.run("standards import math.json");
        assert_eq!((code, done.as_str()), (0, "imported 1 framework\n"));
        assert_eq!(stdout, format!("created {FRAMEWORK} 'Mathematics': 3 items, 3 associations\n"));
        assert_eq!(
            place.json("standards import math.json --json"),
            json!({"id": FRAMEWORK, "title": "Mathematics", "written": "replaced",
                   "stats": {"documents": 1, "items": 3, "associations": 3}})
        );
        let listed = place.json("standards list --json");
        assert_eq!((&listed[0]["items"], &listed[0]["public"]), (&json!(3), &json!(false)));
        place.ok(&format!("standards publish {FRAMEWORK}"));
        assert!(place.ok("standards list").contains("public"));
        place.ok(&format!("standards unpublish {FRAMEWORK}"));
        assert_eq!(place.json("standards list --json")[0]["public"], false);
        assert_eq!(place.json(&format!("standards export {FRAMEWORK}")), package(3));
        place.ok(&format!("standards export {FRAMEWORK} -o out.json"));
        place.ok("standards import out.json");
        place.ok(&format!("standards export {FRAMEWORK} -o again.json"));
        let text = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(text("out.json"), text("again.json"));
    }
}

#[test]
fn errors_in_a_framework_are_reported_with_their_path() {
    let place = Place::new();
    assert_eq!(place.fails("standards list").0, 4, "there is no database yet");
    assert_eq!(place.fails("standards import").0, 2);
    assert_eq!(place.fails("standards import gone.json").0, 4);
    let mut wrong = package(2);
    wrong["CFItems"][1]["identifier"] = "x".into();
    wrong["CFItems"][0].as_object_mut().unwrap().remove("fullStatement");
    place.write("good.json", &package(1).to_string());
    place.write("wrong.json", &wrong.to_string());
    let (code, _, stderr) = place.run("standards import good.json wrong.json");
    assert_eq!(code, 1);
    assert!(stderr.contains("'wrong.json': CFItems[0].fullStatement"), "{stderr}");
    assert!(stderr.contains("CFItems[1].identifier: must be a UUID"), "{stderr}");
    assert_eq!(place.json("standards list --json")[0]["items"], 1, "what came before is kept");
    for line in ["export", "publish", "unpublish"] {
        assert_eq!(place.fails(&format!("standards {line} {}", item(1))).0, 4, "{line}");
        assert_eq!(place.fails(&format!("standards {line} nothing")).0, 1, "{line}");
    }
}

/// 20 000 items are imported within 5 s; a smaller number where tests are small.
#[test]
#[ignore = "rest"]
fn a_large_framework_is_imported_quickly() {
    let full = crate::served::variable("LYCEUM_TEST_SIZE").as_deref() == Some("full");
    let items = if full { 20_000 } else { 1000 };
    for place in migrated_places() {
        let place = if full { place.running(crate::served::binary()) } else { place };
        place.write("large.json", &package(items).to_string());
        place.ok("config");
        let begun = Instant::now();
        place.ok("standards import large.json");
        let took = begun.elapsed();
        println!("{items} items imported in {took:?}");
        assert!(!full || took.as_secs_f64() <= 5.0, "{took:?}");
        assert_eq!(place.json(&format!("standards export {FRAMEWORK}")), package(items));
    }
}
