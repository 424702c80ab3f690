//! Working through lessons over HTTP: every effect is read back by another operation, again after a
//! restart, on both stores.

use std::thread;

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, always_both, both};
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post, schools, user};
use crate::qti_structure::test;

const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";
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

fn attempts(client: &TestClient, lesson: &str) -> Value {
    get(client, &format!("/adaptive/getAttempts?student=amy&lesson={lesson}"))["attempts"].clone()
}

/// XP, questions, right ones and units of amy in all facts.
pub(crate) fn facts(client: &TestClient) -> [f64; 4] {
    let path = "/bridge/analytics/activity?studentId=amy&startDate=2000-01-01&endDate=2100-01-01";
    let mut sums = [0.0; 4];
    for day in get(client, path)["facts"].as_object().unwrap().values() {
        for subject in day.as_object().unwrap().values() {
            let names = ["xpEarned", "totalQuestions", "correctQuestions", "masteredUnits"];
            for (sum, name) in sums.iter_mut().zip(names) {
                *sum += subject["activityMetrics"][name].as_f64().unwrap();
            }
        }
    }
    sums
}

/// The XP of amy's active results of lessons.
fn gradebook_xp(client: &TestClient) -> f64 {
    let filter = "student.sourcedId%3D'amy'%20AND%20status%3D'active'";
    let path = format!("{GRADEBOOK}/assessmentResults?limit=1000&filter={filter}");
    let results = get(client, &path)["assessmentResults"].clone();
    let xp = |result: &Value| result["metadata"]["xp"].as_f64();
    results.as_array().unwrap().iter().filter_map(xp).sum()
}

pub(crate) fn agree(client: &TestClient, xp: f64) {
    assert_eq!(json!([facts(client)[0], gradebook_xp(client)]), json!([xp, xp]));
}

fn message(answer: &Value) -> &str {
    answer["imsx_description"].as_str().unwrap()
}

#[test]
fn eleven_right_answers_complete_a_lesson_and_are_credited_once() {
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
            assert_eq!(served, next(&client, "steps"), "asked twice it is the same question");
            let xml = served["question"]["content"]["rawXml"].as_str().unwrap();
            assert!(!xml.contains("correct-response"), "{xml}");
            let id = served["question"]["id"].as_str().unwrap().to_owned();
            assert!(!asked_ids.contains(&id), "no question repeats while one is unseen");
            let response = answer(&client, "steps", &id, "A", 200);
            assert_eq!(
                response,
                answer(&client, "steps", &id, "A", 200),
                "sent again it counts once"
            );
            assert_eq!(response["responseResult"]["isCorrect"], true);
            assert_eq!(
                (&response["totalQuestions"], &response["correctQuestions"]),
                (&json!(n), &json!(n))
            );
            assert_eq!(response["questionResult"]["score"], 1);
            assert_eq!(
                response["testResult"]["score"].as_f64(),
                response["powerpathScore"].as_f64()
            );
            asked_ids.push(id);
            if n == 5 {
                server.restart();
            }
            assert_eq!(response["xp"], if n == 11 { json!(12.5) } else { json!(null) });
        }
        let seen = progress(&client, "steps");
        assert_eq!((&seen["score"], &seen["accuracy"]), (&json!(100.0), &json!(100.0)));
        assert_eq!(seen["seenQuestions"].as_array().unwrap().len(), 11);
        let left = seen["remainingQuestionsPerDifficulty"].as_object().unwrap().values();
        assert_eq!(left.map(|n| n.as_u64().unwrap()).sum::<u64>(), 1);
        let done = next(&client, "steps");
        assert_eq!(done["finalized"], true, "{done}");
        assert_eq!((&done["score"], &done["xp"]), (&json!(100.0), &json!(12.5)));
        assert_eq!(
            done["question"]["id"], asked_ids[10],
            "clients that know of no end show it with its result"
        );
        assert_eq!(done["question"]["correct"], true);
        let ended = at(&client, "finalStudentAssessmentResponse", "steps", 200);
        assert_eq!((&ended["score"], &ended["totalQuestions"]), (&json!(100.0), &json!(11)));
        answer(&client, "steps", &asked_ids[0], "B", 409);
        server.restart();
        let client = server.client();
        agree(&client, 12.5);
        assert_eq!(json!(facts(&client)), json!([12.5, 11.0, 11.0, 1.0]));
        let log = get(&client, "/adaptive/getAttemptLog?student=amy&lesson=steps");
        let entries = log["log"].as_array().unwrap();
        let of_log = |entry: &Value| entry["item"].as_str().unwrap().to_owned();
        assert_eq!(entries.iter().map(of_log).collect::<Vec<_>>(), asked_ids);
        assert_eq!(entries[0]["reason"]["strategy"], "bands");
        let learner = server
            .client_with(&[Scope::AdaptiveRead, Scope::AdaptiveWrite], PayloadDialect::Platform);
        learner.get("/adaptive/getAttemptLog?student=amy&lesson=steps").expect(403);
    });
}

