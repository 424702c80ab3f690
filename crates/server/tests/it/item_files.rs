//! Files of items and stimuli over HTTP: stored, listed, read, served to the students whose lessons ask the items.

use lyceum_access::{Role, Scope};
use lyceum_api::work::backup::named_files;
use lyceum_assessment::limits;
use lyceum_core::PayloadDialect;
use lyceum_hosting::nodes::{self, Node, NodeSettings};
use lyceum_store::SqlDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::lessons::{course, lesson, stored_question};
use crate::people::{form_token, person, signed_in};
use crate::student_lessons::Browser;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and a few pixels";
const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";

/// An item with pictures beside it, and a stimulus with one.
fn item_with_pictures(client: &TestClient) {
    let stimulus = r#"<qti-assessment-stimulus xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="text" title="Text">
  <qti-stimulus-body><p>Look <img src="images/map.png" alt="a map"/></p></qti-stimulus-body></qti-assessment-stimulus>"#;
    let body = json!({ "format": "xml", "xml": stimulus });
    client.post("/stimuli").json(&body).expect(201);
    let item = r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="seen" title="Seen" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"><qti-default-value><qti-value>0</qti-value></qti-default-value></qti-outcome-declaration>
  <qti-assessment-stimulus-ref identifier="text" href="text.xml"/>
  <qti-item-body><p><img src="../images/dog%20one.png" alt="a dog"/><img src="shape.svg" alt="a shape"/><img src="https://example.org/far.png" alt="far away"/><img src="lost.png" alt="lost"/></p>
  <qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#;
    let body = json!({ "format": "xml", "xml": item, "metadata": { "humanApproved": true } });
    client.post("/assessment-items").json(&body).expect(201);
}

fn put(client: &TestClient, document: &str, path: &str, bytes: &[u8], status: u16) -> Value {
    let call = client.put(&format!("{document}/files/{path}"));
    let reply = call.body("application/octet-stream", bytes).send();
    assert_eq!(reply.status, status, "{path}: {}", reply.text());
    reply.json()
}

