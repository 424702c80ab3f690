//! Students work through lessons over HTTP, on both stores. Every effect is read back by another operation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lyceum_access::{Role, Scope};
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::enrolling::get;
use crate::hosted::{SLUG, deployed, staging};
use crate::learn::account;
use crate::lessons::{course, lesson, progress, stored_question};
use crate::people::{form_token, person, signed_in};

/// A browser in which a student is signed in.
pub(crate) struct Browser<'a> {
    server: &'a TestServer,
    cookie: String,
}

impl<'a> Browser<'a> {
    pub(crate) fn of(server: &'a TestServer, student: &str) -> Self {
        let email = format!("{student}@example.org");
        account(server, student, Some(&email));
        Self { server, cookie: signed_in(server, &email) }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.server.anonymous().get(path).header("cookie", &self.cookie).send()
    }

    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let client = self.server.anonymous();
        client.post(path).header("cookie", &self.cookie).json(body).send()
    }

    /// The JSON of a lesson's route, after its status was compared.
    pub(crate) fn lesson(&self, lesson: &str, status: u16) -> Value {
        let reply = self.get(&format!("/api/learn/lessons/{lesson}"));
        assert_eq!(reply.status, status, "{}", reply.text());
        reply.json()
    }

    pub(crate) fn act(&self, lesson: &str, action: &str, body: &Value, status: u16) -> Value {
        let reply = self.post(&format!("/api/learn/lessons/{lesson}/{action}"), body);
        assert_eq!(reply.status, status, "{action} {body}: {}", reply.text());
        reply.json()
    }
}

/// An answer to a question of a lesson.
pub(crate) fn answer(id: &str, lesson: &Value, question: &Value, choice: &str) -> Value {
    json!({
        "id": id, "attempt": lesson["attempt"]["key"], "question": question["id"],
        "number": question["number"], "responses": { "RESPONSE": choice },
    })
}

/// A practice and a quiz of three questions each; Amy learns in their course and Bob does not.
fn lessons(client: &TestClient) {
    course(client);
    let names = ["q1", "q2", "q3"];
    for name in names {
        stored_question(client, name);
    }
    lesson(client, "practice", "powerpath-100", &names, 10.0);
    lesson(client, "quiz", "quiz", &names, 10.0);
}

#[test]
fn a_student_works_through_a_practice_and_a_quiz() {
    both(|server| {
        let client = server.client();
        lessons(&client);
        let amy = Browser::of(server, "amy");
        amy.act("practice", "next", &json!({}), 409);
        amy.act("practice", "attempts", &json!({ "after": 0 }), 200);
        let served = amy.act("practice", "next", &json!({}), 200);
        let question = served["questions"][0].clone();
        let html = question["html"].as_str().unwrap();
        assert!(html.contains("qti-choice-interaction") && !html.contains("correct"), "{html}");
        let sent = answer("one", &served, &question, "A");
        let reply = amy.act("practice", "answers", &sent, 200);
        assert_eq!(reply["result"], "correct");
        assert_eq!(reply, amy.act("practice", "answers", &sent, 200), "the request again");
        amy.act("practice", "answers", &answer("two", &served, &question, "B"), 409);

        let quiz = amy.act("quiz", "attempts", &json!({ "after": 0 }), 200);
        let key = json!({ "attempt": quiz["attempt"]["key"] });
        amy.act("quiz", "finish", &key, 422);
        for (number, question) in quiz["questions"].as_array().unwrap().iter().enumerate() {
            let sent = answer(&number.to_string(), &quiz, question, "A");
            amy.act("quiz", "answers", &sent, 200);
        }
        assert_eq!(amy.get("/api/learn/lessons/quiz/review").status, 409);
        let done = amy.act("quiz", "finish", &key, 200);
        assert_eq!((&done["standing"], &done["attempt"]["score"]), (&json!("done"), &json!(100.0)));
        let results = amy.get("/api/learn/lessons/quiz/review").json::<Value>();
        assert_eq!(results["questions"].as_array().unwrap().len(), 3);
        server.restart();
        let client = server.client();
        assert_eq!(progress(&client, "quiz")["score"], 100.0);
        assert_eq!(progress(&client, "practice")["score"], reply["attempt"]["score"]);
    });
}

