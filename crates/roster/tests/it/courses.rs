//! Courses as trees: created whole, read as a syllabus.

use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach};
use lyceum_roster::cartridge::CartridgeContent;
use lyceum_roster::limits;
use lyceum_roster::record::Status;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::WriteOutcome;
use lyceum_roster::write::{self, WriteRules};
use lyceum_roster::{course_tree, structure, syllabus};
use lyceum_store::Db;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::kit::{BASE, both, collection, create, rules};

fn post(db: &Db, body: &str) -> Result<WriteOutcome, Problem> {
    let structure = structure::read(body, &rules())?;
    db.write_blocking(|tx| structure.create(tx, &Reach::Everything))
}

pub(crate) fn put_course(db: &Db, body: &Value) -> WriteOutcome {
    post(db, &body.to_string()).unwrap_or_else(|problem| panic!("{body}: {problem:?}"))
}

fn refused(db: &Db, body: &Value) -> Problem {
    post(db, &body.to_string()).expect_err("the structure is faulty")
}

fn read(db: &Db, course: &str, status: Status) -> String {
    let view = RecordView { base_url: BASE, dialect: PayloadDialect::Platform, fields: None };
    let tree = db.read_blocking(|tx| course_tree::read(tx, course, status)).unwrap();
    let mut text = String::new();
    syllabus::render(&tree, &view, &mut text).unwrap();
    text
}

fn tree(db: &Db, course: &str) -> Value {
    serde_json::from_str(&read(db, course, Status::Active)).unwrap()
}

/// A tree as a person sees it: titles with what lies below them.
fn outline(node: &Value) -> Value {
    let list = |name: &str| node[name].as_array().cloned().unwrap_or_default();
    let resource = |link: &Value| json!([link["title"], link["resource"]["vendorResourceId"]]);
    json!({
        "title": node["title"],
        "metadata": node["metadata"],
        "links": list("componentResources").iter().map(resource).collect::<Vec<_>>(),
        "parts": list("subComponents").iter().map(outline).collect::<Vec<_>>(),
    })
}

pub(crate) fn resource(id: &str, metadata: Value) -> Value {
    json!({"sourcedId": id, "title": id, "vendorResourceId": format!("v-{id}"), "metadata": metadata})
}

pub(crate) fn course(id: &str, parts: Value) -> Value {
    json!({
        "course": {"sourcedId": id, "title": format!("Course {id}"), "courseCode": id},
        "courseStructure": {"subComponents": parts},
    })
}

#[test]
fn records_without_ids_get_stable_ids_and_keep_their_order() {
    both(|db| {
        let link = |title: &str| json!({"title": title, "resource": {"title": title, "vendorResourceId": title}});
        let body = course(
            "c",
            json!([
                {"title": "Zebra", "componentResources": [link("b"), link("a"), link("a")]},
                {"title": "Ant", "subComponents": [{"title": "Same"}, {"title": "Same"}]},
            ]),
        );
        assert_eq!(put_course(db, &body), WriteOutcome::Created);
        assert_eq!(put_course(db, &body), WriteOutcome::Unchanged);
        let read = tree(db, "c");
        let shown = outline(&read);
        assert_eq!(shown["parts"][0]["links"], json!([["b", "b"], ["a", "a"], ["a", "a"]]));
        assert_eq!(shown["parts"][1]["title"], "Ant");
        assert_eq!(shown["parts"][1]["parts"].as_array().unwrap().len(), 2);
        let again = json!({"course": read.clone(), "courseStructure": read});
        assert_eq!(
            put_course(db, &again),
            WriteOutcome::Unchanged,
            "a syllabus stands for course and tree"
        );
    });
}

#[test]
fn siblings_are_sorted_by_sort_order_title_and_id() {
    both(|db| {
        let part = |id: &str, title: &str, order: Value| json!({"sourcedId": id, "title": title, "sortOrder": order});
        let parts = [
            part("none", "A", Value::Null),
            part("ten", "A", json!(10)),
            part("two-b", "B", json!(2)),
            part("two-a-2", "A", json!(2)),
            part("two-a-1", "A", json!(2)),
            part("minus", "Z", json!(-1)),
        ];
        put_course(db, &course("c", json!(parts)));
        let read = tree(db, "c");
        let ids: Vec<&Value> =
            read["subComponents"].as_array().unwrap().iter().map(|p| &p["sourcedId"]).collect();
        assert_eq!(ids, ["minus", "two-a-1", "two-a-2", "two-b", "ten", "none"]);
    });
}

