//! Lessons that are looked for in all courses.

use lyceum_roster::fields;
use lyceum_roster::repository::placed_with_word;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::kit::{both, create};

/// A component resource in the only component.
fn placed(id: &str, resource: &str, own: Option<&str>) -> Value {
    json!({
        "sourcedId": id, "title": id, "sortOrder": 1, "lessonType": own,
        "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": resource},
    })
}

/// The lessons that a word finds.
fn found(db: &Db, word: &str) -> Vec<String> {
    let found = db.read_blocking(|tx| placed_with_word(tx, word)).unwrap();
    let id = |lesson| fields::text(&fields::of(lesson).unwrap(), "sourcedId").to_owned();
    found.iter().map(|placed| id(&placed.lesson)).collect()
}

#[test]
fn lessons_are_found_by_their_own_type_or_that_of_their_resource() {
    both(|db| {
        let resource = |id: &str, metadata: Value| json!({"sourcedId": id, "title": id, "vendorResourceId": id, "metadata": metadata});
        create(db, "courses", json!({"sourcedId": "math", "title": "Math", "courseCode": "M"}));
        let unit = json!({"sourcedId": "unit", "title": "Unit", "sortOrder": 1, "course": {"sourcedId": "math"}});
        create(db, "courses/components", unit);
        create(db, "resources", resource("text", json!({})));
        create(db, "resources", resource("test", json!({"lessonType": "placement"})));
        let links = "courses/component-resources";
        create(db, links, placed("by-resource", "test", None));
        create(db, links, placed("plain", "text", None));
        create(db, links, placed("by-itself", "text", Some("placement")));
        assert_eq!(found(db, "placement"), ["by-resource", "by-itself"]);
        create(db, links, placed("later", "text", Some("unit-test")));
        assert_eq!(found(db, "unit-test"), ["later"]);
        assert_eq!(found(db, "test-out"), [""; 0]);
    });
}
