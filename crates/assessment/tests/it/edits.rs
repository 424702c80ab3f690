//! Parts, sections and references of a stored test are changed where they stand.

use lyceum_assessment::structure::{self, TestEdit};
use lyceum_assessment::{CheckedDocument, ContentKind, Object, StoredDocument, parse, repository};
use lyceum_core::{ProblemKind, Result};
use lyceum_store::{Db, Tx};
use serde_json::{Value, json};

use crate::{both, now, plain_item};

/// A test with parts that its JSON form cannot express.
const RICH: &str = r#"<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="rich" title="Rich">
  <qti-test-part identifier="p1" navigation-mode="linear" submission-mode="individual">
    <!-- the first -->
    <qti-assessment-section identifier="s1" title="One" visible="true">
      <qti-rubric-block use="instructions" view="candidate"><qti-content-body><p>Read</p></qti-content-body></qti-rubric-block>
      <qti-assessment-item-ref identifier="a" href="items/a.xml"><qti-branch-rule target="c"><qti-base-value base-type="boolean">true</qti-base-value></qti-branch-rule></qti-assessment-item-ref>
      <qti-assessment-section identifier="inner" title="Inner" visible="false">
        <qti-assessment-item-ref identifier="b" href="items/b.xml"/>
        <qti-assessment-item-ref identifier="c" href="c"/>
      </qti-assessment-section>
    </qti-assessment-section>
  </qti-test-part>
</qti-assessment-test>"#;

/// Stores the items a to d and the test.
fn rich(db: &Db) -> StoredDocument {
    db.write_blocking(|tx| {
        for name in ["a", "b", "c", "d"] {
            repository::create(tx, now(), &plain_item(name))?;
        }
        repository::create(
            tx,
            now(),
            &CheckedDocument::of(ContentKind::Test, RICH.to_owned(), &Object::new())?,
        )
    })
    .unwrap()
}

fn object(json: &Value) -> Object {
    parse(json.to_string().as_bytes()).unwrap()
}

/// Makes an edit and stores it.
fn edit(db: &Db, path: &[&str], edit: &TestEdit) -> Result<StoredDocument> {
    db.write_blocking(|tx| {
        let stored = repository::require(tx, ContentKind::Test, "rich")?;
        store_edit(tx, &stored, path, edit)
    })
}

/// Makes an edit of a version and stores it, if that version is still the stored one.
fn store_edit(
    tx: &mut Tx<'_>,
    read: &StoredDocument,
    path: &[&str],
    edit: &TestEdit,
) -> Result<StoredDocument> {
    let change = structure::edited(read, path, edit)?.change;
    repository::replace(tx, now(), ContentKind::Test, "rich", &change, Some(read.version))
}

fn reference(name: &str) -> Value {
    json!({ "identifier": name, "href": format!("assessment-items/{name}") })
}

fn section(name: &str, items: &[&str]) -> Value {
    let items: Vec<Value> = items.iter().map(|name| reference(name)).collect();
    json!({ "identifier": name, "title": name, "visible": true, "qti-assessment-item-ref": items })
}

fn names(member: &Value) -> Vec<&str> {
    let items = member["qti-assessment-item-ref"].as_array().unwrap();
    items.iter().map(|item| item["identifier"].as_str().unwrap()).collect()
}

#[test]
fn an_edit_does_not_change_the_rest_of_the_document() {
    both(|db| {
        rich(db);
        let mut added = reference("d");
        added["sequence"] = json!(2);
        let stored = edit(db, &["p1", "s1"], &TestEdit::Add(object(&added))).unwrap();
        let inner = "      <qti-assessment-section identifier=\"inner";
        let d = "      <qti-assessment-item-ref identifier=\"d\" href=\"assessment-items/d\"/>\n";
        assert_eq!(stored.xml, RICH.replace(inner, &format!("{d}{inner}")));
        let shown = structure::member(&stored, &["p1", "s1"]).unwrap();
        assert_eq!(names(&shown), ["a", "d", "b", "c"]);
        let removed = edit(db, &["p1", "s1", "d"], &TestEdit::Remove).unwrap();
        assert_eq!((removed.xml.as_str(), removed.version), (RICH, 3));
        let order = json!({ "items": [reference("c"), reference("b")] });
        let ordered = edit(db, &["p1", "inner"], &TestEdit::Order(object(&order))).unwrap();
        assert_eq!(names(&structure::member(&ordered, &["p1", "inner"]).unwrap()), ["c", "b"]);
        let title = object(&json!({ "title": "Changed", "toolsEnabled": { "ruler": true } }));
        let whole = edit(db, &[], &TestEdit::Replace(title)).unwrap();
        for part in
            ["<!-- the first -->", "qti-rubric-block", "qti-branch-rule", "title=\"Changed\""]
        {
            assert!(whole.xml.contains(part), "{part}: {}", whole.xml);
        }
        let shown: Value = serde_json::from_str(&whole.json).unwrap();
        assert_eq!(shown["toolsEnabled"]["ruler"], true);
    });
}

