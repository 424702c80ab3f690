//! The order of questions and choices in lessons, which the attempt's seed determines for the whole attempt.

use std::collections::HashSet;

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post};
use crate::lessons::{at, course, progress};

const RESOURCES: &str = "/ims/oneroster/resources/v1p2";
const NAMESPACE: &str = r#"xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0""#;
const CHOICES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// A choice item with shuffled choices, whose correct answer is A.
fn item(client: &TestClient, name: &str) {
    let choices: String = CHOICES
        .map(|id| format!("<qti-simple-choice identifier=\"{id}\">{id}</qti-simple-choice>"))
        .concat();
    let xml = format!(
        r#"<qti-assessment-item {NAMESPACE} identifier="{name}" title="{name}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="1" shuffle="true">{choices}</qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#
    );
    client.post("/assessment-items").json(&json!({"format": "xml", "xml": xml})).expect(201);
}

/// Lessons with eight questions. Five are selected and shuffled, and `q0` is always first.
fn prepare(client: &TestClient) {
    course(client);
    let names: Vec<String> = (0..8).map(|n| format!("q{n}")).collect();
    for name in &names {
        item(client, name);
    }
    let refs: Vec<String> = names
        .iter()
        .map(|name| {
            let fixed = if name == "q0" { " required=\"true\" fixed=\"true\"" } else { "" };
            format!("<qti-assessment-item-ref identifier=\"{name}\" href=\"{name}\"{fixed}/>")
        })
        .collect();
    let refs = refs.concat();
    let xml = format!(
        r#"<qti-assessment-test {NAMESPACE} identifier="t" title="T"><qti-test-part identifier="p" navigation-mode="nonlinear" submission-mode="simultaneous">
  <qti-assessment-section identifier="s" title="S" visible="true"><qti-selection select="5"/><qti-ordering shuffle="true"/>{refs}</qti-assessment-section></qti-test-part></qti-assessment-test>"#
    );
    let body = json!({"format": "xml", "xml": xml});
    client.post("/assessment-tests").json(&body).expect(201);
    for (id, kind) in [("quiz", "quiz"), ("steps", "powerpath-100")] {
        let resource = json!({"resource": {"sourcedId": format!("r-{id}"), "title": id,
            "vendorResourceId": "t", "metadata": {"type": "qti", "xp": 5}}});
        post(client, &format!("{RESOURCES}/resources"), &resource, 201);
        let lesson = json!({"componentResource": {"sourcedId": id, "title": id, "sortOrder": 1,
            "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": format!("r-{id}")},
            "lessonType": kind}});
        post(client, &format!("{ROSTERING}/courses/component-resources"), &lesson, 201);
    }
}

/// The questions of the quiz with the order of their choices.
fn order(client: &TestClient) -> Vec<(String, String)> {
    let shown = progress(client, "quiz");
    shown["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(&one["id"]), choices(one)))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The identifiers of a question's choices in the displayed order.
fn choices(question: &Value) -> String {
    let xml = text(&question["content"]["rawXml"]);
    let parts = xml.split("qti-simple-choice identifier=\"").skip(1);
    parts.map(|part| part.split('"').next().unwrap()).collect()
}

fn finish(client: &TestClient) -> Value {
    for (question, _) in order(client) {
        let body =
            json!({"student": "amy", "lesson": "quiz", "question": question, "response": "A"});
        client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200);
    }
    at(client, "finalStudentAssessmentResponse", "quiz", 200)
}

#[test]
fn a_lesson_follows_selection_ordering_and_shuffle_by_the_seed_of_the_attempt() {
    both(|server| {
        let client = server.client();
        prepare(&client);
        let first = order(&client);
        assert_eq!(first.len(), 5, "{first:?}");
        let ids: HashSet<&String> = first.iter().map(|(id, _)| id).collect();
        assert_eq!((ids.len(), first[0].0.as_str()), (5, "q0"), "it is required and fixed");
        let orders: HashSet<&String> = first.iter().map(|(_, order)| order).collect();
        assert!(orders.len() > 1, "each question has an order of its own: {first:?}");
        assert_eq!(order(&client), first);
        server.restart();
        let client = server.client();
        assert_eq!(order(&client), first, "the same after a restart");
        // A question that the attempt did not draw does not belong to it.
        let other = (0..8).map(|n| format!("q{n}")).find(|id| !ids.contains(id)).unwrap();
        let body = json!({"student": "amy", "lesson": "quiz", "question": other, "response": "A"});
        client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(422);
        let done = finish(&client);
        assert_eq!((&done["score"], &done["totalQuestions"]), (&json!(100.0), &json!(5)));
        assert_eq!(order(&client), first, "and when it is over");
        let mut before = first;
        for _ in 0..3 {
            at(&client, "createNewAttempt", "quiz", 201);
            let now = order(&client);
            let ids = |order: &[(String, String)]| -> Vec<String> {
                order.iter().map(|(id, _)| id.clone()).collect()
            };
            assert_ne!(ids(&now), ids(&before), "another attempt, another order");
            finish(&client);
            before = now;
        }
        // The log replays: it names the places of the attempt's bank, whose id is the hash of what it says.
        let logs: Vec<Value> = (1..=2)
            .map(|attempt| {
                get(
                    &client,
                    &format!("/adaptive/getAttemptLog?student=amy&lesson=quiz&attempt={attempt}"),
                )
            })
            .collect();
        assert_ne!(logs[0]["bank"], logs[1]["bank"]);
        // An adaptive quiz chooses among all questions; its choices are shuffled too.
        let mut seen = HashSet::new();
        for _ in 0..8 {
            let next = get(&client, "/adaptive/getNextQuestion?student=amy&lesson=steps");
            assert_eq!(next, get(&client, "/adaptive/getNextQuestion?student=amy&lesson=steps"));
            seen.insert(choices(&next["question"]));
            let body = json!({"student": "amy", "lesson": "steps", "response": "A",
                "question": next["question"]["id"]});
            client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200);
        }
        assert!(seen.len() > 1, "{seen:?}");
        let progress = progress(&client, "steps");
        assert_eq!(progress["seenQuestions"].as_array().unwrap().len(), 8);
    });
}
