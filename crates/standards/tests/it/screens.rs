//! The console's screen of a course: its tree, the standards that it covers, its classes.

use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach};
use lyceum_standards::alignment;
use lyceum_standards::screens::course;
use lyceum_testkit::records;
use serde_json::json;

use crate::{both, store};

const HALVES: &str = "7e000001-0000-4000-8000-000000000001";
const QUARTERS: &str = "7e000001-0000-4000-8000-000000000002";
const WHEN: &str = "2026-01-15T08:00:00Z";

/// A framework of two standards, one of them without a code.
fn framework() -> String {
    let item = |id: &str, code: Option<&str>, statement: &str| {
        let mut item = json!({
            "identifier": id, "uri": format!("https://example.org/{id}"), "lastChangeDateTime": WHEN,
            "fullStatement": statement,
        });
        if let Some(code) = code {
            item["humanCodingScheme"] = code.into();
        }
        item
    };
    let document = "7e000000-0000-4000-8000-000000000001";
    json!({
        "CFDocument": {
            "identifier": document, "uri": "https://example.org/d", "creator": "Board", "title": "Fractions",
            "lastChangeDateTime": WHEN,
        },
        "CFItems": [
            item(HALVES, Some("N.1"), "Knows halves"),
            item(QUARTERS, None, "Knows quarters and what they have to do with halves"),
        ],
        "CFAssociations": [],
    })
    .to_string()
}

#[test]
fn a_course_is_a_numbered_tree_with_the_standards_that_each_part_covers() {
    both(|db| {
        store(db, &framework());
        records::school(db, "s", "School");
        records::course(db, "c", "s", "Math");
        records::class(db, "k", "c", "s");
        let part = |id: &str, parent: Option<&str>, order: i64| {
            let mut component = json!({
                "sourcedId": id, "title": format!("Unit {id}"), "course": { "sourcedId": "c" }, "sortOrder": order,
            });
            if let Some(parent) = parent {
                component["parent"] = json!({ "sourcedId": parent });
            }
            records::create(db, "courses/components", &component);
        };
        part("one", None, 1);
        part("two", None, 2);
        part("deep", Some("one"), 1);
        let resource = json!({ "sourcedId": "r", "title": "Reading", "vendorResourceId": "r", "metadata": { "type": "text" } });
        records::create(db, "resources", &resource);
        let link = json!({
            "sourcedId": "l", "title": "Read it", "sortOrder": 1, "courseComponent": { "sourcedId": "one" },
            "resource": { "sourcedId": "r" },
        });
        records::create(db, "courses/component-resources", &link);
        let now: Timestamp = WHEN.parse().unwrap();
        let align = |kind: &str, id: &str, item: &str| {
            let items = [item.to_owned()];
            db.write_blocking(|tx| alignment::set(tx, now, (kind, id), &items, &Reach::Everything))
                .unwrap();
        };
        align("course", "c", HALVES);
        align("courseComponent", "deep", HALVES);
        align("resource", "r", QUARTERS);
        align("componentResource", "l", QUARTERS);
        let content =
            db.read_blocking(|tx| course::read(tx, now, "c", &Reach::Everything)).unwrap();
        let places: Vec<(&str, &str, &str)> = content
            .nodes
            .iter()
            .map(|node| (node.place.as_str(), node.title.as_str(), node.kind.as_str()))
            .collect();
        let expected = [
            ("1", "Unit one", ""),
            ("1.1", "Read it", "text"),
            ("1.2", "Unit deep", ""),
            ("2", "Unit two", ""),
        ];
        assert_eq!(places, expected);
        assert_eq!((content.component_count, content.classes.len()), (3, 1));
        assert_eq!(content.course.class_count, 1);
        let covered: Vec<(&str, Vec<&str>)> = content
            .covered
            .iter()
            .map(|one| {
                let places = one.by.iter().map(|(place, _)| place.as_str()).collect();
                (one.standard.code.as_str(), places)
            })
            .collect();
        // A standard that a resource and its link cover is named once for both.
        assert_eq!(covered, [("Knows quarters and what ", vec!["1.1"]), ("N.1", vec!["", "1.2"])]);
        let missing =
            db.read_blocking(|tx| course::read(tx, now, "none", &Reach::Everything).map(drop));
        assert_eq!(missing.unwrap_err().kind, ProblemKind::NotFound);
    });
}