/// What the log of the attempt that amy is at says: item and answer.
fn logged(client: &TestClient, lesson: &str) -> Vec<(String, Value)> {
    let log = get(client, &format!("/adaptive/getAttemptLog?student=amy&lesson={lesson}"));
    let entry = |entry: &Value| {
        let answer = entry["answered"]["responses"]["RESPONSE"].clone();
        (entry["item"].as_str().unwrap().to_owned(), answer)
    };
    log["log"].as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn an_answer_serves_the_next_question_once() {
    both(|server| {
        let client = server.client();
        course(&client);
        for name in ["q1", "q2"] {
            question(&client, name, "easy");
        }
        lesson(&client, "steps", "powerpath-100", &["q1", "q2"], 10.0);
        let next_question = |client: &TestClient| next(client, "steps")["question"]["id"].clone();
        let first = next_question(&client).as_str().unwrap().to_owned();
        let second = if first == "q1" { "q2" } else { "q1" };
        let response = answer(&client, "steps", &first, "B", 200);
        let served = [(first.clone(), json!("B")), (second.to_owned(), json!(null))];
        assert_eq!(logged(&client, "steps"), served);
        server.restart();
        let client = server.client();
        assert_eq!(next_question(&client), second);
        assert_eq!(logged(&client, "steps"), served, "asking for it writes nothing");
        assert_eq!(
            answer(&client, "steps", &first, "B", 200),
            response,
            "sent again it counts once"
        );
        // Now the student has been asked both: what comes next is served when it is asked for.
        let response = answer(&client, "steps", second, "B", 200);
        assert_eq!(answer(&client, "steps", second, "B", 200), response);
        assert_eq!(logged(&client, "steps").len(), 2);
        let third = next_question(&client).as_str().unwrap().to_owned();
        assert_eq!(logged(&client, "steps")[2], (third.clone(), json!(null)));
        let response = answer(&client, "steps", &third, "B", 200);
        assert_eq!(response["totalQuestions"], 3);
    });
}

#[test]
fn wrong_answers_step_down_and_a_second_attempt_earns_less() {
    always_both(|server| {
        let client = server.client();
        course(&client);
        let names: Vec<String> = (0..40).map(|n| format!("q{n}")).collect();
        for name in &names {
            question(&client, name, "easy");
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        lesson(&client, "steps", "powerpath-100", &names, 10.0);
        let walk = |answers: &[&str]| -> Value {
            let mut last = json!(null);
            for given in answers {
                let id = next(&client, "steps")["question"]["id"].as_str().unwrap().to_owned();
                last = answer(&client, "steps", &id, given, 200);
            }
            last
        };
        // 0 14 27 39: wrong takes 3 at 39, and 12 of 13 right are 92.30 %.
        let first = walk(&["A", "A", "A", "B"]);
        assert_eq!((&first["powerpathScore"], &first["accuracy"]), (&json!(36.0), &json!(75.0)));
        assert_eq!(attempts(&client, "steps")[0]["scoreStatus"], "partially graded");
        let early = at(&client, "createNewAttempt", "steps", 409);
        assert!(message(&early).contains("is not complete"), "{early}");
        let mut last = json!(null);
        while last["powerpathScore"] != 100.0 {
            last = walk(&["A"]);
        }
        assert_eq!((&last["multiplier"], &last["xp"]), (&json!(1.0), &json!(10.0)));
        assert_eq!(began_at_once(&client), [201, 409], "one attempt is open at a time");
        assert_eq!(attempts(&client, "steps")[1]["scoreStatus"], "not submitted");
        let seen: Vec<Value> = (0..2)
            .map(|_| {
                let id = next(&client, "steps")["question"]["id"].clone();
                answer(&client, "steps", id.as_str().unwrap(), "B", 200);
                id
            })
            .collect();
        let log = get(&client, "/adaptive/getAttemptLog?student=amy&lesson=steps&attempt=1");
        let former: Vec<&Value> =
            log["log"].as_array().unwrap().iter().map(|e| &e["item"]).collect();
        assert!(seen.iter().all(|id| !former.contains(&id)), "unseen ones come first");
        while at_score(&client) < 100.0 {
            walk(&["A"]);
        }
        let second = &attempts(&client, "steps")[1];
        let accuracy = progress(&client, "steps")["accuracy"].as_f64().unwrap();
        let multiplier = if accuracy >= 80.0 { 0.5 } else { 0.0 };
        assert_eq!(second["xp"], json!(10.0 * multiplier));
        agree(&client, 10.0 + 10.0 * multiplier);
    });
}

/// What two requests for the next attempt are told that come at the same moment, in ascending order.
fn began_at_once(client: &TestClient) -> Vec<u16> {
    let clients = [client.clone(), client.clone()];
    let body = json!({"student": "amy", "lesson": "steps"});
    let begin =
        |client: &TestClient| client.post("/adaptive/createNewAttempt").json(&body).send().status;
    let mut response: Vec<u16> = thread::scope(|scope| {
        let calls: Vec<_> = clients.iter().map(|one| scope.spawn(|| begin(one))).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    response.sort_unstable();
    response
}

fn at_score(client: &TestClient) -> f64 {
    progress(client, "steps")["score"].as_f64().unwrap()
}

fn quiz(server: &mut TestServer) -> TestClient {
    let client = server.client();
    course(&client);
    for name in ["q1", "q2", "q3", "other"] {
        question(&client, name, "medium");
    }
    lesson(&client, "quiz", "quiz", &["q1", "q2", "q3"], 8.0);
    client
}

fn all_right(client: &TestClient) {
    for question in ["q1", "q2", "q3"] {
        answer(client, "quiz", question, "A", 200);
    }
}

#[test]
fn a_quiz_shows_the_correct_answers_once_it_is_finished() {
    both(|server| {
        let client = quiz(server);
        let start = progress(&client, "quiz");
        assert_eq!((&start["finalized"], &start["totalQuestions"]), (&json!(false), &json!(3)));
        assert_eq!(start["questions"].as_array().unwrap().len(), 3);
        client.get("/adaptive/getNextQuestion?student=amy&lesson=quiz").expect(422);
        let taken = answer(&client, "quiz", "q1", "B", 200);
        assert_eq!(taken["questionResult"]["question"], "q1");
        assert!(taken.get("responseResult").is_none(), "nothing is told before the end: {taken}");
        answer(&client, "quiz", "q1", "A", 200);
        answer(&client, "quiz", "q2", "B", 200);
        let open = at(&client, "finalStudentAssessmentResponse", "quiz", 422);
        assert!(message(&open).contains("1 of 3 questions have no answer yet: 'q3'"), "{open}");
        server.restart();
        let client = server.client();
        let going = progress(&client, "quiz");
        assert_eq!(going["questions"][0]["response"], "A");
        assert!(going["questions"][0].get("correct").is_none(), "{going}");
        answer(&client, "quiz", "q3", "A", 200);
        let done = at(&client, "finalStudentAssessmentResponse", "quiz", 200);
        let expected = json!({
            "lessonType": "quiz", "finalized": true, "attempt": 1, "score": 66.66, "xp": 0.0,
            "multiplier": 0.0, "accuracy": 66.66, "correctQuestions": 2, "totalQuestions": 3,
        });
        assert_eq!(done, expected, "every finalise answers the score");
        assert_eq!(at(&client, "finalStudentAssessmentResponse", "quiz", 200), done);
        let response = progress(&client, "quiz");
        assert_eq!((&response["score"], &response["accuracy"]), (&json!(66.66), &json!(66.66)));
        let right: Vec<&Value> =
            response["questions"].as_array().unwrap().iter().map(|q| &q["correct"]).collect();
        assert_eq!(right, [&json!(true), &json!(false), &json!(true)]);
        assert_eq!((&response["xp"], &response["multiplier"]), (&json!(0.0), &json!(0.0)));
        let result = response["questions"][1]["resultId"].as_str().unwrap();
        let result = get(&client, &format!("{GRADEBOOK}/assessmentResults/{result}"));
        assert_eq!(result["assessmentResult"]["score"], 0);
        answer(&client, "quiz", "q1", "B", 409);
        agree(&client, 0.0);
        at(&client, "createNewAttempt", "quiz", 201);
        all_right(&client);
        at(&client, "finalStudentAssessmentResponse", "quiz", 200);
        agree(&client, 8.0);
        let first =
            get(&client, "/adaptive/getAssessmentProgress?student=amy&lesson=quiz&attempt=1");
        assert_eq!((&first["attempt"], &first["score"]), (&json!(1), &json!(66.66)));
        client.get("/adaptive/getAssessmentProgress?student=amy&lesson=quiz&attempt=3").expect(404);
        // A new attempt takes back the XP; earned again, they count once.
        assert_eq!(at(&client, "resetAttempt", "quiz", 200), json!({"success": true, "score": 0}));
        agree(&client, 0.0);
        assert_eq!(attempts(&client, "quiz")[1]["scoreStatus"], "not submitted");
        all_right(&client);
        at(&client, "finalStudentAssessmentResponse", "quiz", 200);
        server.restart();
        let client = server.client();
        agree(&client, 8.0);
        let reset: Value =
            client.delete("/edubridge/enrollments/resetProgress/amy/math").expect(200).json();
        assert!(reset["data"]["resultsReset"].as_u64().unwrap() > 0);
        agree(&client, 0.0);
        assert_eq!(attempts(&client, "quiz"), json!([]));
        all_right(&client);
        at(&client, "finalStudentAssessmentResponse", "quiz", 200);
        assert_eq!(attempts(&client, "quiz")[0]["xp"], 10.0, "it is the first attempt again");
        agree(&client, 10.0);
        // Also when the lesson has gone.
        client.delete(&format!("{ROSTERING}/courses/component-resources/quiz")).expect(204);
        client.delete("/edubridge/enrollments/resetProgress/amy/math").expect(200);
        agree(&client, 0.0);
    });
}

#[test]
fn every_refusal_names_its_reason() {
    both(|server| {
        let client = quiz(server);
        let refused = |query: &str, status: u16| -> String {
            let path = format!("/adaptive/getAssessmentProgress?{query}");
            message(&client.get(&path).expect(status).json()).to_owned()
        };
        assert!(refused("student=nobody&lesson=quiz", 404).contains("no student 'nobody'"));
        assert!(refused("student=amy&lesson=nothing", 404).contains("no lesson 'nothing'"));
        assert!(
            refused("student=bob&lesson=quiz", 422).contains("not enrolled in the course 'math'")
        );
        assert!(refused("lesson=quiz", 422).contains("student: is required"));
        assert!(refused("student=amy&lesson=quiz&attempt=0", 422).contains("attempt"));
        let other = answer(&client, "quiz", "other", "A", 422);
        assert!(message(&other).contains("is not in the lesson 'quiz'"), "{other}");
        let shape = answer(&client, "quiz", "q1", "C", 422);
        assert!(message(&shape).contains("RESPONSE"), "{shape}");
        let put = |body: Value| {
            client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(422);
        };
        put(json!({"student": "amy", "lesson": "quiz", "question": "q1"}));
        put(json!({"student": "amy", "lesson": "quiz", "question": "q1", "responses": {"X": "A"}}));
        put(json!({"student": 1, "lesson": "quiz", "question": "q1", "responses": {}}));
        question(&client, "p1", "easy");
        lesson(&client, "steps", "powerpath-100", &["p1", "q1"], 1.0);
        let unasked = answer(&client, "steps", "p1", "A", 409);
        assert!(message(&unasked).contains("getNextQuestion"), "{unasked}");
        let ends = at(&client, "finalStudentAssessmentResponse", "steps", 422);
        assert!(message(&ends).contains("score 100"), "{ends}");
        let text =
            json!({"resource": {"sourcedId": "text", "title": "Text", "vendorResourceId": "t"}});
        post(&client, &format!("{RESOURCES}/resources"), &text, 201);
        let no_lesson = json!({"componentResource": {"sourcedId": "text", "title": "Text",
            "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": "text"}, "sortOrder": 2}});
        post(&client, &format!("{ROSTERING}/courses/component-resources"), &no_lesson, 201);
        assert!(refused("student=amy&lesson=text", 422).contains("is not a lesson"));
    });
}