/// Every path with a lesson, with a body where it takes one.
const PATHS: [(&str, Option<&str>); 7] = [
    ("", None),
    ("/review", None),
    ("/attempts", Some(r#"{"after":0}"#)),
    ("/next", Some("{}")),
    (
        "/answers",
        Some(
            r#"{"id":"x","attempt":"1.0","question":"q1","number":0,"responses":{"RESPONSE":"A"}}"#,
        ),
    ),
    ("/finish", Some(r#"{"attempt":"1.0"}"#)),
    ("/done", Some("{}")),
];

#[test]
fn a_lesson_of_another_student_is_like_one_that_does_not_exist() {
    both(|server| {
        let client = server.client();
        lessons(&client);
        let (amy, bob) = (Browser::of(server, "amy"), Browser::of(server, "bob"));
        let started = amy.act("practice", "attempts", &json!({ "after": 0 }), 200);
        for (path, body) in PATHS {
            let call = |browser: &Browser<'_>, lesson: &str| {
                let path = format!("/api/learn/lessons/{lesson}{path}");
                match body {
                    None => browser.get(&path),
                    Some(body) => browser.post(&path, &serde_json::from_str(body).unwrap()),
                }
            };
            let (theirs, unknown) = (call(&bob, "practice"), call(&bob, "nothing"));
            assert_eq!((theirs.status, unknown.status), (404, 404), "{path}");
            let text = |reply: &Reply| {
                let text = reply.json::<Value>()["detail"].as_str().unwrap_or_default().to_owned();
                text.replace("practice", "").replace("nothing", "")
            };
            assert_eq!(text(&theirs), text(&unknown), "{path}");
            // Neither a token nor nobody gets anywhere.
            let path = format!("/api/learn/lessons/practice{path}");
            let refused = match body {
                None => client.get(&path).send(),
                Some(body) => client.post(&path).json(&serde_json::from_str(body).unwrap()).send(),
            };
            assert!([401, 403].contains(&refused.status), "{path}: {}", refused.status);
        }
        assert_eq!(bob.get("/learn/lessons/practice").status, 404);
        assert!(bob.get("/learn").text().contains("No courses yet"));
        assert!(amy.get("/learn").text().contains("Lesson practice"));
        assert_eq!(amy.lesson("practice", 200)["attempt"], started["attempt"], "nothing changed");
    });
}

#[test]
fn each_session_has_its_own_key_and_keeps_it() {
    both(|server| {
        lessons(&server.client());
        let (amy, bob) = (Browser::of(server, "amy"), Browser::of(server, "bob"));
        let key =
            |browser: &Browser<'_>| browser.get("/api/learn/key").json::<Value>()["key"].clone();
        assert_eq!(key(&amy), key(&amy));
        assert_eq!(key(&amy).as_str().unwrap().len(), 44);
        assert_ne!(key(&amy), key(&bob));
        let again = Browser { server, cookie: signed_in(server, "amy@example.org") };
        assert_ne!(key(&amy), key(&again), "a new session has another key");
        assert_eq!(server.anonymous().get("/api/learn/key").send().status, 401);
    });
}

#[test]
fn students_open_the_apps_that_are_approved_for_their_classes() {
    staging(|server| {
        let client = server.client();
        lessons(&client);
        deployed(&client, &[("index.html", b"<h1>Tides</h1>")], "", &[]);
        let (amy, bob) = (Browser::of(server, "amy"), Browser::of(server, "bob"));
        let play = format!("/play/{SLUG}");
        let token = format!("/api/learn/apps/{SLUG}/token");
        let class =
            get(&client, "/ims/oneroster/rostering/v1p2/classes")["classes"][0]["sourcedId"]
                .clone();
        let apps = format!("/api/classes/{}/apps", class.as_str().unwrap());
        assert_eq!((amy.get(&play).status, amy.post(&token, &json!({})).status), (403, 403));
        assert!(!amy.get("/learn").text().contains(&play));

        let reader = server.client_with(&[Scope::BridgeRead], PayloadDialect::Platform);
        assert_eq!(reader.put(&format!("{apps}/{SLUG}")).send().status, 403);
        assert_eq!(client.put(&format!("{apps}/nothing")).send().status, 404);
        assert_eq!(client.put(&format!("/api/classes/nothing/apps/{SLUG}")).send().status, 404);
        for _ in 0..2 {
            client.put(&format!("{apps}/{SLUG}")).expect(204);
        }
        assert_eq!(
            get(&reader, &apps)["apps"],
            json!([{ "slug": SLUG, "displayName": "Tides", "emoji": null }])
        );
        assert!(amy.get("/learn").text().contains(&play));
        assert_eq!(amy.get(&play).status, 200);
        assert_eq!(amy.post(&token, &json!({})).json::<Value>()["userId"], "amy");
        assert_eq!(
            (bob.get(&play).status, bob.post(&token, &json!({})).status),
            (403, 403),
            "not in the class"
        );

        client.delete(&format!("{apps}/{SLUG}")).expect(204);
        assert_eq!(client.delete(&format!("{apps}/{SLUG}")).send().status, 404);
        assert_eq!(amy.get(&play).status, 403);

        // A guide does the same on the page of the class.
        person(server, "gil@example.org", "Gil", Role::Guide);
        let gil = Browser { server, cookie: signed_in(server, "gil@example.org") };
        let page = format!("/console/classes/{}", class.as_str().unwrap());
        for (action, is_open) in [("approve", true), ("withdraw", false)] {
            let fields = [("token", form_token(&gil.get(&page))), ("app", SLUG.to_owned())];
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let (browser, path) = (server.anonymous(), format!("{page}/apps/{action}"));
            let reply = browser.post(&path).header("cookie", &gil.cookie).form(&fields).send();
            assert_eq!(
                (reply.status, reply.header("location")),
                (303, page.as_str()),
                "{}",
                reply.text()
            );
            assert_eq!(amy.get("/learn").text().contains(&play), is_open, "{action}");
        }
    });
}

/// The folder `qti` of the standards; `None` without them, unless they are required.
#[expect(clippy::print_stdout, reason = "this is how a test tells what it left out")]
fn standards() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "tests are told where to look by variables")]
    let variable = |name: &str| std::env::var(name).ok();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/standards");
    let folder = variable("LYCEUM_STANDARDS").map_or(beside, PathBuf::from).join("qti");
    if folder.exists() {
        return Some(folder);
    }
    let is_required = variable("LYCEUM_REQUIRE_STANDARDS").is_some_and(|value| value == "1");
    assert!(!is_required, "no files of the standard in {}", folder.display());
    println!("left out, without the files of the standard: keys in what students receive");
    None
}

