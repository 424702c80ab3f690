//! Documents over HTTP: created from both forms, replaced, deleted, and their versions.

use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::assessment::{choice, get, stored};

fn json_item(identifier: &str) -> Value {
    json!({
        "identifier": identifier, "title": "Capitals", "type": "choice",
        "preInteraction": "<p>Think of France</p>",
        "interaction": {
            "type": "choice", "responseIdentifier": "RESPONSE", "shuffle": false, "maxChoices": 1,
            "questionStructure": {"prompt": "Which is it?", "choices": [
                {"identifier": "A", "content": "Paris"}, {"identifier": "B", "content": "Lyon"},
            ]},
        },
        "responseDeclarations": [{
            "identifier": "RESPONSE", "cardinality": "single", "baseType": "identifier",
            "correctResponse": {"value": ["A"]},
        }],
        "metadata": {"subject": "Geography", "grade": 4, "difficulty": "easy"},
    })
}

#[test]
fn an_item_is_sent_as_xml_and_read_after_a_restart() {
    both(|server| {
        let client = server.client();
        let xml = choice("q-1", "Planets &amp; moons");
        let body = json!({"format": "xml", "xml": xml, "metadata": {"subject": "Science"}});
        let reply = client.post("/assessment-items").json(&body).expect(201);
        assert_eq!(reply.header("etag"), "\"v1\"");
        assert!(
            reply.header("location").ends_with("/assessment-items/q-1"),
            "{}",
            reply.header("location")
        );
        let created: Value = reply.json();
        assert_eq!(created["title"], "Planets & moons");
        assert_eq!((&created["type"], &created["qtiVersion"]), (&json!("choice"), &json!("3.0")));
        assert_eq!((&created["rawXml"], &created["qtiXml"]), (&json!(xml), &json!(xml)));
        assert_eq!(
            created["responseDeclarations"][0]["correctResponse"],
            json!({"value": ["right"]})
        );
        assert_eq!(created["metadata"], json!({"subject": "Science"}));
        assert_eq!(created["createdAt"], created["updatedAt"]);
        assert!(created["content"]["qti-assessment-item"]["qti-item-body"].is_object());

        server.restart();
        let client = server.client();
        for path in
            ["/assessment-items/q-1", "/items/q-1/", "/qti/assessment-items/q-1", "/qti/items/q-1"]
        {
            assert_eq!(get(&client, path), created, "{path}");
        }
        client.get("/assessment-items/q-1").header("if-none-match", "\"v1\"").expect(304);
        client.get("/assessment-items/q-2").expect(404);
        let other = json!({"format": "xml", "xml": choice("q-1", "Moons")});
        let taken: Value = client.post("/items").json(&other).expect(409).json();
        assert_eq!(taken["error"], "Conflict");
        assert!(taken["message"].as_str().unwrap().contains("'q-1'"), "{taken}");
    });
}

#[test]
fn an_item_is_sent_as_json_and_can_be_answered() {
    both(|server| {
        let client = server.client();
        for (path, id) in [("/assessment-items", "c-1"), ("/assessment-items/metadata", "c-2")] {
            let created: Value = client.post(path).json(&json_item(id)).expect(201).json();
            assert_eq!(created["interaction"], json_item(id)["interaction"], "as it was sent");
            assert_eq!(created["metadata"]["difficulty"], "easy");
            assert!(
                created["rawXml"].as_str().unwrap().contains("<qti-simple-choice"),
                "{created}"
            );
            assert_eq!(get(&client, &format!("/assessment-items/{id}")), created);
            let answer = json!({"response": "A"});
            let scored = client.post(&format!("/assessment-items/{id}/process-response"));
            assert_eq!(scored.json(&answer).expect(200).json::<Value>()["score"], 1.0);
        }
        // An item without an interaction is of the type that its author says.
        let bare = json!({"identifier": "bare", "title": "Read this", "type": "media"});
        let created: Value = client.post("/assessment-items").json(&bare).expect(201).json();
        assert_eq!(created["type"], "media");
    });
}

