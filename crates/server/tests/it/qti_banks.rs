//! Assessment banks over HTTP: several variations of a test that take turns.

use std::collections::BTreeMap;

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{always_both, both};
use serde_json::{Value, json};

use crate::qti_structure::{get, item, test};

const BANKS: &str = "/assessment-banks";

fn variations(client: &TestClient, names: &[&str]) {
    item(client, "one");
    for name in names {
        test(client, name, &["one"]);
    }
}

fn bank(client: &TestClient, name: &str, tests: &[&str]) -> Value {
    let body = json!({"identifier": name, "title": format!("Bank {name}"), "tests": tests, "metadata": {"lesson": 1}});
    client.post(BANKS).json(&body).expect(201).json()
}

fn next(client: &TestClient, user: &str, attempt: Option<u32>) -> String {
    let body = json!({"userId": user, "attempt": attempt});
    let turn: Value = client.post("/assessment-banks/b/next").json(&body).expect(200).json();
    assert_eq!((&turn["assessmentBank"], &turn["userId"]), (&json!("b"), &json!(user)));
    assert!(attempt.is_none_or(|attempt| turn["attempt"] == attempt), "{turn}");
    turn["assessmentTest"].as_str().unwrap().to_owned()
}

#[test]
fn banks_are_stored_listed_replaced_and_deleted() {
    both(|server| {
        let client = server.client();
        variations(&client, &["t1", "t2", "t3"]);
        let created = bank(&client, "b", &["t2", "t1"]);
        assert_eq!((&created["version"], &created["tests"]), (&json!(1), &json!(["t2", "t1"])));
        bank(&client, "c", &["t3"]);
        let again = json!({"identifier": "b", "title": "x", "tests": ["t1"]});
        client.post(BANKS).json(&again).expect(409);
        let changed: Value = client
            .put("/qti/assessment-banks/b")
            .json(&json!({"title": "New", "tests": ["t1", "t2"]}))
            .expect(200)
            .json();
        assert_eq!(
            (&changed["title"], &changed["version"], &changed["createdAt"]),
            (&json!("New"), &json!(2), &created["createdAt"])
        );
        assert_eq!(changed.get("metadata"), None);
        client.put("/assessment-banks/b").header("If-Match", "\"v1\"").json(&again).expect(412);
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, "/assessment-banks/b"), changed);
        let page = get(&client, "/assessment-banks?sort=identifier&order=desc&limit=1");
        assert_eq!(
            (&page["items"][0]["identifier"], &page["total"], &page["pages"]),
            (&json!("c"), &json!(2), &json!(2))
        );
        assert_eq!(get(&client, "/assessment-banks?query=bANK%20C")["total"], 1);
        let used: Value = client.delete("/assessment-tests/t1").expect(409).json();
        assert!(used["message"].as_str().unwrap().contains("bank 'b'"), "{used}");
        client.delete("/assessment-banks/b").expect(204);
        client.delete("/assessment-banks/b").expect(404);
        client.get("/assessment-banks/b").expect(404);
        client.delete("/assessment-tests/t1").expect(204);
        client.delete("/assessment-tests/t3").expect(409);
    });
}

