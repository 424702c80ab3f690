//! `lyceum-bench adaptive`: next question and answer over HTTP, beside durable creates.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::goals::Finding;
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::process::pin;
use crate::report::Report;
use crate::server::{LOAD_CORE, SERVER_CORE, Server};

/// Students who work at once, each a client of its own.
const STUDENTS: u64 = 64;
/// Answers of 100 that are right: an attempt is over after 17 on average, and the next one begins.
const RIGHT_PERCENT: u64 = 80;
/// Questions of the lesson.
const QUESTIONS: usize = 60;
const DIFFICULTIES: [&str; 3] = ["easy", "medium", "hard"];
/// A choice item of 1.6 kB.
const ITEM: &str = include_str!("item.xml");
/// The sourcedIds of the course and of the lesson.
const COURSE: &str = "bench-course";
const LESSON: &str = "bench-lesson";

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
}

/// Measures Q2, the median time of a next question and its answer beside that of a durable create, and reports. Errors:
/// any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let data = format!("{STUDENTS} students who answer at the same time");
    let mut report = Report::start("adaptive", &options.run, data)?;
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let data = scratch.path().join("ours");
    let lyceum = LyceumProgram { program: options.run.lyceum.clone(), data, database: None };
    let server = lyceum.serve(SERVER_CORE)?;
    prepare(&Client::new(&server)?)?;
    pin(LOAD_CORE)?;
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let (creates, create_us) = of_all(options, &server, create)?;
        let (answers, answer_us) = of_all(options, &server, answer)?;
        let (count, (create, _)) = (answers.len(), percentiles(creates));
        let (p50, p99) = percentiles(answers);
        ratios.push(p50 / create);
        detail = format!(
            "both p50 {p50:.2} ms, p99 {p99:.2} ms, {answer_us:.0} µs of server CPU, of {count}; \
             a create p50 {create:.2} ms, {create_us:.0} µs"
        );
    }
    report.add([Finding::new("Q2", Spread::of(ratios), detail)]);
    report.finish(&options.run)
}

/// The middle and the 99th of 100 of times, in milliseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    (at(50), at(99))
}

/// A client with a connection of its own, which it keeps open.
struct Client {
    agent: ureq::Agent,
    base: String,
    authorization: String,
}

impl Client {
    fn new(server: &Server) -> Result<Self> {
        let authorization = format!("Bearer {}", server.token()?);
        let base = format!("http://{}", server.address);
        Ok(Self { agent: ureq::Agent::new_with_defaults(), base, authorization })
    }

    fn get(&self, path: &str) -> Result<Value> {
        let request = self.agent.get(format!("{}{path}", self.base));
        let mut answer = request.header("Authorization", &self.authorization).call()?;
        Ok(serde_json::from_slice(&answer.body_mut().read_to_vec()?)?)
    }

    /// The answer, `null` if it is empty. Errors: it was not answered 2xx.
    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let url = format!("{}{path}", self.base);
        let request = if method == "PUT" { self.agent.put(url) } else { self.agent.post(url) };
        let request = request.header("Authorization", &self.authorization);
        let answer = request.header("Content-Type", "application/json").send(body.to_string());
        let text = answer.with_context(|| format!("{method} {path}"))?.body_mut().read_to_vec()?;
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_slice(&text)? })
    }
}

