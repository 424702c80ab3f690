//! Next question and answer over HTTP, beside durable creates.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use super::{Options, percentiles};
use crate::goals::Finding;
use crate::ours::{Ours, ROSTERING};
use crate::pairs::Spread;
use crate::qti::item;
use crate::server::{SERVER_CORE, Server};

/// Students who work at once, each a client of its own.
pub(super) const STUDENTS: u64 = 64;
/// Questions of the lesson.
const QUESTIONS: u64 = 60;
/// Answers of 100 that are right: an attempt is over after 17 on average, and the next one begins.
const RIGHT_PERCENT: u64 = 80;

/// A client of the server that keeps its connection.
struct Client<'a> {
    agent: Agent,
    server: &'a Server,
}

impl<'a> Client<'a> {
    fn new(server: &'a Server) -> Self {
        Self { agent: Agent::new_with_defaults(), server }
    }

    fn authorization(&self) -> Result<String> {
        Ok(format!("Bearer {}", self.server.token()?))
    }

    fn get(&self, path: &str) -> Result<Value> {
        let request = self.agent.get(format!("http://{}{path}", self.server.address));
        let mut answer = request
            .header("Authorization", self.authorization()?)
            .call()
            .with_context(|| format!("GET {path}"))?;
        Ok(serde_json::from_str(&answer.body_mut().read_to_string()?)?)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let address = format!("http://{}{path}", self.server.address);
        let request = match method {
            "PUT" => self.agent.put(address),
            _ => self.agent.post(address),
        };
        let mut answer = request
            .header("Authorization", self.authorization()?)
            .header("Content-Type", "application/json")
            .send(body.to_string())
            .with_context(|| format!("{method} {path}"))?;
        let text = answer.body_mut().read_to_string()?;
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    }
}

/// Q2: the median time of a next question and its answer, beside that of a durable create.
pub(super) fn measure(options: &Options) -> Result<Finding> {
    let scratch = tempfile::tempdir_in(options.folder.canonicalize()?)?;
    let data = scratch.path().join("ours");
    let ours = Ours { program: options.lyceum.clone(), data, database: None };
    let server = ours.serve(SERVER_CORE)?;
    prepare(&server)?;
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.rounds() {
        let creates = of_all(options, &server, create)?;
        let answers = of_all(options, &server, answer)?;
        let (count, (create, _)) = (answers.len(), percentiles(creates));
        let (p50, p99) = percentiles(answers);
        ratios.push(p50 / create);
        detail = format!(
            "both p50 {p50:.2} ms, p99 {p99:.2} ms of {count}; a create p50 {create:.2} ms"
        );
    }
    Ok(Finding::new("Q2", Spread::of(ratios), detail))
}

/// The times of work that every client repeats; it gets the number of its student and answers what it
/// took.
fn of_all(
    options: &Options,
    server: &Server,
    work: impl Fn(&Client<'_>, u64) -> Result<Duration> + Sync,
) -> Result<Vec<Duration>> {
    let end = Instant::now() + options.time();
    std::thread::scope(|scope| {
        let one = |student| {
            let client = Client::new(server);
            let mut times = Vec::new();
            while Instant::now() < end {
                times.push(work(&client, student)?);
            }
            Ok(times)
        };
        let clients: Vec<_> =
            (0..STUDENTS).map(|student| scope.spawn(move || one(student))).collect();
        let mut all = Vec::new();
        for client in clients {
            let times: Result<Vec<Duration>> = client.join().expect("a client answers its errors");
            all.extend(times?);
        }
        ensure!(!all.is_empty(), "nothing was answered in time");
        Ok(all)
    })
}

fn create(client: &Client<'_>, _: u64) -> Result<Duration> {
    let user = user(&format!("new-{:x}", fastrand::u128(..)));
    let begun = Instant::now();
    client.send("POST", &format!("{ROSTERING}/users"), &user)?;
    Ok(begun.elapsed())
}

fn answer(client: &Client<'_>, student: u64) -> Result<Duration> {
    let student = format!("student-{student}");
    let begun = Instant::now();
    let next =
        client.get(&format!("/powerpath/getNextQuestion?student={student}&lesson=lesson"))?;
    let response = if fastrand::u64(..100) < RIGHT_PERCENT { "C" } else { "A" };
    let body = json!({
        "student": student,
        "lesson": "lesson",
        "question": next["question"]["id"],
        "responses": {"RESPONSE": response},
    });
    let answered = client.send("PUT", "/powerpath/updateStudentQuestionResponse", &body)?;
    let took = begun.elapsed();
    if answered["powerpathScore"].as_f64().context("an answer tells the score")? >= 100.0 {
        let body = json!({ "student": student, "lesson": "lesson" });
        client.send("POST", "/powerpath/createNewAttempt", &body)?;
    }
    Ok(took)
}

fn user(id: &str) -> Value {
    let role = json!({"roleType": "primary", "role": "student", "org": {"sourcedId": "school"}});
    json!({"user": {
        "sourcedId": id, "status": "active", "enabledUser": "true", "username": id,
        "givenName": "New", "familyName": "User", "identifier": id,
        "email": format!("{id}@example.org"), "roles": [role], "grades": ["05"],
    }})
}

/// A school, a course with one lesson, and its students.
fn prepare(server: &Server) -> Result<()> {
    let client = Client::new(server);
    let roster =
        |path: &str, body: Value| client.send("POST", &format!("{ROSTERING}{path}"), &body);
    roster("/orgs", json!({"org": {"sourcedId": "school", "name": "School", "type": "school"}}))?;
    let school = json!({"sourcedId": "school"});
    roster(
        "/courses",
        json!({"course": {"sourcedId": "course", "title": "Course", "courseCode": "C", "org": school}}),
    )?;
    roster(
        "/courses/components",
        json!({"courseComponent": {"sourcedId": "unit", "title": "Unit", "sortOrder": 1,
            "course": {"sourcedId": "course"}}}),
    )?;
    let mut members = Vec::new();
    for (number, difficulty) in (0..QUESTIONS).zip(["easy", "medium", "hard"].into_iter().cycle()) {
        let id = format!("question-{number}");
        let metadata = json!({ "difficulty": difficulty });
        let body = json!({"format": "xml", "xml": item(&id), "metadata": metadata});
        client.send("POST", "/assessment-items", &body)?;
        members.push(json!({"identifier": id, "href": format!("/assessment-items/{id}")}));
    }
    let section = json!({"identifier": "section", "title": "All", "visible": true, "sequence": 1,
        "qti-assessment-item-ref": members});
    let part = json!({"identifier": "part", "navigationMode": "linear",
        "submissionMode": "individual", "qti-assessment-section": [section]});
    let test = json!({"identifier": "test", "title": "Test", "qti-test-part": [part]});
    client.send("POST", "/assessment-tests", &test)?;
    client.send(
        "POST",
        "/ims/oneroster/resources/v1p2/resources",
        &json!({"resource": {"sourcedId": "resource", "title": "Questions", "vendorResourceId": "test",
            "metadata": {"type": "qti", "subType": "qti-test", "lessonType": "powerpath-100", "xp": 10}}}),
    )?;
    roster(
        "/courses/component-resources",
        json!({"componentResource": {"sourcedId": "lesson", "title": "Lesson", "sortOrder": 1,
            "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": "resource"}}}),
    )?;
    for student in 0..STUDENTS {
        let id = format!("student-{student}");
        roster("/users", user(&id))?;
        client.send("POST", &format!("/bridge/enrollments/enroll/{id}/course"), &json!({}))?;
    }
    Ok(())
}