/// The text of a course whose components nest this deep, each with a sibling before it.
fn chain(depth: usize) -> String {
    let mut text = String::from(
        r#"{"course": {"sourcedId": "deep", "title": "Deep"}, "courseStructure": {"subComponents": ["#,
    );
    for level in 0..depth {
        text.push_str(&format!(
            r#"{{"sourcedId": "side-{level}", "title": "Side"}}, {{"sourcedId": "n-{level}", "title": "Spine {level}", "subComponents": ["#
        ));
    }
    text.push_str(&"]}".repeat(depth));
    text.push_str("]}}");
    text
}

#[test]
fn nesting_has_no_limit() {
    const DEPTH: usize = 3000;
    both(|db| {
        assert_eq!(post(db, &chain(DEPTH)).unwrap(), WriteOutcome::Created);
        let text = read(db, "deep", Status::Active);
        assert_eq!(text.matches("\"Spine ").count(), DEPTH);
        let innermost = text.find(&format!("\"Spine {}\"", DEPTH - 1)).unwrap();
        let open = text[..innermost].matches("\"subComponents\":[").count();
        let closed = text[..innermost].matches("\"subComponents\":[]").count();
        assert_eq!(open - closed, DEPTH, "the innermost stands inside all others");
        let again = format!(r#"{{"course": {text}, "courseStructure": {text}}}"#);
        assert_eq!(post(db, &again).unwrap(), WriteOutcome::Unchanged);
        let content =
            db.read_blocking(|tx| CartridgeContent::read(tx, "deep", &Reach::Everything)).unwrap();
        assert!(content.write().unwrap().len() > DEPTH);
    });
}

/// Titles and keys that a careless cutter would trip over.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("}]{[\"".to_owned()),
        Just("subComponents".to_owned()),
        Just("\"subComponents\":[{".to_owned()),
        Just("back\\slash\\".to_owned()),
        Just("\u{1F600} \u{7f} \n\t".to_owned()),
        // A title has a visible character.
        "[!-~][ -~]{0,11}",
    ]
}

fn node() -> impl Strategy<Value = Value> {
    let metadata = (nasty(), nasty()).prop_map(|(key, value)| {
        json!({key: [{"subComponents": [value]}], "subComponents": [{"x": {"y": "}"}}]})
    });
    let leaf = (nasty(), metadata, prop::collection::vec(nasty(), 0..3)).prop_map(
        |(title, metadata, links)| {
            let links: Vec<Value> = links
                .iter()
                .map(|title| json!({"title": title, "resource": {"vendorResourceId": title}}))
                .collect();
            json!({"title": title, "metadata": metadata, "componentResources": links})
        },
    );
    leaf.prop_recursive(5, 40, 4, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..4)).prop_map(|(mut node, parts)| {
            node["subComponents"] = parts.into();
            node
        })
    })
}

/// Against the plain recursive reading of the same JSON.
#[test]
fn any_tree_is_read_back_as_it_was_sent() {
    both(|db| {
        let mut runner = TestRunner::new(ProptestConfig { cases: 24, ..ProptestConfig::default() });
        let number = std::cell::Cell::new(0);
        let trees = (prop::collection::vec(node(), 0..4), any::<bool>());
        runner
            .run(&trees, |(parts, pretty)| {
                number.set(number.get() + 1);
                let id = format!("c{}", number.get());
                let body = course(&id, json!(parts));
                let text = if pretty { format!("{body:#}") } else { body.to_string() };
                prop_assert_eq!(post(db, &text).unwrap(), WriteOutcome::Created);
                let expected = outline(&body["courseStructure"]);
                prop_assert_eq!(&outline(&tree(db, &id))["parts"], &expected["parts"]);
                prop_assert_eq!(post(db, &text).unwrap(), WriteOutcome::Unchanged);
                Ok(())
            })
            .unwrap();
    });
}

/// A course with a part in a part and a link.
fn sound() -> Value {
    course(
        "c",
        json!([{"sourcedId": "u", "title": "U", "componentResources": [lesson()],
                "subComponents": [{"sourcedId": "v", "title": "V"}]}]),
    )
}

