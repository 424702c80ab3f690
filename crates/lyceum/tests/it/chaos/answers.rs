//! A student who answers the questions of a lesson, in one attempt after the other.

use lyceum_testserver::client::{Call, Reply, TestClient};
use serde_json::{Value, json};

const STUDENT: &str = "amy";
const LESSON: &str = "lesson";

pub(super) fn next(client: &TestClient) -> Call<'_> {
    client.get(&format!("/adaptive/getNextQuestion?student={STUDENT}&lesson={LESSON}"))
}

/// The id of the question in the reply to [`next`]; `None` if the attempt is complete.
pub(super) fn question(next: &Reply) -> Option<String> {
    let next: Value = next.json();
    let is_complete = next["finalized"].as_bool().unwrap();
    (!is_complete).then(|| next["question"]["id"].as_str().unwrap().to_owned())
}

/// Answers a question, two of three times right.
pub(super) fn answer<'a>(client: &'a TestClient, question: &str, number: usize) -> Call<'a> {
    let choice = if number.is_multiple_of(3) { "B" } else { "A" };
    let body = json!({"student": STUDENT, "lesson": LESSON, "question": question, "responses": {"RESPONSE": choice}});
    client.put("/adaptive/updateStudentQuestionResponse").json(&body)
}

pub(super) fn new_attempt(client: &TestClient) -> Call<'_> {
    client.post("/adaptive/createNewAttempt").json(&json!({ "student": STUDENT, "lesson": LESSON }))
}

/// The name of an answer: its number, counted over all attempts, and its question.
pub(super) fn name(number: usize, question: &str) -> String {
    format!("{number}: {question}")
}

/// The names of all stored answers.
pub(super) fn stored(client: &TestClient) -> Vec<String> {
    let at = |path: &str, more: &str| -> Value {
        let path = format!("/adaptive/{path}?student={STUDENT}&lesson={LESSON}{more}");
        client.get(&path).expect(200).json()
    };
    let attempts = at("getAttempts", "");
    let mut names = Vec::new();
    for attempt in attempts["attempts"].as_array().unwrap() {
        let log = at("getAttemptLog", &format!("&attempt={}", attempt["attempt"]));
        for entry in log["log"].as_array().unwrap() {
            if entry["answered"].is_object() {
                let question = format!("question-{:02}", entry["question"].as_u64().unwrap());
                names.push(name(names.len() + 1, &question));
            }
        }
    }
    names
}
