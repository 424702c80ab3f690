//! Every route for students, called by other students with the ids of one: all are refused, and nothing changes. The routes
//! come from the route table, so a new one needs a row here.

use std::collections::BTreeSet;

use lyceum_access::Access;
use lyceum_server::routes;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::lessons::{course, lesson};
use crate::people::{form_token, signed_in};
use crate::student_lessons::Browser;

/// Amy's answer, which no other student may see.
const SECRET: &str = "amys-own-words";

/// How a route is called with the ids of another student.
#[derive(Clone, Copy, PartialEq)]
enum IdsInRequest {
    /// It has none: its answer must not name the other student.
    None,
    /// In its path or its body: it must be refused.
    Some,
    /// In the fields of a form, after which the other student must still be signed in.
    Form,
}
use IdsInRequest::{Form, None as NoIds, Some as WithIds};

const ROWS: [(&str, &str, IdsInRequest); 15] = [
    ("GET", "/learn", NoIds),
    ("GET", "/learn/account", NoIds),
    ("POST", "/learn/account/password", Form),
    ("POST", "/learn/account/sessions", Form),
    ("GET", "/learn/lessons/{lesson}", WithIds),
    ("GET", "/api/learn/key", NoIds),
    ("GET", "/api/learn/lessons/{lesson}", WithIds),
    ("GET", "/api/learn/lessons/{lesson}/files/{file}", WithIds),
    ("GET", "/api/learn/lessons/{lesson}/review", WithIds),
    ("POST", "/api/learn/lessons/{lesson}/answers", WithIds),
    ("POST", "/api/learn/lessons/{lesson}/attempts", WithIds),
    ("POST", "/api/learn/lessons/{lesson}/done", WithIds),
    ("POST", "/api/learn/lessons/{lesson}/finish", WithIds),
    ("POST", "/api/learn/lessons/{lesson}/next", WithIds),
    ("POST", "/api/learn/apps/{slug}/token", WithIds),
];

/// The ids that Amy's browser knows.
struct Ids {
    attempt: String,
    file: String,
    session: String,
}

/// A text that a person scores, with a picture beside it.
fn essay(client: &TestClient) {
    let xml = r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="essay" title="Essay" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float" external-scored="human" normal-maximum="1"/>
  <qti-item-body><p><img src="a.png" alt="a"/></p><qti-extended-text-interaction response-identifier="RESPONSE"/></qti-item-body>
</qti-assessment-item>"#;
    client.post("/assessment-items").json(&json!({ "format": "xml", "xml": xml })).expect(201);
    let picture = client.put("/assessment-items/essay/files/a.png");
    picture.body("image/png", "pixels").expect(200);
    lesson(client, "quiz", "quiz", &["essay"], 10.0);
}

fn answer(attempt: &str) -> Value {
    json!({
        "id": "from-another", "attempt": attempt, "question": "essay", "number": 0,
        "responses": { "RESPONSE": "somebody else" },
    })
}

/// The body that a route takes, with Amy's ids.
fn body(path: &str, ids: &Ids) -> Value {
    match path.rsplit('/').next().unwrap() {
        "answers" => answer(&ids.attempt),
        "attempts" => json!({ "after": 1 }),
        "finish" => json!({ "attempt": ids.attempt }),
        _ => json!({}),
    }
}

fn call(browser: &Browser<'_>, (method, path): (&str, &str), ids: &Ids) -> Reply {
    let address = path.replace("{lesson}", "quiz").replace("{file}", &ids.file);
    let address = address.replace("{slug}", "tides");
    match method {
        "GET" => browser.get(&address),
        _ => browser.post(&address, &body(path, ids)),
    }
}

fn submit(server: &TestServer, browser: &Browser<'_>, path: &str, session: &str) {
    let token = form_token(&browser.get("/learn/account"));
    let fields = [("token", token.as_str()), ("session", session), ("password", "x"), ("new", "x")];
    let client = server.anonymous();
    let status = client.post(path).header("cookie", browser.cookie()).form(&fields).send().status;
    assert!(status < 500, "{path}: {status}");
}

#[test]
fn no_route_for_students_reaches_another_student() {
    let table: BTreeSet<(String, String)> = routes::all()
        .into_iter()
        .flat_map(|area| area.routes.into_iter().map(move |route| (area.base, route)))
        .filter(|(_, route)| matches!(route.access, Access::Student(_)))
        .map(|(base, route)| (route.method.to_string(), format!("{base}{}", route.path)))
        .collect();
    let rows = ROWS.map(|(method, path, _)| (method.to_owned(), path.to_owned()));
    assert_eq!(table, BTreeSet::from(rows), "each route for students has a row in this test");
    both(|server| {
        let client = server.client();
        course(&client);
        essay(&client);
        crate::enrolling::user(&client, "cem", "student", &["03"], "s");
        client.post("/bridge/enrollments/enroll/cem/math").json(&json!({})).expect(201);
        let (amy, bob, cem) =
            (Browser::of(server, "amy"), Browser::of(server, "bob"), Browser::of(server, "cem"));
        let quiz = amy.act("quiz", "attempts", &json!({ "after": 0 }), 200);
        let attempt = quiz["attempt"]["key"].as_str().unwrap().to_owned();
        let mut own = answer(&attempt);
        own["responses"] = json!({ "RESPONSE": SECRET });
        amy.act("quiz", "answers", &own, 200);
        let html = quiz["questions"][0]["html"].as_str().unwrap();
        let file = html.split("/files/").nth(1).unwrap().split('"').next().unwrap().to_owned();
        // Her session on another device.
        let device = signed_in(server, "amy@example.org");
        let account = amy.get("/learn/account").text();
        let session = account.split("name=\"session\" value=\"").nth(1).unwrap();
        let session = session.split('"').next().unwrap().to_owned();
        let ids = Ids { attempt, file, session };
        let before = amy.lesson("quiz", 200);

        // Bob does not learn in the course: nothing of it exists for him.
        for (method, path, kind) in ROWS {
            if kind == Form {
                submit(server, &bob, path, &ids.session);
                continue;
            }
            let reply = call(&bob, (method, path), &ids);
            let is_refused = [403, 404].contains(&reply.status);
            assert_eq!(is_refused, kind == WithIds, "{method} {path}: {}", reply.text());
            let text = reply.text();
            assert!(!text.contains(SECRET) && !text.contains("amy"), "{method} {path}: {text}");
        }
        // Cem learns in the same course: he has a lesson with this id, and Amy's attempt is not his.
        cem.act("quiz", "attempts", &json!({ "after": 0 }), 200);
        for (method, path, _) in ROWS.into_iter().filter(|(_, _, kind)| *kind == WithIds) {
            let reply = call(&cem, (method, path), &ids);
            let names_attempt = path.ends_with("/answers") || path.ends_with("/finish");
            assert!(!names_attempt || reply.status == 409, "{method} {path}: {}", reply.text());
            assert!(!reply.text().contains(SECRET), "{method} {path}: {}", reply.text());
        }
        assert_eq!(amy.lesson("quiz", 200), before, "nothing of Amy's changed");
        let still = server.anonymous().get("/learn").header("cookie", &device).send();
        assert_eq!(still.status, 200, "nobody ended her session");
        assert_eq!(before["questions"][0]["responses"]["RESPONSE"], SECRET);
    });
}