fn xml_files(folder: &Path, files: &mut Vec<String>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            xml_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            files.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The values of the correct responses that an item declares.
fn keys(xml: &str) -> Vec<&str> {
    let declared = xml.split("<qti-correct-response").skip(1);
    let declared = declared.filter_map(|rest| rest.split("</qti-correct-response>").next());
    let values = declared.flat_map(|part| part.split("<qti-value").skip(1));
    let values = values.filter_map(|rest| rest.split_once('>')?.1.split("</qti-value>").next());
    values.map(str::trim).filter(|value| !value.is_empty()).collect()
}

/// Whether a text contains the value as words of their own.
fn names(text: &str, value: &str) -> bool {
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    text.match_indices(value).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + value.len()..]);
        !is_part(before.chars().next_back()) && !is_part(behind.chars().next())
    })
}

#[test]
fn correct_answers_of_the_standards_items_never_reach_a_student() {
    let Some(folder) = standards() else { return };
    let mut files = Vec::new();
    for part in ["1edtech-examples", "kennisnet-items", "scored-fixtures"] {
        xml_files(&folder.join(part), &mut files);
    }
    both(|server| {
        let client = server.client();
        course(&client);
        let mut stored: BTreeMap<String, &str> = BTreeMap::new();
        for xml in files.iter().filter(|xml| {
            xml.contains("<qti-assessment-item ") || xml.contains("<qti-assessment-item\n")
        }) {
            let reply = client
                .post("/assessment-items")
                .json(&json!({ "format": "xml", "xml": xml }))
                .send();
            if reply.status == 201 {
                let item: Value = reply.json();
                stored.insert(item["identifier"].as_str().unwrap().to_owned(), xml);
            }
        }
        let amy = Browser::of(server, "amy");
        let (mut hidden, mut questions) = (0, 0);
        let names_of_items: Vec<&str> = stored.keys().map(String::as_str).collect();
        for (number, items) in names_of_items.chunks(20).enumerate() {
            let id = format!("quiz-{number}");
            lesson(&client, &id, "quiz", items, 10.0);
            let quiz = amy.act(&id, "attempts", &json!({ "after": 0 }), 200);
            // The browser receives the page, the lesson and the questions; none of them contains an answer key.
            let page = amy.get(&format!("/learn/lessons/{id}")).text();
            for received in [page, amy.lesson(&id, 200).to_string(), quiz.to_string()] {
                for word in
                    ["correct-response", "mapped-value", "qti-map-entry", "response-processing"]
                {
                    assert!(!received.contains(word), "{id}: {word}");
                }
            }
            let seen = progress(&client, &id);
            for (shown, candidate) in quiz["questions"]
                .as_array()
                .unwrap()
                .iter()
                .zip(seen["questions"].as_array().unwrap())
            {
                let (item, html) = (shown["id"].as_str().unwrap(), shown["html"].as_str().unwrap());
                assert_eq!(candidate["id"], item);
                questions += 1;
                let view = candidate["content"]["rawXml"].as_str().unwrap();
                for key in keys(stored[item]).into_iter().filter(|key| !names(view, key)) {
                    hidden += 1;
                    assert!(!names(html, key), "{item} reveals '{key}'");
                }
            }
        }
        assert!(questions > 150 && hidden > 30, "{hidden} hidden keys in {questions} questions");
        println!("{hidden} hidden keys in {questions} questions");
    });
}