#[test]
fn invalid_items_are_refused_with_the_path() {
    both(|server| {
        let client = server.client();
        let post = |body: &Value, status: u16| -> Value {
            client.post("/assessment-items").json(body).expect(status).json()
        };
        let xml = choice("q-1", "Planets");
        let cut = xml.replace("</qti-prompt>", "");
        let refused = post(&json!({"format": "xml", "xml": cut}), 400);
        let place = &refused["details"][0];
        assert_eq!(place["line"], 13, "{refused}");
        assert!(
            place["column"].as_u64().unwrap() > 0 && !place["message"].as_str().unwrap().is_empty()
        );
        let unknown = xml.replace("qti-prompt", "qti-promt");
        let refused = post(&json!({"xml": unknown}), 400);
        assert_eq!(
            (&refused["details"][0]["line"], &refused["error"]),
            (&json!(10), &json!("Bad Request"))
        );
        let dtd = format!("<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>{xml}");
        post(&json!({"format": "xml", "xml": dtd}), 400);
        let long = choice(&"i".repeat(256), "Long");
        assert_eq!(post(&json!({"xml": long}), 422)["details"][0]["path"], "identifier");
        for (body, place) in [
            (json!({"format": "xml"}), "xml"),
            (json!({"title": "x"}), "identifier"),
            (json!({"identifier": "x"}), "title"),
            (json!({"xml": xml, "metadata": "none"}), "metadata"),
            (
                json!({"identifier": "x", "title": "x", "interaction": {"type": "choice"}}),
                "interaction.responseIdentifier",
            ),
        ] {
            assert_eq!(post(&body, 422)["details"][0]["path"], place, "{body}");
        }
        client.post("/assessment-items").body("application/json", "[1]").expect(400);
        client.post("/assessment-items").body("application/json", "").expect(400);
        client
            .post("/assessment-items")
            .body("application/json", r#"{"title":"a\u0000"}"#)
            .expect(400);
        client.post("/assessment-items").body("text/plain", "x").expect(415);
        // A document of another kind.
        let stimulus = client.post("/stimuli").json(&json!({"format": "xml", "xml": xml}));
        assert!(stimulus.expect(400).text().contains("item"));
        assert_eq!(get(&client, "/assessment-items")["total"], 0);
    });
}

#[test]
fn warnings_are_told_or_refused() {
    both(|server| {
        let client = server.client();
        let body =
            json!({"identifier": "s", "title": "T", "content": "<p style='color:red'>Red</p>"});
        let refused: Value = client.post("/stimuli?strict=true").json(&body).expect(422).json();
        assert!(refused.to_string().contains("'style'"), "{refused}");
        client.post("/stimuli?strict=yes").json(&body).expect(422);
        let stored = client.post("/stimuli").json(&body).expect(201);
        assert!(stored.header("x-lyceum-notice").contains("'style'"));
        let stored: Value = stored.json();
        assert!(stored["warnings"][0]["message"].as_str().unwrap().contains("'style'"), "{stored}");
        client.put("/stimuli/s?strict=true").json(&body).expect(422);
        for content in [json!(5), json!("")] {
            let body = json!({"identifier": "s2", "title": "T", "content": content});
            client.post("/stimuli").json(&body).expect(422);
        }
    });
}

#[test]
fn html_of_a_stimulus_is_stored_or_refused_with_its_path() {
    both(|server| {
        let client = server.client();
        let post = |body: &Value, status: u16| -> Value {
            client.post("/stimuli").json(body).expect(status).json()
        };
        let html = "<p>The sea<br>rises&nbsp;<p>and falls";
        let created = post(&json!({"identifier": "s", "title": "T", "content": html}), 201);
        let xml = created["rawXml"].as_str().unwrap();
        assert!(xml.contains("<p>The sea<br/>rises\u{a0}</p><p>and falls</p>"), "{xml}");
        assert_eq!(get(&client, "/stimuli?query=and%20falls")["total"], 1);

        let html = "<p>one<br>\n <script>x</script>";
        let refused = post(&json!({"identifier": "x", "title": "T", "content": html}), 400);
        let place = &refused["details"][0];
        assert_eq!((&place["line"], &place["column"]), (&json!(2), &json!(2)), "{refused}");
        assert_eq!(place["path"], "content");
        let missing = post(&json!({"identifier": "x", "title": "T"}), 422);
        assert_eq!(missing["details"][0]["path"], "content");
        let pdf = json!({"format": "pdf", "identifier": "x", "title": "T", "content": "x"});
        assert_eq!(post(&pdf, 422)["details"][0]["path"], "format");
        assert_eq!(get(&client, "/stimuli")["total"], 1);
    });
}

#[test]
fn items_that_cannot_be_answered_correctly_are_refused() {
    both(|server| {
        let client = server.client();
        let post = |body: &Value, status: u16| -> Value {
            client.post("/assessment-items").json(body).expect(status).json()
        };
        let mut item = json_item("c-1");
        item["responseDeclarations"][0]["correctResponse"]["value"] = json!(["C"]);
        let refused = post(&item, 422);
        let detail = &refused["details"][0];
        assert_eq!(detail["path"], "responseDeclarations[0].correctResponse.value", "{refused}");
        assert_eq!(detail["message"], "must be one of A, B (got 'C')");
        let xml = choice("q-1", "One");
        let key = xml.replace("<qti-value>right", "<qti-value>rihgt");
        let refused = post(&json!({"xml": key}), 400);
        assert!(refused["message"].as_str().unwrap().contains("'rihgt'"), "{refused}");
        assert!(refused["details"][0]["line"].as_u64().unwrap() > 0);
        let mut lost = json_item("c-2");
        lost["stimulus"] = json!({"identifier": "nowhere"});
        let refused = post(&lost, 422);
        assert!(refused["details"][0]["message"].as_str().unwrap().contains("'nowhere'"));
        assert_eq!(get(&client, "/assessment-items")["total"], 0);
    });
}

#[test]
fn a_create_may_be_sent_again() {
    both(|server| {
        let client = server.client();
        let body = json!({"format": "xml", "xml": choice("q-1", "One"), "metadata": {"a": 1}});
        let first = client.post("/assessment-items").json(&body).expect(201);
        let again = client.post("/assessment-items").json(&body).expect(201);
        for header in ["etag", "location"] {
            assert_eq!(first.header(header), again.header(header));
        }
        assert_eq!(first.json::<Value>(), again.json::<Value>());
        let other = json!({"format": "xml", "xml": choice("q-1", "One")});
        client.post("/assessment-items").json(&other).expect(409);
        let created: Value = client.post("/items").json(&json_item("c-1")).expect(201).json();
        let again = client.post("/assessment-items/metadata").json(&json_item("c-1"));
        assert_eq!(again.expect(201).json::<Value>(), created);
        assert_eq!(get(&client, "/assessment-items")["total"], 2);

        client.delete("/assessment-items/q-1").expect(204);
        let gone: Value = client.get("/assessment-items/q-1").expect(404).json();
        assert!(gone["message"].as_str().unwrap().contains("was deleted"), "{gone}");
        client.post("/assessment-items").json(&other).expect(201);
    });
}

#[test]
fn versions_are_kept_when_a_document_changes_and_when_it_is_deleted() {
    both(|server| {
        let client = server.client();
        let first = stored(&client, "q-1", "One");
        let put = |body: &Value| client.put("/assessment-items/q-1").json(body);
        // The same content again does not make a version.
        assert_eq!(put(&json!({"xml": choice("q-1", "One")})).expect(200).json::<Value>(), first);
        let second: Value = put(&json!({"rawXml": choice("q-1", "Two"), "metadata": {"grade": 3}}))
            .expect(200)
            .json();
        assert_eq!((&second["version"], &second["title"]), (&json!(2), &json!("Two")));
        assert_eq!(second["createdAt"], first["createdAt"]);
        // A title alone changes the title alone, in the XML too; metadata stay.
        let third: Value =
            put(&json!({"title": "Three \"3\" & more", "type": "choice"})).expect(200).json();
        assert_eq!(third["title"], "Three \"3\" & more");
        assert!(
            third["rawXml"].as_str().unwrap().contains("title=\"Three &quot;3&quot; &amp; more\"")
        );
        assert_eq!((&third["metadata"], &third["version"]), (&json!({"grade": 3}), &json!(3)));
        assert_eq!(third["responseDeclarations"], first["responseDeclarations"]);
        let fourth: Value =
            put(&json!({"title": "Three \"3\" & more", "metadata": null})).expect(200).json();
        assert_eq!(fourth.get("metadata"), None);
        // What a client read is what it may send.
        let fifth: Value = put(&fourth).expect(200).json();
        assert_eq!(fifth, fourth);

        server.restart();
        let client = server.client();
        let listed = get(&client, "/assessment-items/q-1/versions?limit=3");
        let numbers: Vec<_> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| (v["version"].as_i64().unwrap(), v["current"].as_bool().unwrap()))
            .collect();
        assert_eq!(numbers, [(4, true), (3, false), (2, false)]);
        assert_eq!((&listed["total"], &listed["pages"]), (&json!(4), &json!(2)));
        assert_eq!(get(&client, "/assessment-items/q-1/versions/1"), first);
        assert_eq!(get(&client, "/assessment-items/q-1/versions/2"), second);
        assert_eq!(get(&client, "/assessment-items/q-1/versions/4"), fourth);
        for missing in ["5", "0", "x", "9999999999999999999999"] {
            client.get(&format!("/assessment-items/q-1/versions/{missing}")).expect(404);
        }
        client.get("/assessment-items/none/versions").expect(404);

        client.delete("/assessment-items/q-1").expect(204);
        client.get("/assessment-items/q-1").expect(404);
        assert_eq!(get(&client, "/assessment-items/q-1/versions")["total"], 4);
        assert_eq!(get(&client, "/assessment-items/q-1/versions/4"), fourth);
        assert_eq!(stored(&client, "q-1", "Again")["version"], 5);
    });
}