/// The addresses of the pictures in HTML.
fn sources(html: &str) -> Vec<String> {
    let parts = html.split("src=\"").skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn files_are_stored_listed_replaced_and_deleted_with_their_document() {
    both(|server| {
        let client = server.client();
        item_with_pictures(&client);
        let item = "/assessment-items/seen";
        let stored = put(&client, item, "images/dog%20one.png", PNG, 200);
        assert_eq!(
            (&stored["path"], &stored["mediaType"], &stored["size"]),
            (&json!("images/dog one.png"), &json!("image/png"), &json!(PNG.len()))
        );
        put(&client, "/stimuli/text", "images/map.png", PNG, 200);
        put(&client, item, "./a/../look.css", b"p { color: red }", 200);
        put(&client, item, "look.css", b"p { color: blue }", 200);
        server.restart();
        let list = |document: &str| {
            let files = client.get(&format!("{document}/files")).expect(200).json::<Value>();
            let paths = files["files"].as_array().unwrap().iter().map(|file| file["path"].clone());
            paths.collect::<Vec<_>>()
        };
        assert_eq!(list(item), [json!("images/dog one.png"), json!("look.css")]);
        assert_eq!(list("/stimuli/text"), [json!("images/map.png")]);
        let css = client.get(&format!("{item}/files/look.css")).expect(200);
        assert_eq!(
            (css.text().as_str(), css.header("content-type")),
            ("p { color: blue }", "text/css")
        );
        let picture = || client.get(&format!("{item}/files/images/dog%20one.png"));
        let whole = picture().expect(200);
        assert_eq!((&whole.body[..], whole.header("x-content-type-options")), (PNG, "nosniff"));
        let part = picture().header("range", "bytes=1-3").expect(206);
        assert_eq!((part.text().as_str(), part.header("content-range")), ("PNG", "bytes 1-3/25"));
        picture().header("if-none-match", whole.header("etag")).expect(304);
        picture().header("range", "bytes=99-").expect(416);

        client.delete(&format!("{item}/files/look.css")).expect(204);
        client.delete(&format!("{item}/files/look.css")).expect(404);
        assert_eq!(list(item), [json!("images/dog one.png")]);
        client.delete(item).expect(204);
        assert_eq!(client.get(&format!("{item}/files")).send().status, 404);
        assert_eq!(picture().send().status, 404);
        item_with_pictures(&client);
        assert_eq!(list(item), [Value::Null; 0], "a new document has no files of a deleted one");
        assert_eq!(list("/stimuli/text"), [json!("images/map.png")]);
    });
}

#[test]
fn files_that_cannot_be_shown_are_refused() {
    both(|server| {
        let client = server.client();
        item_with_pictures(&client);
        let item = "/assessment-items/seen";
        for (path, reason) in [
            ("page.html", "must be one of avif, css"),
            ("run.js", "must be one of"),
            ("%2Fetc/a.png", "relative path"),
            ("https:%2F%2Fexample.org/a.png", "relative path"),
            ("..", "relative path"),
            ("100%25.png", "(got '%' in '100%.png')"),
            ("a%231.png", "(got '#' in 'a#1.png')"),
            (&format!("{}.png", "a".repeat(252)), "at most 255 bytes"),
        ] {
            let refused = put(&client, item, path, PNG, 422).to_string();
            assert!(refused.contains(reason), "{path}: {refused}");
        }
        put(&client, item, &format!("{}.png", "a".repeat(251)), PNG, 200);
        put(&client, item, "empty.png", b"", 422);
        put(&client, "/assessment-items/nothing", "a.png", PNG, 404);
        let most = vec![0; limits::ITEM_FILE_MAX_BYTES];
        put(&client, item, "largest.png", &most, 200);
        put(&client, item, "larger.png", &[&most[..], b"0"].concat(), 413);
        let typed = client.put(&format!("{item}/files/a.png"));
        assert_eq!(typed.body("application/zip", PNG).send().status, 415);
        let typed = client.put(&format!("{item}/files/a.png"));
        assert_eq!(typed.body("image/png", PNG).send().status, 200);
        for number in 3..limits::ITEM_FILES_MAX_COUNT {
            put(&client, item, &format!("{number}.png"), PNG, 200);
        }
        let full = put(&client, item, "more.png", PNG, 409).to_string();
        assert!(full.contains("the limit for files of a document is 100"), "{full}");
        put(&client, item, "3.png", b"another", 200);
        let stimulus = "/stimuli/text";
        put(&client, stimulus, "a.png", PNG, 200);
        let below = put(&client, stimulus, "a.png/b.png", PNG, 409).to_string();
        assert!(below.contains("one is a folder of the other"), "{below}");

        let reader = server.client_with(&[Scope::QtiRead], PayloadDialect::Platform);
        reader.get(&format!("{item}/files/3.png")).expect(200);
        // A program of a lesson does not get what an item hides.
        let lessons = server.client_with(&[Scope::AdaptiveRead], PayloadDialect::Platform);
        assert_eq!(lessons.get(&format!("{item}/files/3.png")).send().status, 403);
        let refused = reader.put(&format!("{item}/files/3.png")).body("image/png", PNG).send();
        assert_eq!(refused.status, 403);
        assert_eq!(server.anonymous().get(&format!("{item}/files/3.png")).send().status, 401);
    });
}

#[test]
fn a_download_continues_only_if_the_file_is_the_same() {
    both(|server| {
        let client = server.client();
        item_with_pictures(&client);
        let item = "/assessment-items/seen";
        put(&client, item, "a.png", PNG, 200);
        let path = format!("{item}/files/a.png");
        let first = client.get(&path).header("range", "bytes=0-3").send();
        assert_eq!((first.status, &first.body[..]), (206, &PNG[..4]));
        let tag = first.header("etag").to_owned();
        let rest = || client.get(&path).header("range", "bytes=4-").header("if-range", &tag).send();
        assert_eq!((rest().status, &rest().body[..]), (206, &PNG[4..]));
        put(&client, item, "a.png", b"another picture", 200);
        assert_eq!((rest().status, &rest().body[..]), (200, &b"another picture"[..]));
        let beyond = client.get(&path).header("range", "bytes=99-").send();
        assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */15"));
        assert_eq!(beyond.header("x-content-type-options"), "nosniff");
    });
}

#[test]
fn a_node_may_lack_item_files_that_another_node_received() {
    both(|server| {
        let client = server.client();
        item_with_pictures(&client);
        let stored = put(&client, "/assessment-items/seen", "a.png", PNG, 200);
        let digest = stored["sha256"].as_str().unwrap().parse().unwrap();
        let settings = NodeSettings { name: "other", address: "", shares_blobs: false };
        let own = server.setup().config.store.data.join("hosting");
        let own = Node::read(&own, &settings).unwrap();
        let is_needed = || {
            let named = server.db().read_blocking(|tx| named_files(tx, &own)).unwrap();
            assert_ne!(named.blobs.contains(&digest), named.others.contains(&digest));
            named.blobs.contains(&digest)
        };
        assert!(is_needed());
        let folder = tempfile::tempdir().unwrap();
        let (other, _lock) = Node::of_folder(folder.path(), &settings).unwrap();
        let now = server.setup().clock.now();
        server.db().write_blocking(|tx| nodes::note(tx, now, &other)).unwrap();
        // Several servers cannot share a SQLite database.
        assert_eq!(is_needed(), server.db().dialect() == SqlDialect::Sqlite);
    });
}

#[test]
fn a_running_attempt_keeps_the_pictures_of_its_text() {
    both(|server| {
        let client = server.client();
        course(&client);
        item_with_pictures(&client);
        put(&client, "/stimuli/text", "images/map.png", PNG, 200);
        lesson(&client, "quiz", "quiz", &["seen"], 10.0);
        let amy = Browser::of(server, "amy");
        amy.act("quiz", "attempts", &json!({ "after": 0 }), 200);
        let item = client.get("/assessment-items/seen").expect(200).json::<Value>();
        let xml = item["rawXml"].as_str().unwrap();
        let reference = r#"<qti-assessment-stimulus-ref identifier="text" href="text.xml"/>"#;
        assert!(xml.contains(reference), "{xml}");
        let body = json!({ "format": "xml", "xml": xml.replace(reference, "") });
        client.put("/assessment-items/seen").json(&body).expect(200);
        let quiz = amy.get("/api/learn/lessons/quiz").json::<Value>();
        let pictures = sources(quiz["questions"][0]["texts"][0].as_str().unwrap());
        assert_eq!(amy.get(&pictures[0]).status, 200);
    });
}

#[test]
fn a_student_sees_the_files_of_the_own_open_lesson_only() {
    both(|server| {
        let client = server.client();
        course(&client);
        item_with_pictures(&client);
        stored_question(&client, "other");
        put(&client, "/assessment-items/seen", "images/dog%20one.png", PNG, 200);
        put(&client, "/assessment-items/seen", "shape.svg", SVG, 200);
        put(&client, "/stimuli/text", "images/map.png", b"\x89PNG map", 200);
        put(&client, "/assessment-items/other", "secret.png", b"\x89PNG secret", 200);
        lesson(&client, "quiz", "quiz", &["seen"], 10.0);
        lesson(&client, "practice", "powerpath-100", &["seen"], 10.0);
        lesson(&client, "unopened", "quiz", &["seen"], 10.0);
        let (amy, bob) = (Browser::of(server, "amy"), Browser::of(server, "bob"));
        let quiz = amy.act("quiz", "attempts", &json!({ "after": 0 }), 200);
        let question = &quiz["questions"][0];
        let html = question["html"].as_str().unwrap();
        let own = sources(html);
        assert_eq!(own.len(), 2, "{html}");
        assert!(html.contains("far away") && html.contains("lost"), "{html}");
        let of_text = sources(question["texts"][0].as_str().unwrap());
        for (address, media, bytes) in [
            (&own[0], "image/png", PNG),
            (&own[1], "image/svg+xml", SVG),
            (&of_text[0], "image/png", b"\x89PNG map"),
        ] {
            assert!(address.starts_with("/api/learn/lessons/quiz/files/"), "{address}");
            let file = amy.get(address);
            assert_eq!((file.status, &file.body[..]), (200, bytes), "{}", file.text());
            assert_eq!(file.header("content-type"), media);
            assert_eq!(file.header("x-content-type-options"), "nosniff");
            assert!(file.header("cache-control").contains("private, max-age=31536000, immutable"));
            let policy = file.header("content-security-policy");
            assert!(
                policy.contains("default-src 'none'") && policy.contains("sandbox"),
                "{policy}"
            );
            // Neither another student nor nobody nor a program has this route, and other lessons do not open it.
            assert_eq!(bob.get(address).status, 404);
            assert_eq!(server.anonymous().get(address).send().status, 401);
            assert!([401, 403].contains(&client.get(address).send().status));
            assert_eq!(amy.get(&address.replace("/quiz/", "/unopened/")).status, 404);
            assert_eq!(amy.get(&address.replace("/quiz/", "/nothing/")).status, 404);
        }
        // Files of items that the lesson does not ask are like those that do not exist.
        let secret = client.get("/assessment-items/other/files").expect(200).json::<Value>();
        let secret = secret["files"][0]["sha256"].as_str().unwrap().to_owned();
        for name in [format!("{secret}.png"), "a.png".into(), secret] {
            assert_eq!(amy.get(&format!("/api/learn/lessons/quiz/files/{name}")).status, 404);
        }
        let wrong_type = own[0].replace(".png", ".svg");
        assert_eq!(amy.get(&wrong_type).status, 404);

        amy.act("practice", "attempts", &json!({ "after": 0 }), 200);
        let served = amy.act("practice", "next", &json!({}), 200);
        let practised = sources(served["questions"][0]["html"].as_str().unwrap());
        assert_eq!(amy.get(&practised[0]).status, 200);
        let reply = amy.act(
            "practice",
            "answers",
            &json!({
                "id": "1", "attempt": served["attempt"]["key"], "question": "seen", "number": 0,
                "responses": { "RESPONSE": "A" },
            }),
            200,
        );
        assert_eq!(sources(reply["question"]["html"].as_str().unwrap()), practised);

        // A new picture under the same path has another address.
        put(&client, "/assessment-items/seen", "images/dog%20one.png", b"\x89PNG newer", 200);
        let quiz = amy.get("/api/learn/lessons/quiz").json::<Value>();
        let newer = sources(quiz["questions"][0]["html"].as_str().unwrap());
        assert_ne!(newer[0], own[0]);
        assert_eq!(&amy.get(&newer[0]).body[..], b"\x89PNG newer");
        assert_eq!(amy.get(&own[0]).status, 404, "nothing refers to the old one");

        // Guides see them in the preview.
        person(server, "gil@example.org", "Gil", Role::Guide);
        let cookie = signed_in(server, "gil@example.org");
        let see = |path: &str| server.anonymous().get(path).header("cookie", &cookie).send();
        let preview = see("/console/items/seen/preview").text();
        let shown = sources(&preview);
        let shown: Vec<_> = shown.iter().filter(|path| path.contains("/files/")).collect();
        assert_eq!(shown.len(), 3, "{preview}");
        for address in shown {
            assert_eq!(see(address).status, 200, "{address}");
            assert_ne!(amy.get(address).status, 200);
        }
    });
}

#[test]
fn the_preview_shows_the_files_that_students_get_and_names_the_missing_ones() {
    both(|server| {
        let client = server.client();
        course(&client);
        item_with_pictures(&client);
        put(&client, "/assessment-items/seen", "shape.svg", SVG, 200);
        let by_address = format!("{}/assessment-items/seen/files/shape.svg", server.address());
        let item = client.get("/assessment-items/seen").expect(200).json::<Value>();
        let xml = item["rawXml"].as_str().unwrap();
        let xml = xml.replace("https://example.org/far.png", &by_address);
        let body = json!({ "format": "xml", "xml": xml });
        client.put("/assessment-items/seen").json(&body).expect(200);
        lesson(&client, "quiz", "quiz", &["seen"], 10.0);
        let amy = Browser::of(server, "amy");
        let quiz = amy.act("quiz", "attempts", &json!({ "after": 0 }), 200);
        let of_student = sources(quiz["questions"][0]["html"].as_str().unwrap());
        assert_eq!(of_student.len(), 1, "{of_student:?}");

        person(server, "gil@example.org", "Gil", Role::Guide);
        let cookie = signed_in(server, "gil@example.org");
        let path = "/console/items/seen/preview";
        let page = server.anonymous().get(path).header("cookie", &cookie).send();
        let html = page.text();
        let mut of_guide = sources(&html);
        of_guide.retain(|address| !address.contains("/assets/"));
        let name = |address: &String| address.rsplit('/').next().unwrap().to_owned();
        assert_eq!(of_guide.iter().map(name).collect::<Vec<_>>(), [name(&of_student[0])]);
        let missing = ["../images/dog%20one.png", &by_address, "images/map.png", "lost.png"];
        assert!(html.contains("4 files are missing"), "{html}");
        for file in missing {
            assert!(html.contains(&format!("<li><code>{file}</code></li>")), "{file}: {html}");
        }
        let answer = json!({ "responses": { "RESPONSE": "A" }, "seed": 0 }).to_string();
        let fields = [("token", form_token(&page)), ("answer", answer)];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let checked = server.anonymous().post(path).header("cookie", &cookie).form(&fields).send();
        let checked = checked.json::<Value>();
        // The map belongs to the text, which the answer does not change.
        let of_item = ["../images/dog%20one.png", &by_address, "lost.png"];
        assert_eq!(checked["missingFiles"], json!(of_item), "{checked}");
    });
}