#[test]
fn an_invalid_edit_is_refused_with_its_reason() {
    use ProblemKind::{Conflict, Invalid, NotFound};
    both(|db| {
        let before = rich(db);
        let add = |json: Value| TestEdit::Add(object(&json));
        let replace = |json: Value| TestEdit::Replace(object(&json));
        let part = json!({
            "identifier": "p1", "navigationMode": "linear", "submissionMode": "individual",
            "qti-assessment-section": [section("s9", &[])],
        });
        let cases: [(&[&str], TestEdit, ProblemKind, &str); 13] = [
            (&["p1"], TestEdit::Remove, Conflict, "the only one in the test 'rich'"),
            (&["p1", "s1"], TestEdit::Remove, Conflict, "the only one in the part 'p1'"),
            (&["p1", "inner", "c"], TestEdit::Remove, Conflict, "a qti-branch-rule of 'a'"),
            (&["p1", "inner"], TestEdit::Remove, Conflict, "'c' is in use"),
            (&["p9"], TestEdit::Remove, NotFound, "there is no test part 'p9'"),
            (&["p1", "s1", "z"], TestEdit::Remove, NotFound, "there is no item 'z'"),
            (&[], add(part), Conflict, "with the identifier 'p1'"),
            (&["p1"], add(section("a", &[])), Conflict, "with the identifier 'a'"),
            (&["p1"], add(section("s9", &["x", "a"])), Conflict, "with the identifier 'a'"),
            (&["p1", "s1"], add(reference("x")), Invalid, "there is no item 'x'"),
            (&["p1", "s1"], add(json!({})), Invalid, "identifier"),
            (
                &["p1", "s1"],
                TestEdit::Order(object(&json!({ "items": [reference("b")] }))),
                Invalid,
                "a, b, c",
            ),
            (
                &["p1", "s1"],
                replace(json!({ "identifier": "s2" })),
                Invalid,
                "an identifier cannot be changed",
            ),
        ];
        for (path, wrong, kind, text) in cases {
            let refused = edit(db, path, &wrong).unwrap_err();
            assert_eq!(refused.kind, kind, "{path:?} {wrong:?}: {refused}");
            let details =
                refused.details.iter().map(|detail| format!("{} {}", detail.path, detail.message));
            let all_messages = details
                .fold(refused.message.to_string(), |all_messages, detail| all_messages + &detail);
            assert!(all_messages.contains(text), "{path:?} {wrong:?}: {all_messages}");
        }
        let after =
            db.read_blocking(|tx| repository::require(tx, ContentKind::Test, "rich")).unwrap();
        assert_eq!(after, before);
    });
}

#[test]
fn every_missing_item_of_a_test_is_named_and_a_used_item_is_not_deleted() {
    both(|db| {
        rich(db);
        let lost = RICH
            .replace("\"b\"", "\"x\"")
            .replace("items/b", "items/x")
            .replace("href=\"c\"", "href=\"y\"");
        let lost = lost
            .replace("identifier=\"c\"", "identifier=\"y\"")
            .replace("target=\"c\"", "target=\"y\"");
        let lost = lost.replace("identifier=\"rich\"", "identifier=\"lost\"");
        let draft = CheckedDocument::of(ContentKind::Test, lost, &Object::new()).unwrap();
        let refused = db.write_blocking(|tx| repository::create(tx, now(), &draft)).unwrap_err();
        let paths: Vec<&str> = refused.details.iter().map(|detail| &*detail.path).collect();
        assert_eq!(paths, ["qti-assessment-item-ref 'x'", "qti-assessment-item-ref 'y'"]);
        let delete = |name: &str| {
            db.write_blocking(|tx| repository::delete(tx, now(), ContentKind::Item, name, None))
        };
        let refused = delete("a").unwrap_err();
        assert!(
            refused.kind == ProblemKind::Conflict && refused.message.contains("test 'rich'"),
            "{refused}"
        );
        delete("d").unwrap();
    });
}

#[test]
fn an_edit_of_an_old_version_is_refused() {
    both(|db| {
        let old = rich(db);
        edit(db, &["p1", "s1"], &TestEdit::Add(object(&reference("d")))).unwrap();
        let path = ["p1", "inner", "b"];
        let refused = db.write_blocking(|tx| store_edit(tx, &old, &path, &TestEdit::Remove));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::PreconditionFailed);
    });
}

#[test]
fn questions_are_the_items_of_a_test_in_its_order() {
    both(|db| {
        rich(db);
        let questions = |name: &str| db.read_blocking(|tx| structure::questions(tx, name));
        let found: Value = serde_json::from_str(&questions("rich").unwrap()).unwrap();
        assert_eq!((&found["title"], &found["totalQuestions"]), (&json!("Rich"), &json!(3)));
        let places: Vec<String> = found["questions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["reference"].to_string())
            .collect();
        let place =
            json!({ "identifier": "b", "href": "items/b.xml", "testPart": "p1", "section": "s1" });
        assert_eq!(places[1], place.to_string());
        let items = found["questions"].as_array().unwrap().iter();
        let items: Vec<&str> =
            items.map(|one| one["question"]["identifier"].as_str().unwrap()).collect();
        assert_eq!(items, ["a", "b", "c"]);
        assert_eq!(questions("none").unwrap_err().kind, ProblemKind::NotFound);
    });
}