#[test]
fn a_write_can_require_the_version_that_it_read() {
    both(|server| {
        let client = server.client();
        stored(&client, "q-1", "One");
        let put = |title: &str, tag: &str| {
            let body = json!({"xml": choice("q-1", title)});
            client.put("/assessment-items/q-1").header("if-match", tag).json(&body).send().status
        };
        assert_eq!(put("Two", "\"v1\""), 200);
        assert_eq!(put("Three", "\"v1\""), 412);
        assert_eq!(put("Three", "\"other\""), 412);
        assert_eq!(put("Three", "*"), 200);
        client.delete("/assessment-items/q-1").header("if-match", "\"v2\"").expect(412);
        client.delete("/assessment-items/q-1").header("if-match", "\"v1\", \"v2\"").expect(412);
        client.delete("/assessment-items/q-1").header("if-match", "\"v2\", \"v3\"").expect(204);
        let renamed = json!({"xml": choice("q-2", "Two")});
        client.put("/assessment-items/q-1").json(&renamed).expect(422);
        client.put("/assessment-items/q-2").json(&renamed).expect(404);
    });
}

#[test]
fn documents_in_use_are_not_deleted() {
    both(|server| {
        let client = server.client();
        let story = json!({"identifier": "story", "title": "A story", "content": "<p>Once upon a time</p>"});
        client.post("/stimuli").json(&story).expect(201);
        let mut item = json_item("c-1");
        item["stimulus"] = json!({"identifier": "s", "href": "../stimuli/story.xml"});
        client.post("/assessment-items").json(&item).expect(201);
        for id in ["q-1", "q-2"] {
            stored(&client, id, id);
        }
        let refs = json!([
            {"identifier": "first", "href": "/assessment-items/q-1"},
            {"identifier": "q-2", "href": "somewhere/else.xml"},
        ]);
        let section = json!({"identifier": "s", "title": "S", "visible": true, "sequence": 1, "qti-assessment-item-ref": refs});
        let part = json!({"identifier": "p", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [section]});
        let test = json!({"identifier": "t-1", "title": "T", "qti-test-part": [part]});
        client.post("/assessment-tests").json(&test).expect(201);
        for (path, by) in [
            ("/stimuli/story", "item 'c-1'"),
            ("/items/q-1", "test 't-1'"),
            ("/qti/q-2", "test 't-1'"),
        ] {
            let refused: Value = client.delete(path).expect(409).json();
            assert!(refused["message"].as_str().unwrap().contains(by), "{refused}");
        }
        // Where nothing refers to them any more, they go.
        let item = json_item("c-1");
        client.put("/assessment-items/c-1").json(&item).expect(200);
        client.delete("/stimuli/story").expect(204);
        client.delete("/assessment-tests/t-1").expect(204);
        let gone: Value = client.delete("/qti/q-2").expect(200).json();
        assert_eq!(gone["message"], "deleted: the item 'q-2'");
        client.delete("/items/q-1").expect(204);
        client.delete("/items/q-1").expect(404);
        client.delete("/nothing-of-that-name").expect(404);
        // Two of one name are told apart by their addresses.
        stored(&client, "twin", "Twin");
        client
            .post("/stimuli")
            .json(&json!({"identifier": "twin", "title": "Twin", "content": "x"}))
            .expect(201);
        client.delete("/twin").expect(409);
        client.delete("/stimuli/twin").expect(204);
        client.delete("/twin").expect(200);
    });
}

