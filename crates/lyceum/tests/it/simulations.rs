//! Attempts of a served school, replayed and simulated.

use lyceum_adaptive::engine::{
    Answer, AnswerLog, AttemptHistory, EngineQuestions, Question, Replay, WHOLE, replay,
    score_after, score_of,
};
use lyceum_adaptive::{Difficulty, LessonType, Policy};
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Served, Store, rest_on_both_stores};

rest_on_both_stores!(a_change_of_policy_is_simulated_with_past_attempts);

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const QUESTIONS: usize = 30;
const XP: f64 = 20.0;

fn bank() -> EngineQuestions {
    let question = |number: usize| Question {
        id: format!("question-{number:02}"),
        difficulty: Difficulty::ALL[number % 3],
        approved: false,
        calibration: None,
    };
    EngineQuestions { questions: (0..QUESTIONS).map(question).collect() }
}

fn item(id: &str) -> String {
    format!(
        r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{id}" title="{id}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#
    )
}

/// A course with one lesson and the student amy in it.
pub(crate) fn school(client: &TestClient) {
    let created = |path: &str, body: Value| client.post(path).json(&body).expect(201);
    let roster = |path: &str, body: Value| created(&format!("{ROSTERING}{path}"), body);
    let school = json!({"sourcedId": "school"});
    roster("/orgs", json!({"org": {"sourcedId": "school", "name": "School", "type": "school"}}));
    let course =
        json!({"sourcedId": "course", "title": "Course", "courseCode": "C", "org": school});
    roster("/courses", json!({ "course": course }));
    let unit = json!({"sourcedId": "unit", "title": "Unit", "sortOrder": 1, "course": {"sourcedId": "course"}});
    roster("/courses/components", json!({ "courseComponent": unit }));
    let mut members = Vec::new();
    for question in bank().questions {
        let metadata = json!({"difficulty": question.difficulty});
        let body = json!({"format": "xml", "xml": item(&question.id), "metadata": metadata});
        created("/assessment-items", body);
        members.push(json!({"identifier": question.id, "href": format!("/assessment-items/{}", question.id)}));
    }
    let section = json!({"identifier": "section", "title": "All", "visible": true, "sequence": 1,
        "qti-assessment-item-ref": members});
    let part = json!({"identifier": "part", "navigationMode": "linear",
        "submissionMode": "individual", "qti-assessment-section": [section]});
    created(
        "/assessment-tests",
        json!({"identifier": "test", "title": "Test", "qti-test-part": [part]}),
    );
    let resource = json!({"sourcedId": "resource", "title": "Questions", "vendorResourceId": "test",
        "metadata": {"type": "qti", "subType": "qti-test", "lessonType": "powerpath-100", "xp": XP}});
    created("/ims/oneroster/resources/v1p2/resources", json!({ "resource": resource }));
    let lesson = json!({"sourcedId": "lesson", "title": "Lesson", "sortOrder": 1,
        "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": "resource"}});
    roster("/courses/component-resources", json!({ "componentResource": lesson }));
    let role = json!({"roleType": "primary", "role": "student", "org": school});
    let amy = json!({"sourcedId": "amy", "status": "active", "enabledUser": "true", "username": "amy",
        "givenName": "Amy", "familyName": "Ash", "email": "amy@example.org", "roles": [role], "grades": ["05"]});
    roster("/users", json!({ "user": amy }));
    client.post("/bridge/enrollments/enroll/amy/course").json(&json!({})).expect(201);
}

/// Answers the questions of an attempt, right or wrong in turn as told, until it is complete or there
/// is nothing more to say; its score.
fn work(client: &TestClient, answers: &[bool]) -> f64 {
    let mut score = 0.0;
    for right in answers {
        let next: Value =
            client.get("/adaptive/getNextQuestion?student=amy&lesson=lesson").expect(200).json();
        let response = if *right { "A" } else { "B" };
        let body = json!({"student": "amy", "lesson": "lesson", "question": next["question"]["id"],
            "responses": {"RESPONSE": response}});
        let path = "/adaptive/updateStudentQuestionResponse";
        let answered: Value = client.put(path).json(&body).expect(200).json();
        score = answered["powerpathScore"].as_f64().unwrap();
    }
    score
}

/// An attempt for the engine to replay, made from its log in the API, and the entries of the log.
fn attempt_from_log(
    client: &TestClient,
    number: u32,
    earlier: Vec<u32>,
) -> (AttemptHistory, Vec<Value>) {
    let path = format!("/adaptive/getAttemptLog?student=amy&lesson=lesson&attempt={number}");
    let log: Value = client.get(&path).expect(200).json();
    let entries = log["log"].as_array().unwrap().clone();
    let answers =
        entries.iter().filter(|entry| entry["answered"].is_object()).map(|entry| Answer {
            question: u32::try_from(entry["question"].as_u64().unwrap()).unwrap(),
            correct: entry["answered"]["correct"].as_bool().unwrap(),
            score: entry["answered"]["score"].as_f64().unwrap(),
            share: Some(u32::from(entry["answered"]["correct"].as_bool().unwrap()) * WHOLE),
        });
    let past = AttemptHistory {
        seed: log["seed"].as_str().unwrap().parse().unwrap(),
        attempt: number,
        base_xp: XP,
        bank: bank(),
        log: AnswerLog { earlier, answers: answers.collect() },
    };
    (past, entries)
}