#[test]
fn an_invalid_bank_is_refused() {
    both(|server| {
        let client = server.client();
        variations(&client, &["t1"]);
        for (body, paths) in [
            (json!({}), vec!["identifier", "title", "tests"]),
            (json!({"identifier": "b", "title": "t", "tests": []}), vec!["tests"]),
            (
                json!({"identifier": "b", "title": "t", "tests": ["t1", 5, ""]}),
                vec!["tests[1]", "tests[2]"],
            ),
            (
                json!({"identifier": "b", "title": "t", "tests": ["t1", "t1", "x"]}),
                vec!["tests[1]"],
            ),
            (
                json!({"identifier": "b", "title": "t", "tests": ["x", "t1", "y"]}),
                vec!["tests[0]", "tests[2]"],
            ),
            (
                json!({"identifier": "b", "title": "t", "tests": ["t1"], "metadata": 5}),
                vec!["metadata"],
            ),
        ] {
            let refused: Value = client.post(BANKS).json(&body).expect(422).json();
            let got: Vec<&str> = refused["details"]
                .as_array()
                .unwrap()
                .iter()
                .map(|d| d["path"].as_str().unwrap())
                .collect();
            assert_eq!(got, paths, "{body}");
        }
        bank(&client, "b", &["t1"]);
        client
            .put("/assessment-banks/b")
            .json(&json!({"identifier": "c", "title": "t", "tests": ["t1"]}))
            .expect(422);
        for body in [
            json!({}),
            json!({"userId": ""}),
            json!({"userId": "u", "attempt": 0}),
            json!({"userId": "u", "attempt": 1.5}),
        ] {
            client.post("/assessment-banks/b/next").json(&body).expect(422);
        }
        client.post("/assessment-banks/none/next").json(&json!({"userId": "u"})).expect(404);
        client
            .post("/assessment-banks/none/next")
            .json(&json!({"userId": "u", "attempt": 1}))
            .expect(404);
        server.anonymous().get(BANKS).expect(401);
        let reader = server.client_with(&[Scope::QtiRead], PayloadDialect::Platform);
        reader.get(BANKS).expect(200);
        reader.post("/assessment-banks/b/next").json(&json!({"userId": "u"})).expect(403);
    });
}

#[test]
fn each_learner_takes_the_variations_in_turn() {
    both(|server| {
        let client = server.client();
        variations(&client, &["t1", "t2", "t3", "t4"]);
        bank(&client, "b", &["t1", "t2", "t3"]);
        assert_eq!(next(&client, "ann", Some(1)), "t1");
        assert_eq!(next(&client, "ann", Some(1)), "t1", "asked again, the same");
        assert_eq!(next(&client, "bob", None), "t2", "the rotation went on by one");
        assert_eq!(next(&client, "cat", Some(2)), "t1", "attempt 1 would have been t3");
        assert_eq!([2, 3, 4].map(|n| next(&client, "ann", Some(n))), ["t2", "t3", "t1"]);
        assert_eq!([(); 2].map(|()| next(&client, "bob", None)), ["t3", "t1"]);
        assert_eq!(next(&client, "dan", Some(1)), "t1", "later attempts do not move the rotation");
        server.restart();
        let client = server.client();
        assert_eq!([1, 2, 3, 4].map(|n| next(&client, "ann", Some(n))), ["t1", "t2", "t3", "t1"]);
        // After a change, served attempts stay, and the next follows the last that is still there.
        client
            .put("/assessment-banks/b")
            .json(&json!({"title": "b", "tests": ["t4", "t1"]}))
            .expect(200);
        assert_eq!(next(&client, "ann", Some(3)), "t3");
        assert_eq!(next(&client, "ann", Some(5)), "t4");
        client.delete("/assessment-banks/b").expect(204);
        bank(&client, "b", &["t4"]);
        assert_eq!(next(&client, "ann", Some(1)), "t4", "a deleted bank is forgotten");
    });
}

#[test]
fn learners_who_begin_at_the_same_time_are_spread_evenly() {
    always_both(|server| {
        let client = server.client();
        variations(&client, &["t1", "t2", "t3", "t4"]);
        bank(&client, "b", &["t1", "t2", "t3", "t4"]);
        // Each learner asks twice at once.
        let served: Vec<(usize, String)> = std::thread::scope(|scope| {
            let calls: Vec<_> = (0..48)
                .map(|n| {
                    let client = &client;
                    scope.spawn(move || (n / 2, next(client, &format!("u{}", n / 2), Some(1))))
                })
                .collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for pair in served.chunks(2) {
            assert_eq!(pair[0], pair[1], "the same attempt, the same test");
            *count.entry(&pair[0].1).or_default() += 1;
        }
        assert_eq!(count.values().copied().collect::<Vec<_>>(), [6, 6, 6, 6], "{count:?}");
    });
}
