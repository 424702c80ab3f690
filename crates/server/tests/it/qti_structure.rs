//! Tests of assessment content over HTTP: parts, sections, items, their order, questions.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{always_both, both};
use serde_json::{Value, json};

pub(crate) fn get(client: &TestClient, path: &str) -> Value {
    client.get(path).expect(200).json()
}

/// Stores a choice item.
pub(crate) fn item(client: &TestClient, name: &str) {
    let xml = format!(
        "<qti-assessment-item xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" \
         identifier=\"{name}\" title=\"Item {name}\" time-dependent=\"false\">\
         <qti-response-declaration identifier=\"RESPONSE\" cardinality=\"single\" base-type=\"identifier\">\
         <qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>\
         <qti-item-body><qti-choice-interaction response-identifier=\"RESPONSE\" max-choices=\"1\">\
         <qti-simple-choice identifier=\"A\">a</qti-simple-choice></qti-choice-interaction></qti-item-body>\
         </qti-assessment-item>"
    );
    let body = json!({"format": "xml", "xml": xml});
    client.post("/assessment-items").json(&body).expect(201);
}

fn items(client: &TestClient, names: &[&str]) {
    for name in names {
        item(client, name);
    }
}

fn reference(name: &str) -> Value {
    json!({"identifier": name, "href": format!("assessment-items/{name}")})
}

pub(crate) fn section(name: &str, items: &[&str]) -> Value {
    let items: Vec<Value> = items.iter().map(|name| reference(name)).collect();
    json!({"identifier": name, "title": name, "visible": true, "sequence": 1, "qti-assessment-item-ref": items})
}

fn part(name: &str, sections: &[Value]) -> Value {
    json!({"identifier": name, "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": sections})
}

pub(crate) fn test(client: &TestClient, name: &str, items: &[&str]) {
    let sections = [section(&format!("{name}-s1"), items)];
    let body = json!({"identifier": name, "title": format!("Test {name}"), "qti-test-part": [part(&format!("{name}-p1"), &sections)]});
    client.post("/assessment-tests").json(&body).expect(201);
}

/// A test with parts that JSON cannot express.
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

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["identifier"].as_str().unwrap()).collect()
}

#[test]
fn edits_of_members_keep_the_rest_of_the_document() {
    both(|server| {
        let client = server.client();
        items(&client, &["a", "b", "c", "d"]);
        client.post("/assessment-tests").json(&json!({"format": "xml", "xml": RICH})).expect(201);
        let items_of = "/assessment-tests/rich/test-parts/p1/sections/s1/items";
        let mut added = reference("d");
        added["sequence"] = json!(2);
        let shown: Value = client.post(items_of).json(&added).expect(201).json();
        assert_eq!(names(&shown["qti-assessment-item-ref"]), ["a", "d", "b", "c"]);
        let stored = get(&client, "/assessment-tests/rich");
        assert_eq!(stored["rawXml"], RICH.replace("      <qti-assessment-section identifier=\"inner", "      <qti-assessment-item-ref identifier=\"d\" href=\"assessment-items/d\"/>\n      <qti-assessment-section identifier=\"inner"));
        assert_eq!(stored["version"], 2);
        client.delete(&format!("{items_of}/d")).expect(204);
        assert_eq!(get(&client, "/assessment-tests/rich")["rawXml"], RICH);
        assert_eq!(get(&client, "/assessment-tests/rich/versions/2")["rawXml"], stored["rawXml"]);

        let inner = get(&client, "/assessment-tests/rich/test-parts/p1/sections/inner");
        assert_eq!(names(&inner["qti-assessment-item-ref"]), ["b", "c"]);
        let order = json!({"items": [reference("c"), reference("b")]});
        let path = "/assessment-tests/rich/test-parts/p1/sections/inner/items/order";
        let ordered: Value = client.put(path).json(&order).expect(200).json();
        assert_eq!(names(&ordered["qti-assessment-item-ref"]), ["c", "b"]);

        // JSON for the whole test is put into the text, too.
        let mut response = get(&client, "/assessment-tests/rich");
        for name in ["rawXml", "qtiXml", "content"] {
            response.as_object_mut().unwrap().remove(name);
        }
        response["title"] = json!("Changed");
        response["toolsEnabled"] = json!({"ruler": true});
        let changed: Value =
            client.put("/assessment-tests/rich").json(&response).expect(200).json();
        let xml = changed["rawXml"].as_str().unwrap();
        for kept in [
            "<!-- the first -->",
            "qti-rubric-block",
            "qti-branch-rule",
            "identifier=\"inner\"",
            "title=\"Changed\"",
        ] {
            assert!(xml.contains(kept), "{kept}: {xml}");
        }
        assert_eq!(changed["toolsEnabled"]["ruler"], true);
        // A document takes the place of the former.
        let whole = json!({"format": "xml", "xml": RICH});
        client.put("/assessment-tests/rich").json(&whole).expect(200);
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, "/assessment-tests/rich")["rawXml"], RICH);
        let response = json!({"metadata": {"k": 1}});
        let shown: Value =
            client.put("/assessment-tests/rich/metadata").json(&response).expect(200).json();
        assert_eq!((&shown["metadata"]["k"], &shown["rawXml"]), (&json!(1), &json!(RICH)));
        client.put("/assessment-tests/rich/metadata").json(&json!({"metadata": null})).expect(200);
        assert_eq!(get(&client, "/assessment-tests/rich").get("metadata"), None);
    });
}

