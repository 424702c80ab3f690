//! Next question and answer over HTTP, beside durable creates.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Options, percentiles};
use crate::client::{Client, member};
use crate::goals::Finding;
use crate::lesson::{self, COURSE, LESSON};
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::pairs::Spread;
use crate::process::pin;
use crate::server::{LOAD_CORE, SERVER_CORE, Server};

/// Students who work at once, each a client of its own.
pub(super) const STUDENTS: u64 = 64;
/// Questions of the lesson.
const QUESTIONS: usize = 60;
/// Answers of 100 that are right: an attempt is over after 17 on average, and the next one begins.
const RIGHT_PERCENT: u64 = 80;

/// Q2: the median time of a next question and its answer, beside that of a durable create.
pub(super) fn measure(options: &Options) -> Result<Finding> {
    let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
    let data = scratch.path().join("ours");
    let lyceum = LyceumProgram { program: options.run.lyceum.clone(), data, database: None };
    let server = lyceum.serve(SERVER_CORE)?;
    prepare(&server)?;
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
    Ok(Finding::new("Q2", Spread::of(ratios), detail))
}

/// The times of work that every client repeats, and the server CPU of one repetition in microseconds. The work
/// receives the number of its student and returns its time.
fn of_all(
    options: &Options,
    server: &Server,
    work: impl Fn(&mut Client, u64) -> Result<Duration> + Sync,
) -> Result<(Vec<Duration>, f64)> {
    let end = Instant::now() + options.run.time();
    let before = server.process.cpu_us()?;
    let times: Result<Vec<Duration>> = std::thread::scope(|scope| {
        let one = |student| {
            let mut client = Client::new(server)?;
            let mut times = Vec::new();
            while Instant::now() < end {
                times.push(work(&mut client, student)?);
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

fn create(client: &mut Client, _: u64) -> Result<Duration> {
    let user = user(&format!("new-{:x}", fastrand::u128(..)));
    let start = Instant::now();
    client.send("POST", &format!("{ROSTERING}/users"), &user)?;
    Ok(start.elapsed())
}

fn answer(client: &mut Client, student: u64) -> Result<Duration> {
    let student = format!("student-{student}");
    let start = Instant::now();
    let next =
        client.get(&format!("/powerpath/getNextQuestion?student={student}&lesson={LESSON}"))?;
    let response = if fastrand::u64(..100) < RIGHT_PERCENT { "C" } else { "A" };
    let body = json!({
        "student": student,
        "lesson": LESSON,
        "question": member(&next, "id")?,
        "responses": {"RESPONSE": response},
    });
    let answered = client.send("PUT", "/powerpath/updateStudentQuestionResponse", &body)?;
    let took = start.elapsed();
    if member(&answered, "powerpathScore")?.parse::<f64>()? >= 100.0 {
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

/// A school, a course with one lesson, and its students.
fn prepare(server: &Server) -> Result<()> {
    let mut client = Client::new(server)?;
    let school = json!({"org": {"sourcedId": "school", "name": "School", "type": "school"}});
    client.send("POST", &format!("{ROSTERING}/orgs"), &school)?;
    lesson::create(&mut client, "school", QUESTIONS)?;
    for student in 0..STUDENTS {
        let id = format!("student-{student}");
        client.send("POST", &format!("{ROSTERING}/users"), &user(&id))?;
        client.send("POST", &format!("/bridge/enrollments/enroll/{id}/{COURSE}"), &json!({}))?;
    }
    Ok(())
}