fn lesson() -> Value {
    json!({"sourcedId": "l", "title": "L", "resource": resource("r", json!({}))})
}

/// Changes of [`sound`] and the path of the first fault that each makes; `_` in it is the first part.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("/course/title", Value::Null, "course.title"),
        ("/course/sourcedId", Value::Null, "course.sourcedId"),
        ("/course/org", json!({"sourcedId": "no"}), "course.org.sourcedId"),
        ("/course", Value::Null, "course"),
        ("/courseStructure", json!([]), "courseStructure"),
        ("/courseStructure/subComponents", json!("x"), "courseStructure.subComponents"),
        ("/courseStructure/sourcedId", json!("d"), "courseStructure.sourcedId"),
        (
            "/courseStructure/componentResources",
            json!([lesson()]),
            "courseStructure.componentResources",
        ),
        ("/courseStructure/subComponents/0/sortOrder", json!("1"), "_.sortOrder"),
        ("/courseStructure/subComponents/0/sourcedId", json!(5), "_.sourcedId"),
        ("/courseStructure/subComponents/0/course", json!({"sourcedId": "d"}), "_.course"),
        ("/courseStructure/subComponents/0/parent", json!({"sourcedId": "v"}), "_.parent"),
        ("/courseStructure/subComponents/0/subComponents/0", json!(7), "_.subComponents[0]"),
        (
            "/courseStructure/subComponents/0/subComponents/0/title",
            json!([]),
            "_.subComponents[0].title",
        ),
        (
            "/courseStructure/subComponents/0/subComponents/0/sourcedId",
            json!("u"),
            "_.subComponents[0].sourcedId",
        ),
        (
            "/courseStructure/subComponents/0/subComponents/0/prerequisites",
            json!(["u", []]),
            "_.subComponents[0].prerequisites[1]",
        ),
        ("/courseStructure/subComponents/0/componentResources", json!({}), "_.componentResources"),
        (
            "/courseStructure/subComponents/0/componentResources/0",
            json!(1),
            "_.componentResources[0]",
        ),
        (
            "/courseStructure/subComponents/0/componentResources/0/resource",
            Value::Null,
            "_.componentResources[0].resource",
        ),
        (
            "/courseStructure/subComponents/0/componentResources/0/resource",
            json!({"sourcedId": "no"}),
            "_.componentResources[0].resource.sourcedId",
        ),
        (
            "/courseStructure/subComponents/0/componentResources/0/resource/vendorResourceId",
            json!(null),
            "_.componentResources[0].resource.vendorResourceId",
        ),
        (
            "/courseStructure/subComponents/0/componentResources/0/courseComponent",
            json!({"sourcedId": "v"}),
            "_.componentResources[0].courseComponent",
        ),
    ]
}

#[test]
fn errors_are_reported_with_their_whole_path_and_nothing_is_stored() {
    both(|db| {
        for (at, value, path) in cases() {
            let mut body = sound();
            let (around, name) = at.rsplit_once('/').unwrap();
            match body.pointer_mut(around).unwrap() {
                Value::Array(list) => list[0] = value.clone(),
                object => object[name] = value.clone(),
            }
            let path = path.replace('_', "courseStructure.subComponents[0]");
            let problem = refused(db, &body);
            assert_eq!(problem.kind, ProblemKind::Invalid, "{at}: {problem:?}");
            // What refers to the faulty part may be told after it.
            assert_eq!(problem.details[0].path, path, "{at} = {value}: {problem}");
        }
        let gone = db.read_blocking(|tx| course_tree::read(tx, "c", Status::Active));
        assert_eq!(gone.unwrap_err().kind, ProblemKind::NotFound);
        assert_eq!(put_course(db, &sound()), WriteOutcome::Created);
    });
}

#[test]
fn a_structure_that_is_not_a_json_object_is_malformed() {
    both(|db| {
        for broken in [
            "",
            "[]",
            "{",
            "{\"course\": {}",
            "{\"course\": {}, \"courseStructure\": {\"subComponents\": [,]}}",
        ] {
            assert_eq!(post(db, broken).unwrap_err().kind, ProblemKind::Malformed, "{broken}");
        }
    });
}