#[test]
fn invalid_members_are_refused_by_name() {
    both(|server| {
        let client = server.client();
        items(&client, &["a", "b", "c"]);
        client.post("/assessment-tests").json(&json!({"format": "xml", "xml": RICH})).expect(201);
        let tests = "/assessment-tests/rich/test-parts";
        let refused = |method: &str, path: &str, body: Value, status: u16, text: &str| {
            let path = format!("{tests}{path}");
            let call = match method {
                "POST" => client.post(&path).json(&body),
                "PUT" => client.put(&path).json(&body),
                _ => client.delete(&path),
            };
            let reply: Value = call.expect(status).json();
            let message = reply["message"].as_str().unwrap();
            assert!(message.contains(text), "{method} {path}: {message}");
            assert!(reply["error"].is_string() && reply["details"].is_array(), "{reply}");
        };
        let none = Value::Null;
        refused("DELETE", "/p1", none.clone(), 409, "the only one in the test 'rich'");
        refused("DELETE", "/p1/sections/inner", none.clone(), 409, "'c' is in use");
        refused("DELETE", "/p1/sections/s1/items/z", none, 404, "there is no item 'z'");
        refused("POST", "", part("p1", &[section("s9", &[])]), 409, "with the identifier 'p1'");
        refused("POST", "/p1/sections", section("a", &[]), 409, "with the identifier 'a'");
        refused("POST", "/p1/sections/s1/items", reference("x"), 422, "there is no item 'x'");
        let order = json!({"items": [reference("b")]});
        refused("PUT", "/p1/sections/s1/items/order", order, 422, "a, b, c");
        let renamed = json!({"identifier": "s2"});
        refused("PUT", "/p1/sections/s1", renamed, 422, "an identifier cannot be changed");
        assert_eq!(get(&client, "/assessment-tests/rich")["rawXml"], RICH);
        assert_eq!(get(&client, "/assessment-tests/rich")["version"], 1);

        let lost = json!({"identifier": "lost", "title": "t", "qti-test-part": [part("p", &[section("s", &["x"])])]});
        client.post("/assessment-tests").json(&lost).expect(422);
        client.get("/assessment-tests/lost").expect(404);
        let reply: Value = client.delete("/assessment-items/a").expect(409).json();
        assert!(reply["message"].as_str().unwrap().contains("test 'rich'"), "{reply}");
        let bad = json!({"format": "xml", "xml": RICH.replace("</qti-test-part>", "")});
        let reply: Value = client.put("/assessment-tests/rich").json(&bad).expect(400).json();
        assert_eq!(reply["details"][0]["line"], 13, "{reply}");
    });
}