/// Every choice is the one of the log, also that of the question which is asked next.
fn agrees(replayed: &Replay, entries: &[Value]) {
    let next: Vec<Value> = replayed.next.iter().map(|next| json!(next.reason)).collect();
    let reasons = entries.iter().skip(replayed.steps.len()).map(|entry| entry["reason"].clone());
    assert_eq!(reasons.collect::<Vec<_>>(), next);
    for (step, entry) in replayed.steps.iter().zip(entries) {
        let choice = step.choice.as_ref().unwrap();
        assert_eq!(choice.question, step.answered);
        assert_eq!(json!(choice.reason), entry["reason"]);
        assert_eq!(json!(step.after), entry["answered"]["points"]);
    }
}

fn a_change_of_policy_is_simulated_with_past_attempts(store: Store) {
    let served = Served::start(store);
    let client = signed_in(&served);
    school(&client);
    // Complete after 11 right answers; after a wrong one and 11 right ones; the third one goes on.
    assert_eq!(json!(work(&client, &[true; 11])), 100.0);
    let again = json!({"student": "amy", "lesson": "lesson"});
    client.post("/adaptive/createNewAttempt").json(&again).expect(201);
    let (mut second, pattern) = (0.0, [[false, true].as_slice(), &[true; 20]].concat());
    let mut answers = 0;
    while second < 100.0 {
        second = work(&client, &pattern[answers..=answers]);
        answers += 1;
    }
    client.post("/adaptive/createNewAttempt").json(&again).expect(201);
    assert!(work(&client, &[true, false, true]) < 100.0);

    // What is told of the attempts replays to the bit, the counts of former ones with it.
    let policy = Policy::shipped(LessonType::Powerpath100);
    let (mut earlier, mut pasts) = (vec![0; QUESTIONS], Vec::new());
    for number in 1..=3 {
        let (past, entries) = attempt_from_log(&client, number, earlier.clone());
        agrees(&replay(&policy, &past), &entries);
        past.log.answers.iter().for_each(|answer| earlier[answer.question as usize] += 1);
        pasts.push(past);
    }

    let simulate = |policy: &Value, more: &[&str]| -> Value {
        let file = served.file("policy.json");
        std::fs::write(&file, policy.to_string()).unwrap();
        let line = ["lesson", "policy", "simulate", file.to_str().unwrap(), "--json"];
        serde_json::from_str(&served.run(&[&line, more].concat())).unwrap()
    };
    let same = simulate(&json!(policy), &[]);
    assert_eq!(
        (&same["attempts"], &same["changed"], &same["changes"]),
        (&json!(3), &json!(0), &json!([]))
    );
    assert_eq!(same["old"], same["new"]);
    let kept: Value =
        client.get("/adaptive/getAttempts?student=amy&lesson=lesson").expect(200).json();
    let sum = |name: &str| -> f64 {
        kept["attempts"].as_array().unwrap().iter().filter_map(|it| it[name].as_f64()).sum()
    };
    assert_eq!(same["old"]["xp"], json!(sum("xp")));
    assert_eq!(same["old"]["score"], json!(sum("score")));
    assert_eq!(same["old"]["complete"], 2);

    let mut double = json!(policy);
    for step in double["scoring"]["steps"]["right"].as_array_mut().unwrap() {
        step["points"] = json!(step["points"].as_u64().unwrap() * 2);
    }
    let changed = simulate(&double, &["--student", "amy", "--lesson", "lesson"]);
    let new = Policy::read(&double).unwrap();
    let expected: Vec<Value> = pasts
        .iter()
        .map(|past| {
            let (old, new) = (replay(&policy, past).outcome, replay(&new, past).outcome);
            json!({"student": "amy", "lesson": "lesson", "attempt": past.attempt, "policy": 0,
                "old": old, "new": new})
        })
        .collect();
    assert_eq!(changed["changes"], json!(expected));
    assert_eq!(changed["changes"][0]["new"]["questions"], 6, "28, 52, 70, 84, 96, 100");

    assert_eq!(simulate(&double, &["--student", "bob"])["attempts"], 0);
    let other = Policy::shipped(LessonType::Quiz);
    assert_eq!(simulate(&json!(other), &[])["attempts"], 0, "a policy is tried on its own type");
    let text =
        served.run(&["lesson", "policy", "simulate", served.file("policy.json").to_str().unwrap()]);
    assert!(text.starts_with("attempts"), "{text}");
    running_attempts_keep_their_policy(served, &client, &double);
}

/// The third attempt runs; the next one begins under the new policy.
fn running_attempts_keep_their_policy(served: Served, client: &TestClient, new: &Value) {
    let file = served.file("new.json");
    std::fs::write(&file, new.to_string()).unwrap();
    served.run(&["lesson", "policy", "set", file.to_str().unwrap(), "--quiet"]);
    let policy = Policy::shipped(LessonType::Powerpath100);
    let (third, _) = attempt_from_log(client, 3, Vec::new());
    let before = score_of(&policy, &third.log.answers);
    let after = f64::from(score_after(&policy, before, Some(WHOLE)));
    assert_eq!(json!(work(client, &[true])), json!(after));
    while work(client, &[true]) < 100.0 {}
    let again = json!({"student": "amy", "lesson": "lesson"});
    client.post("/adaptive/createNewAttempt").json(&again).expect(201);
    assert_eq!(json!(work(client, &[true])), 28.0);
    let served = served.restart();
    let client = signed_in(&served);
    assert_eq!(json!(work(&client, &[true])), 52.0);
}

fn signed_in(served: &Served) -> TestClient {
    let key = served.client("platform", &[]);
    let http = Http::sign_in(&served.base, &key, None);
    TestClient::new(&served.base).with_token(http.token())
}