/// The times of work that every client repeats, and the server CPU of one repetition in microseconds. The work
/// receives the number of its student and returns its time.
fn of_all(
    options: &Options,
    server: &Server,
    work: impl Fn(&Client, u64) -> Result<Duration> + Sync,
) -> Result<(Vec<Duration>, f64)> {
    let end = Instant::now() + options.run.time();
    let before = server.process.cpu_us()?;
    let times: Result<Vec<Duration>> = std::thread::scope(|scope| {
        let one = |student| {
            let client = Client::new(server)?;
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
        Ok(all)
    });
    let times = times?;
    ensure!(!times.is_empty(), "nothing was answered in time");
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let each = (server.process.cpu_us()? - before) / times.len() as f64;
    Ok((times, each))
}

fn create(client: &Client, _: u64) -> Result<Duration> {
    let user = user(&format!("new-{:x}", fastrand::u128(..)));
    let start = Instant::now();
    client.send("POST", &format!("{ROSTERING}/users"), &user)?;
    Ok(start.elapsed())
}

fn answer(client: &Client, student: u64) -> Result<Duration> {
    let student = format!("student-{student}");
    let start = Instant::now();
    let next =
        client.get(&format!("/powerpath/getNextQuestion?student={student}&lesson={LESSON}"))?;
    let response = if fastrand::u64(..100) < RIGHT_PERCENT { "C" } else { "A" };
    let body = json!({
        "student": student,
        "lesson": LESSON,
        "question": next["question"]["id"],
        "responses": {"RESPONSE": response},
    });
    let answered = client.send("PUT", "/powerpath/updateStudentQuestionResponse", &body)?;
    let took = start.elapsed();
    let score = answered["powerpathScore"].as_f64().context("an answer has a score")?;
    if score >= 100.0 {
        let body = json!({ "student": student, "lesson": LESSON });
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

/// A school, a course with one lesson that asks question by question, and its students.
fn prepare(client: &Client) -> Result<()> {
    let post = |path: &str, body: Value| client.send("POST", path, &body);
    let school = json!({"org": {"sourcedId": "school", "name": "School", "type": "school"}});
    post(&format!("{ROSTERING}/orgs"), school)?;
    let course = json!({"sourcedId": COURSE, "title": "Fractions", "courseCode": "F",
        "subjects": ["Math"], "org": {"sourcedId": "school"}});
    post(&format!("{ROSTERING}/courses"), json!({ "course": course }))?;
    let unit = json!({"sourcedId": "bench-unit", "title": "Unit", "sortOrder": 1,
        "course": {"sourcedId": COURSE}});
    post(&format!("{ROSTERING}/courses/components"), json!({ "courseComponent": unit }))?;
    let mut members = Vec::new();
    for number in 0..QUESTIONS {
        let id = format!("bench-question-{number}");
        let metadata = json!({ "difficulty": DIFFICULTIES[number % DIFFICULTIES.len()] });
        let xml = ITEM.replace("{id}", &id);
        post("/assessment-items", json!({"format": "xml", "xml": xml, "metadata": metadata}))?;
        members.push(json!({"identifier": id, "href": format!("/assessment-items/{id}")}));
    }
    let section = json!({"identifier": "section", "title": "All", "visible": true, "sequence": 1,
        "qti-assessment-item-ref": members});
    let part = json!({"identifier": "part", "navigationMode": "linear",
        "submissionMode": "individual", "qti-assessment-section": [section]});
    let test = json!({"identifier": "bench-test", "title": "Test", "qti-test-part": [part]});
    post("/assessment-tests", test)?;
    let metadata =
        json!({"type": "qti", "subType": "qti-test", "lessonType": "powerpath-100", "xp": 10});
    let resource = json!({"sourcedId": "bench-resource", "title": "Questions",
        "vendorResourceId": "bench-test", "metadata": metadata});
    post("/ims/oneroster/resources/v1p2/resources", json!({ "resource": resource }))?;
    let lesson = json!({"sourcedId": LESSON, "title": "Lesson", "sortOrder": 1,
        "courseComponent": {"sourcedId": "bench-unit"},
        "resource": {"sourcedId": "bench-resource"}});
    let path = format!("{ROSTERING}/courses/component-resources");
    post(&path, json!({ "componentResource": lesson }))?;
    for student in 0..STUDENTS {
        let id = format!("student-{student}");
        post(&format!("{ROSTERING}/users"), user(&id))?;
        post(&format!("/bridge/enrollments/enroll/{id}/{COURSE}"), json!({}))?;
    }
    Ok(())
}
