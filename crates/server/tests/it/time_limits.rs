//! Tests with a time limit: the server's clock ends them, and guides give students more time.

use std::sync::Arc;

use lyceum_core::time::ManualClock;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::{Value, json};

use crate::enrolling::{get, post};
use crate::lessons::{at, course, lesson, progress, stored_question};
use crate::student_lessons::{Browser, answer};

const MINUTE_MS: i64 = 60_000;
const RESULTS: &str = "/ims/oneroster/gradebook/v1p2/assessmentResults";

/// A quiz of two questions with ten minutes, one with ten minutes that allows late answers, a practice with the same test, and
/// Amy, who learns in their course.
fn plant(client: &TestClient) {
    course(client);
    for name in ["q1", "q2"] {
        stored_question(client, name);
    }
    for (id, lesson_type, late) in [
        ("timed", "quiz", false),
        ("late", "unit-test", true),
        ("practice", "powerpath-100", false),
    ] {
        lesson(client, id, lesson_type, &["q1", "q2"], 10.0);
        let xml = format!(
            r#"<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="t-{id}" title="{id}">
  <qti-time-limits max-time="600" allow-late-submission="{late}"/>
  <qti-test-part identifier="p" navigation-mode="nonlinear" submission-mode="simultaneous">
    <qti-assessment-section identifier="s" title="s" visible="true">
      <qti-assessment-item-ref identifier="q1" href="q1.xml"/><qti-assessment-item-ref identifier="q2" href="q2.xml"/>
    </qti-assessment-section></qti-test-part></qti-assessment-test>"#
        );
        let body = json!({ "format": "xml", "xml": xml });
        client.put(&format!("/assessment-tests/t-{id}")).json(&body).expect(200);
    }
}

/// An essay.
fn essay(client: &TestClient, name: &str) {
    let xml = format!(
        r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{name}" title="{name}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float" external-scored="human" normal-maximum="1"/>
  <qti-item-body><qti-extended-text-interaction response-identifier="RESPONSE"/></qti-item-body>
</qti-assessment-item>"#
    );
    client.post("/assessment-items").json(&json!({"format": "xml", "xml": xml})).expect(201);
}

fn on_a_clock(run: impl Fn(&TestServer, &ManualClock)) {
    let clock = Arc::new(ManualClock::at("2026-01-15T09:30:00Z".parse().unwrap()));
    let setup = Setup { clock: Arc::clone(&clock) as _, ..Setup::default() };
    both_as(&setup, |server| run(server, &clock));
}

fn start(browser: &Browser<'_>, lesson: &str, after: u32) -> Value {
    browser.act(lesson, "attempts", &json!({ "after": after }), 200)
}

fn left(view: &Value) -> i64 {
    view["attempt"]["time"]["leftMs"].as_i64().unwrap_or_else(|| panic!("no time in {view}"))
}

fn give(client: &TestClient, whom: &Value, factor: f64, minutes: i64, status: u16) -> Value {
    let mut body = whom.clone();
    body["action"] = json!({ "type": "extra-time", "factor": factor, "minutes": minutes });
    post(client, "/adaptive/teaching", &body, status)
}

