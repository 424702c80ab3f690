//! Working through lessons over HTTP: every effect is read back by another operation, again after a
//! restart, on both stores.

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post, schools, user};
use crate::qti_structure::test;

const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

/// Stores a choice item whose right answer is A; a wrong one has feedback.
fn question(client: &TestClient, name: &str, difficulty: &str) {
    let xml = format!(
        r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{name}" title="Q {name}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"><qti-default-value><qti-value>0</qti-value></qti-default-value></qti-outcome-declaration>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#
    );
    let metadata = json!({"difficulty": difficulty, "humanApproved": true});
    let body = json!({"format": "xml", "xml": xml, "metadata": metadata});
    client.post("/assessment-items").json(&body).expect(201);
}

/// Stores an easy question whose right answer is A.
pub(crate) fn stored_question(client: &TestClient, name: &str) {
    question(client, name, "easy");
}

/// A lesson of the course `math` whose test has these questions.
pub(crate) fn lesson(
    client: &TestClient,
    id: &str,
    lesson_type: &str,
    questions: &[&str],
    xp: f64,
) {
    test(client, &format!("t-{id}"), questions);
    let resource = json!({"resource": {
        "sourcedId": format!("r-{id}"), "title": id, "vendorResourceId": format!("t-{id}"),
        "metadata": {"type": "qti", "subType": "qti-test", "xp": xp, "subject": "Math", "grades": ["3"],
            "url": format!("https://content.example.org/assessment-tests/t-{id}")},
    }});
    post(client, &format!("{RESOURCES}/resources"), &resource, 201);
    let lesson = json!({"componentResource": {
        "sourcedId": id, "title": format!("Lesson {id}"), "courseComponent": {"sourcedId": "unit"},
        "resource": {"sourcedId": format!("r-{id}")}, "sortOrder": 1, "lessonType": lesson_type,
    }});
    post(client, &format!("{ROSTERING}/courses/component-resources"), &lesson, 201);
}

/// A course with a unit, a student `amy` who is enrolled in it and `bob` who is not.
pub(crate) fn course(client: &TestClient) {
    schools(client);
    let unit = json!({"courseComponent": {
        "sourcedId": "unit", "title": "Unit", "course": {"sourcedId": "math"}, "sortOrder": 1,
    }});
    post(client, &format!("{ROSTERING}/courses/components"), &unit, 201);
    for student in ["amy", "bob"] {
        user(client, student, "student", &["03"], "s");
    }
    client.post("/bridge/enrollments/enroll/amy/math").json(&json!({})).expect(201);
}

fn next(client: &TestClient, lesson: &str) -> Value {
    get(client, &format!("/powerpath/getNextQuestion?student=amy&lesson={lesson}"))
}

fn answer(client: &TestClient, lesson: &str, question: &str, answer: &str, status: u16) -> Value {
    let body = json!({
        "student": "amy", "lesson": lesson, "question": question, "responses": {"RESPONSE": answer},
    });
    client.put("/powerpath/updateStudentQuestionResponse").json(&body).expect(status).json()
}

pub(crate) fn at(client: &TestClient, operation: &str, lesson: &str, status: u16) -> Value {
    let body = json!({"student": "amy", "lesson": lesson});
    post(client, &format!("/adaptive/{operation}"), &body, status)
}

pub(crate) fn progress(client: &TestClient, lesson: &str) -> Value {
    get(client, &format!("/adaptive/getAssessmentProgress?student=amy&lesson={lesson}"))
}

fn message(answer: &Value) -> &str {
    answer["imsx_description"].as_str().unwrap()
}

#[test]
fn a_lesson_is_worked_through_across_restarts() {
    both(|server| {
        let client = server.client();
        course(&client);
        let names: Vec<String> = (0..12).map(|n| format!("q{n}")).collect();
        for (n, name) in names.iter().enumerate() {
            question(&client, name, ["easy", "medium", "hard"][n / 4]);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        lesson(&client, "steps", "powerpath-100", &names, 10.0);
        let mut asked_ids: Vec<String> = Vec::new();
        for n in 1..=11 {
            let served = next(&client, "steps");
            let xml = served["question"]["content"]["rawXml"].as_str().unwrap();
            assert!(!xml.contains("correct-response"), "{xml}");
            let id = served["question"]["id"].as_str().unwrap().to_owned();
            let response = answer(&client, "steps", &id, "A", 200);
            assert_eq!(response["totalQuestions"], n);
            asked_ids.push(id);
            if n == 5 {
                server.restart();
            }
        }
        answer(&client, "steps", &asked_ids[0], "B", 409);
        server.restart();
        let client = server.client();
        let done = next(&client, "steps");
        assert_eq!((&done["finalized"], &done["xp"]), (&json!(true), &json!(12.5)), "{done}");
        assert_eq!(progress(&client, "steps")["seenQuestions"].as_array().unwrap().len(), 11);
        let log = get(&client, "/adaptive/getAttemptLog?student=amy&lesson=steps");
        let entries = log["log"].as_array().unwrap();
        let of_log = |entry: &Value| entry["item"].as_str().unwrap().to_owned();
        assert_eq!(entries.iter().map(of_log).collect::<Vec<_>>(), asked_ids);
        let learner = server
            .client_with(&[Scope::AdaptiveRead, Scope::AdaptiveWrite], PayloadDialect::Platform);
        learner.get("/adaptive/getAttemptLog?student=amy&lesson=steps").expect(403);
    });
}

#[test]
fn requests_about_lessons_are_refused_with_their_status() {
    both(|server| {
        let client = server.client();
        course(&client);
        question(&client, "q1", "easy");
        lesson(&client, "quiz", "quiz", &["q1"], 8.0);
        let refused = |query: &str, status: u16| -> String {
            let path = format!("/adaptive/getAssessmentProgress?{query}");
            message(&client.get(&path).expect(status).json()).to_owned()
        };
        assert!(refused("student=nobody&lesson=quiz", 404).contains("no student 'nobody'"));
        assert!(refused("lesson=quiz", 422).contains("student: is required"));
        assert!(refused("student=amy&lesson=quiz&attempt=0", 422).contains("attempt"));
        client.get("/adaptive/getNextQuestion?student=amy&lesson=quiz").expect(422);
        let put = |body: Value| {
            client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(422);
        };
        put(json!({"student": "amy", "lesson": "quiz", "question": "q1"}));
        put(json!({"student": 1, "lesson": "quiz", "question": "q1", "responses": {}}));
        answer(&client, "quiz", "q1", "A", 200);
        at(&client, "createNewAttempt", "quiz", 409);
        let reset = at(&client, "resetAttempt", "quiz", 200);
        assert_eq!(reset, json!({"success": true, "score": 0}));
        at(&client, "finalStudentAssessmentResponse", "quiz", 422);
        answer(&client, "quiz", "q1", "A", 200);
        at(&client, "finalStudentAssessmentResponse", "quiz", 200);
        assert_eq!(at(&client, "createNewAttempt", "quiz", 201)["attempt"]["attempt"], 2);
        let attempts = get(&client, "/adaptive/getAttempts?student=amy&lesson=quiz");
        assert_eq!(attempts["attempts"].as_array().unwrap().len(), 2);
        let reset: Value =
            client.delete("/edubridge/enrollments/resetProgress/amy/math").expect(200).json();
        assert!(reset["data"]["resultsReset"].as_u64().unwrap() > 0);
    });
}