#[test]
fn a_member_may_be_added_again_and_another_is_a_conflict() {
    both(|server| {
        let client = server.client();
        items(&client, &["q-1", "q-2"]);
        let test = json!({"identifier": "t", "title": "T", "qti-test-part": [part("p", &[])]});
        let section = |title: &str| json!({"identifier": "s", "title": title, "visible": true});
        let mut test = test;
        test["qti-test-part"][0]["qti-assessment-section"] =
            json!([{"identifier": "first", "title": "First", "visible": true}]);
        client.post("/assessment-tests").json(&test).expect(201);
        let (parts, sections) =
            ("/assessment-tests/t/test-parts", "/assessment-tests/t/test-parts/p/sections");
        let items = "/assessment-tests/t/test-parts/p/sections/first/items";
        let other = json!({
            "identifier": "p2", "navigationMode": "linear", "submissionMode": "individual",
            "qti-assessment-section": [{"identifier": "second", "title": "Second", "visible": true}],
        });
        for (path, body) in [(parts, other), (sections, section("S")), (items, reference("q-1"))] {
            let first: Value = client.post(path).json(&body).expect(201).json();
            let again = client.post(path).json(&body).expect(201);
            let version = again.header("etag").to_owned();
            assert_eq!(again.json::<Value>(), first, "{path}");
            assert_eq!(client.post(path).json(&body).expect(201).header("etag"), version);
        }
        client.post(sections).json(&section("Other")).expect(409);
        client.post(items).json(&json!({"identifier": "q-1", "href": "q-2"})).expect(409);
        let other = "/assessment-tests/t/test-parts/p/sections/s/items";
        client.post(other).json(&reference("q-1")).expect(409);
    });
}

#[test]
fn lists_of_members_have_pages() {
    both(|server| {
        let client = server.client();
        test(&client, "t", &[]);
        for name in ["p3", "p2"] {
            client
                .post("/assessment-tests/t/test-parts")
                .json(&part(name, &[section(&format!("{name}s"), &[])]))
                .expect(201);
        }
        let page =
            get(&client, "/qti/assessment-tests/t/test-parts?limit=2&sort=identifier&order=desc");
        assert_eq!(names(&page["items"]), ["t-p1", "p3"]);
        let around = json!({"total": page["total"], "page": page["page"], "pages": page["pages"], "limit": page["limit"], "sort": page["sort"], "order": page["order"]});
        assert_eq!(
            around,
            json!({"total": 3, "page": 1, "pages": 2, "limit": 2, "sort": "identifier", "order": "desc"})
        );
        assert_eq!(
            names(&get(&client, "/assessment-tests/t/test-parts?query=T-P")["items"]),
            ["t-p1"]
        );
        assert_eq!(
            names(&get(&client, "/assessment-tests/t/test-parts?page=9")["items"]),
            Vec::<&str>::new()
        );
        for wrong in ["sort=age", "order=up"] {
            client.get(&format!("/assessment-tests/t/test-parts?{wrong}")).expect(400);
        }
    });
}

#[test]
fn questions_come_with_their_items() {
    both(|server| {
        let client = server.client();
        items(&client, &["a", "b", "c"]);
        client.post("/assessment-tests").json(&json!({"format": "xml", "xml": RICH})).expect(201);
        let response = get(&client, "/assessment-tests/rich/questions");
        assert_eq!(
            (&response["assessmentTest"], &response["title"], &response["totalQuestions"]),
            (&json!("rich"), &json!("Rich"), &json!(3))
        );
        let second = &response["questions"][1];
        assert_eq!(
            second["reference"],
            json!({"identifier": "b", "href": "items/b.xml", "testPart": "p1", "section": "s1"})
        );
        assert_eq!(second["question"], get(&client, "/assessment-items/b"));
        client.get("/assessment-tests/none/questions").expect(404);
    });
}

#[test]
fn concurrent_edits_are_all_stored_and_old_tags_are_refused() {
    always_both(|server| {
        let client = server.client();
        let all: Vec<String> = (0..12).map(|n| format!("i{n}")).collect();
        for name in &all {
            item(&client, name);
        }
        test(&client, "t", &[]);
        let path = "/assessment-tests/t/test-parts/t-p1/sections/t-s1";
        std::thread::scope(|scope| {
            for name in &all {
                let client = &client;
                scope.spawn(move || {
                    client.post(&format!("{path}/items")).json(&reference(name)).expect(201)
                });
            }
        });
        let shown = get(&client, path);
        let mut got = names(&shown["qti-assessment-item-ref"]);
        got.sort_unstable();
        let mut wanted: Vec<&str> = all.iter().map(String::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(got, wanted);
        assert_eq!(get(&client, "/assessment-tests/t")["version"], 13);
        let late = client.delete(&format!("{path}/items/i1")).header("If-Match", "\"v1\"");
        late.expect(412);
    });
}