#[test]
fn a_stimulus_is_kept_in_both_forms() {
    both(|server| {
        let client = server.client();
        let body = json!({
            "identifier": "s-1", "title": "Tides", "content": "<p>The sea rises</p>", "label": "tides",
            "language": "en", "stylesheet": {"href": "a.css", "type": "text/css"},
            "catalogInfo": [{"id": "c-1", "support": "spoken", "content": "<p>aloud</p>"}],
            "toolName": "editor", "metadata": {"source": {"page": 7}},
        });
        let created: Value = client.post("/stimuli").json(&body).expect(201).json();
        for name in
            ["identifier", "title", "label", "language", "stylesheet", "toolName", "metadata"]
        {
            assert_eq!(created[name], body[name], "{name}");
        }
        assert_eq!(created["catalogInfo"][0]["id"], "c-1");
        assert!(created["rawXml"].as_str().unwrap().contains("The sea rises"));
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, "/qti/stimuli/s-1"), created);
        let changed =
            json!({"identifier": "s-1", "title": "Tides", "content": "<p>The sea falls</p>"});
        let changed: Value = client.put("/stimuli/s-1").json(&changed).expect(200).json();
        assert!(changed["rawXml"].as_str().unwrap().contains("falls"));
        assert_eq!(changed["metadata"], body["metadata"]);
        assert_eq!(get(&client, "/stimuli?query=SEA%20FALLS")["total"], 1);
        assert_eq!(get(&client, "/stimuli?query=rises")["total"], 0);
        let xml = changed["rawXml"].as_str().unwrap().replace("s-1", "s-2");
        client.post("/stimuli").json(&json!({"format": "xml", "xml": xml})).expect(201);
        assert_eq!(get(&client, "/stimuli")["total"], 2);
        client.delete("/stimuli/s-2").expect(204);
        assert_eq!(get(&client, "/stimuli/s-1/versions")["total"], 2);
    });
}