#[test]
fn the_server_ends_a_test_when_its_time_is_over() {
    on_a_clock(|server, clock| {
        let client = server.client();
        plant(&client);
        let amy = Browser::of(server, "amy");
        let fresh = amy.lesson("timed", 200);
        assert_eq!((&fresh["timeLimitMs"], &fresh["attempt"]), (&json!(600_000), &Value::Null));
        clock.advance_milliseconds(MINUTE_MS);
        let quiz = start(&amy, "timed", 0);
        assert_eq!(left(&quiz), 10 * MINUTE_MS, "the time begins with the start");
        assert_eq!(quiz["attempt"]["time"]["isRunning"], true);
        clock.advance_milliseconds(3 * MINUTE_MS);
        assert_eq!(left(&start(&amy, "timed", 0)), 7 * MINUTE_MS, "a second start changes nothing");
        assert_eq!(left(&amy.lesson("timed", 200)), 7 * MINUTE_MS);

        let (first, second) = (&quiz["questions"][0], &quiz["questions"][1]);
        amy.act("timed", "answers", &answer("1", &quiz, first, "A"), 200);
        let key = json!({ "attempt": quiz["attempt"]["key"] });
        amy.act("timed", "finish", &key, 422);
        // An answer may be on its way for some seconds.
        clock.advance_milliseconds(7 * MINUTE_MS + 14_000);
        let late = amy.lesson("timed", 200);
        assert_eq!((left(&late), &late["attempt"]["isComplete"]), (0, &json!(false)));
        amy.act("timed", "answers", &answer("2", &quiz, first, "B"), 200);
        amy.act("timed", "answers", &answer("3", &quiz, first, "A"), 200);
        clock.advance_milliseconds(2_000);
        let refused = amy.act("timed", "answers", &answer("4", &quiz, second, "A"), 409);
        assert!(refused["detail"].as_str().unwrap().contains("the time for this lesson is over"));
        // The same rule holds for programs.
        let by_program = json!({
            "student": "amy", "lesson": "timed", "question": "q2", "responses": { "RESPONSE": "A" },
        });
        let path = "/powerpath/updateStudentQuestionResponse";
        client.put(path).json(&by_program).expect(409);
        // A repeated request of an answer that was taken gets its reply.
        amy.act("timed", "answers", &answer("3", &quiz, first, "A"), 200);

        let done = amy.act("timed", "finish", &key, 200);
        let attempt = &done["attempt"];
        assert_eq!((&attempt["isComplete"], &attempt["time"]), (&json!(true), &Value::Null));
        let seen = (&attempt["correctAnswers"], &attempt["scoredAnswers"], &attempt["score"]);
        assert_eq!(seen, (&json!(1), &json!(2), &json!(50.0)), "what has no answer is wrong");
        assert_eq!(progress(&client, "timed")["score"], 50.0);
        assert_eq!(
            amy.get("/api/learn/lessons/timed/review").json::<Value>()["questions"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        assert_eq!(
            left(&start(&amy, "timed", 1)),
            10 * MINUTE_MS,
            "another attempt has its own time"
        );
    });
}

#[test]
fn late_answers_count_if_the_test_allows_it_and_a_practice_has_no_limit() {
    on_a_clock(|server, clock| {
        let client = server.client();
        plant(&client);
        let amy = Browser::of(server, "amy");
        let late = start(&amy, "late", 0);
        assert_eq!(late["attempt"]["time"]["allowsLate"], true);
        let practice = start(&amy, "practice", 0);
        assert_eq!(practice["attempt"]["time"], Value::Null);
        clock.advance_milliseconds(60 * MINUTE_MS);
        for (number, question) in late["questions"].as_array().unwrap().iter().enumerate() {
            amy.act("late", "answers", &answer(&number.to_string(), &late, question, "A"), 200);
        }
        let key = json!({ "attempt": late["attempt"]["key"] });
        assert_eq!(amy.act("late", "finish", &key, 200)["attempt"]["score"], 100.0);
        let served = amy.act("practice", "next", &json!({}), 200);
        amy.act("practice", "answers", &answer("p", &served, &served["questions"][0], "A"), 200);
    });
}

#[test]
fn extra_time_after_a_test_does_not_reopen_it_when_its_scores_arrive() {
    on_a_clock(|server, clock| {
        let client = server.client();
        plant(&client);
        essay(&client, "essay");
        let test = get(&client, "/assessment-tests/t-timed")["rawXml"].as_str().unwrap().to_owned();
        let body = json!({ "format": "xml", "xml": test.replace("q2", "essay") });
        client.put("/assessment-tests/t-timed").json(&body).expect(200);
        let amy = Browser::of(server, "amy");
        let quiz = start(&amy, "timed", 0);
        amy.act("timed", "answers", &answer("1", &quiz, &quiz["questions"][1], "A story"), 200);
        clock.advance_milliseconds(11 * MINUTE_MS);
        let key = json!({ "attempt": quiz["attempt"]["key"] });
        let finished = amy.act("timed", "finish", &key, 200);
        assert_eq!(finished["attempt"]["waitingAnswers"], 1);
        give(&client, &json!({ "student": "amy" }), 1.5, 0, 200);

        let essay = progress(&client, "timed")["questions"][1].clone();
        let path = format!("{RESULTS}/{}", essay["resultId"].as_str().unwrap());
        let mut result = get(&client, &path);
        result["assessmentResult"]["score"] = json!(1.0);
        result["assessmentResult"]["scoreStatus"] = "fully graded".into();
        client.put(&path).json(&result).send();
        let scored = at(&client, "finalStudentAssessmentResponse", "timed", 200);
        assert_eq!((&scored["score"], scored.get("pendingQuestions")), (&json!(50.0), None));
        assert_eq!(amy.lesson("timed", 200)["attempt"]["score"], 50.0);
    });
}

#[test]
fn extra_time_applies_at_once_and_to_every_test() {
    on_a_clock(|server, clock| {
        let client = server.client();
        plant(&client);
        let amy = Browser::of(server, "amy");
        let whom = json!({ "student": "amy" });
        assert_eq!(give(&client, &whom, 1.5, 0, 200)["students"], json!(["amy"]));
        assert_eq!(amy.lesson("timed", 200)["timeLimitMs"], 900_000);
        let quiz = start(&amy, "timed", 0);
        assert_eq!(left(&quiz), 15 * MINUTE_MS);
        clock.advance_milliseconds(16 * MINUTE_MS);
        assert_eq!(left(&amy.lesson("timed", 200)), 0);
        // More time during the test opens it again.
        give(&client, &whom, 1.5, 5, 200);
        assert_eq!(left(&amy.lesson("timed", 200)), 4 * MINUTE_MS);
        amy.act("timed", "answers", &answer("1", &quiz, &quiz["questions"][0], "A"), 200);
        give(&client, &whom, 1.0, 0, 200);
        assert_eq!(left(&amy.lesson("timed", 200)), 0);
        for (factor, minutes) in [(0.5, 0), (10.5, 0), (2.0, -1), (2.0, 601)] {
            give(&client, &whom, factor, minutes, 422);
        }
        give(&client, &json!({ "student": "nobody" }), 2.0, 0, 404);

        // After a reset, the time begins with the student's next start.
        at(&client, "resetAttempt", "timed", 200);
        clock.advance_milliseconds(30 * MINUTE_MS);
        let again = amy.lesson("timed", 200);
        assert_eq!(
            (left(&again), &again["attempt"]["time"]["isRunning"]),
            (10 * MINUTE_MS, &json!(false))
        );
        assert_eq!(again["questions"], json!([]), "they are read only while the time runs");
        let started = start(&amy, "timed", 0);
        assert_eq!(started["attempt"]["time"]["isRunning"], true);
        assert_eq!(started["questions"].as_array().unwrap().len(), 2);
        clock.advance_milliseconds(4 * MINUTE_MS);
        assert_eq!(left(&amy.lesson("timed", 200)), 6 * MINUTE_MS);

        // A limit that is changed later belongs to later attempts.
        let test = get(&client, "/assessment-tests/t-timed")["rawXml"].as_str().unwrap().to_owned();
        let body = json!({ "format": "xml", "xml": test.replace("600", "60") });
        client.put("/assessment-tests/t-timed").json(&body).expect(200);
        assert_eq!(left(&amy.lesson("timed", 200)), 6 * MINUTE_MS);
    });
}