#[test]
fn a_structure_takes_over_no_record_and_reports_a_limited_number_of_errors() {
    both(|db| {
        create(db, "courses", json!({"sourcedId": "old", "title": "Old"}));
        create(
            db,
            "courses/components",
            json!({"sourcedId": "u", "title": "U", "course": {"sourcedId": "old"}}),
        );
        create(db, "resources", json!({"sourcedId": "r", "vendorResourceId": "v"}));
        let taken = course("c", json!([{"sourcedId": "u", "title": "U"}]));
        let problem = refused(db, &taken);
        assert_eq!(problem.kind, ProblemKind::Conflict);
        assert_eq!(problem.details[0].path, "courseStructure.subComponents[0].sourcedId");
        let alone = db.read_blocking(|tx| course_tree::read(tx, "c", Status::Active));
        assert_eq!(alone.unwrap_err().kind, ProblemKind::NotFound, "all or nothing");

        let by_name = json!([{"title": "U", "componentResources": [
            {"title": "one", "resource": {"sourcedId": "r"}},
            {"title": "two", "resource": {"sourcedId": "r", "type": "resource"}},
        ]}]);
        put_course(db, &course("c", by_name));
        assert_eq!(
            outline(&tree(db, "c"))["parts"][0]["links"],
            json!([["one", "v"], ["two", "v"]])
        );

        let faulty =
            vec![json!({"title": 0, "sortOrder": "x"}); 3 * limits::COURSE_MAX_REPORTED_FAULTS];
        let problem = refused(db, &course("d", faulty.into()));
        assert_eq!(problem.details.len(), limits::COURSE_MAX_REPORTED_FAULTS);
        let many = vec![json!({"title": "x"}); limits::COURSE_MAX_NODES + 1];
        assert_eq!(refused(db, &course("d", many.into())).kind, ProblemKind::TooLarge);
    });
}

#[test]
fn deleted_parts_leave_the_syllabus_and_are_shown_on_demand() {
    both(|db| {
        let link =
            |id: &str| json!({"sourcedId": id, "title": id, "resource": resource("r", json!({}))});
        let body = course(
            "c",
            json!([
                {"sourcedId": "a", "title": "a", "componentResources": [link("la"), link("lb")],
                 "subComponents": [{"sourcedId": "a1", "title": "a1"}]},
                {"sourcedId": "b", "title": "b", "subComponents": [{"sourcedId": "b1", "title": "b1"}]},
                {"sourcedId": "c3", "title": "c3"},
            ]),
        );
        put_course(db, &body);
        let delete = |path: &str, id: &str| {
            let now = rules().now;
            db.write_blocking(|tx| {
                write::delete(tx, collection(path), id, now, false, None, &Reach::Everything)
            })
            .unwrap();
        };
        delete("courses/components", "b");
        delete("courses/component-resources", "lb");
        let titles = |node: &Value| -> Vec<String> {
            let list = node["subComponents"].as_array().unwrap();
            list.iter().map(|part| part["sourcedId"].as_str().unwrap().to_owned()).collect()
        };
        let active = tree(db, "c");
        assert_eq!(titles(&active), ["a", "c3"], "what lies in a deleted part is gone with it");
        assert_eq!(active["subComponents"][0]["componentResources"][0]["sourcedId"], "la");
        let gone: Value = serde_json::from_str(&read(db, "c", Status::ToBeDeleted)).unwrap();
        assert_eq!(titles(&gone), ["a", "b"], "deleted ones, and what they were in");
        assert_eq!(gone["subComponents"][0]["componentResources"][0]["sourcedId"], "lb");
        assert_eq!(titles(&gone["subComponents"][0]), [] as [&str; 0]);
        assert_eq!(gone["subComponents"][1]["status"], "tobedeleted");
    });
}

#[test]
fn ids_are_allocated_to_courses_if_the_setting_says_so() {
    both(|db| {
        let mut body = course("c", json!([]));
        body["course"].as_object_mut().unwrap().remove("sourcedId");
        let allocating = WriteRules { allocate_missing_ids: true, ..rules() };
        let read = structure::read(&body.to_string(), &allocating).unwrap();
        db.write_blocking(|tx| read.create(tx, &Reach::Everything)).unwrap();
        assert_eq!(tree(db, &read.pair().allocated_sourced_id)["title"], "Course c");
    });
}