#[test]
fn a_notice_names_markup_that_students_do_not_see() {
    both(|server| {
        let client = server.client();
        let drawn = "<svg xmlns=\"http://www.w3.org/2000/svg\"><animate/></svg>";
        let xml = choice("q-1", "Planets");
        let xml = xml.replacen("<qti-item-body>", &format!("<qti-item-body>{drawn}"), 1);
        let body = json!({"format": "xml", "xml": xml});
        let created = client.post("/assessment-items").json(&body).expect(201);
        let replaced = client.put("/assessment-items/q-1").json(&body).expect(200);
        for reply in [created, replaced] {
            let notice = reply.header("x-lyceum-notice");
            assert!(
                notice.contains("browsers of students do not get the element 'animate'"),
                "{notice}"
            );
            let warnings = reply.json::<Value>()["warnings"].clone();
            assert_eq!(warnings.as_array().map(Vec::len), Some(1), "{warnings}");
            assert!(warnings[0]["path"].as_str().unwrap().contains("animate"), "{warnings}");
        }
        let read = client.get("/assessment-items/q-1").expect(200);
        assert_eq!(read.json::<Value>()["warnings"], Value::Null);
        let check = json!({"schema": "item", "xml": xml});
        let checked: Value = client.post("/validate").json(&check).expect(200).json();
        assert_eq!(
            (&checked["success"], &checked["faults"][0]["severity"]),
            (&json!(true), &json!("warning"))
        );
    });
}
