//! A demo network on a school day at noon: lessons, events, goals and school hours through the API.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use fastrand::Rng;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Client, member};
use crate::data::random_uuid;
use crate::lesson::{self, COURSE, LESSON};
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::server::Server;

const CALIPER: &str = "http://purl.imsglobal.org/ctx/caliper/v1p2";
const PASSWORD: &str = "correct horse battery";
/// A teacher of every demo network.
const TEACHER: &str = "teacher-d001-s001-001";
/// A school of every demo network.
const SCHOOL: &str = "org-d001-s001";
/// The organization above all of a demo network.
const STATE: &str = "org-state";
/// Students of a hundred who work today.
const WORKING_PERCENT: u64 = 60;
/// Events of each student who works: half are activities, half are time.
const EVENTS_OF_STUDENT: u64 = 12;
/// Students who are in the middle of a lesson.
const IN_LESSON: usize = 300;
/// Their answers to it until now.
const ANSWERS: usize = 3;
/// Questions of the lesson.
const QUESTIONS: usize = 10;
/// Events of an envelope.
const ENVELOPE_EVENTS: usize = 200;
/// Events of an envelope while the pages are loaded, and the time between two envelopes.
const LIVE_EVENTS: usize = 20;
const LIVE_EVERY: Duration = Duration::from_millis(500);
/// The most records of a page of the API.
const PAGE_RECORDS: u64 = 3000;
/// Facts become sums after this time.
const SUMS_BEGIN: Duration = Duration::from_secs(25);
/// The server does less than this share of a core when it is idle.
const IDLE_SHARE: f64 = 0.05;
/// Waiting longer until it is idle is a failure.
const PATIENCE: Duration = Duration::from_mins(10);

/// A store with a demo network.
pub(super) struct SchoolNetwork<'l> {
    lyceum: &'l LyceumProgram,
}

/// A person who looks at pages.
pub(super) struct Viewer(&'static str);

impl Viewer {
    /// A client with a session of the person.
    pub(super) fn sign_in(&self, server: &Server) -> Result<Client> {
        Client::signed_in(server, self.0, PASSWORD)
    }
}

/// A student as the API lists them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Student {
    sourced_id: String,
    email: String,
}

impl<'l> SchoolNetwork<'l> {
    /// Imports a network, whose file is made once.
    pub(super) fn import(lyceum: &'l LyceumProgram, folder: &Path, students: u64) -> Result<Self> {
        let file = folder.join(format!("demo-{students}.zip"));
        if !file.exists() {
            lyceum.generate_network(students, &file)?;
        }
        println!("importing {students} students");
        lyceum.import(&file)?;
        Ok(Self { lyceum })
    }

    /// Creates the accounts of an administrator and a teacher.
    pub(super) fn create_viewers(&self) -> Result<[Viewer; 2]> {
        let [administrator, teacher] = ["admin@example.org", "teacher@example.org"];
        self.lyceum.create_account(administrator, "administrator", PASSWORD, None)?;
        self.lyceum.create_account(teacher, "guide", PASSWORD, Some(TEACHER))?;
        Ok([Viewer(administrator), Viewer(teacher)])
    }

    /// Sets goals and school hours, and sends the work of this morning. Returns all students.
    pub(super) fn begin_school_day(server: &Server) -> Result<Vec<Student>> {
        let mut client = Client::new(server)?;
        set_goals(&mut client)?;
        set_school_hours(&mut client)?;
        let students = list_students(&mut client)?;
        let mut random = Rng::with_seed(1);
        let events: Vec<Value> = (0..)
            .zip(&students)
            .filter(|(at, _)| *at % 100 < WORKING_PERCENT)
            .flat_map(|(_, student)| (0..EVENTS_OF_STUDENT).map(move |number| (student, number)))
            .map(|(student, number)| event(&mut random, student, number, 4 * 3600))
            .collect();
        for events in events.chunks(ENVELOPE_EVENTS) {
            send(&mut client, events)?;
        }
        answer_lesson(&mut client, &students)?;
        Ok(students)
    }
}

/// A daily goal for each course.
fn set_goals(client: &mut Client) -> Result<()> {
    let path = format!("{ROSTERING}/courses?limit={PAGE_RECORDS}&fields=sourcedId");
    let courses: Value = serde_json::from_str(&client.get(&path)?)?;
    for (number, course) in courses["courses"].as_array().into_iter().flatten().enumerate() {
        let id = course["sourcedId"].as_str().unwrap_or_default();
        let goals = json!({ "goals": { "dailyXp": 3 + number % 5 } });
        let body = json!({ "course": { "metadata": goals } });
        client.send("PATCH", &format!("{ROSTERING}/courses/{id}"), &body)?;
    }
    Ok(())
}

/// School from 8 to 15 on every day, in a time zone in which it is noon.
fn set_school_hours(client: &mut Client) -> Result<()> {
    let hour = SystemClock.now().seconds().rem_euclid(86_400) / 3600;
    let zone = match 12 - hour {
        0 => "UTC".to_owned(),
        // The sign of these names is that of POSIX.
        ahead if ahead > 0 => format!("Etc/GMT-{ahead}"),
        ahead => format!("Etc/GMT+{}", -ahead),
    };
    let hours = json!({
        "weekdays": [1, 2, 3, 4, 5, 6, 7], "begins": "08:00", "ends": "15:00", "timeZone": zone,
    });
    client.send("PUT", &format!("/bridge/school-hours/{STATE}"), &hours)?;
    Ok(())
}

fn list_students(client: &mut Client) -> Result<Vec<Student>> {
    #[derive(Deserialize)]
    struct Page {
        users: Vec<Student>,
    }
    let mut students = Vec::new();
    loop {
        let path = format!(
            "{ROSTERING}/students?limit={PAGE_RECORDS}&offset={}&fields=sourcedId,email",
            students.len()
        );
        let page: Page = serde_json::from_str(&client.get(&path)?)?;
        if page.users.is_empty() {
            return Ok(students);
        }
        students.extend(page.users);
    }
}

/// An event of a student within the last seconds: an activity or the time that was spent on it. Every fourth app knows
/// only e-mail addresses.
fn event(random: &mut Rng, student: &Student, number: u64, last_seconds: i64) -> Value {
    let at: Timestamp = SystemClock.now().plus_seconds(-random.i64(0..last_seconds));
    let subject = ["Math", "Reading", "Science", "Language"][random.usize(..4)];
    let id = format!("urn:uuid:{}", random_uuid(random));
    let user = match student.sourced_id.ends_with(['0', '4', '8']) {
        true => format!("urn:player:{}", student.sourced_id),
        false => format!("https://lyceum.example{ROSTERING}/users/{}", student.sourced_id),
    };
    let metric = |name: &str, value: u64| json!({ "type": name, "value": value });
    let total = random.u64(5..20);
    let (kind, action, collection, items) = match number % 2 {
        0 => (
            "ActivityEvent",
            "Completed",
            "ServiceActivityMetricsCollection",
            vec![
                metric("xpEarned", random.u64(1..12)),
                metric("totalQuestions", total),
                metric("correctQuestions", random.u64(0..=total)),
            ],
        ),
        _ => (
            "TimeSpentEvent",
            "SpentTime",
            "ServiceTimeSpentMetricsCollection",
            vec![metric("active", random.u64(60..900)), metric("waste", random.u64(0..120))],
        ),
    };
    json!({
        "@context": CALIPER, "id": id, "type": kind, "profile": "ServiceProfile",
        "action": action, "eventTime": at.to_string(),
        "actor": { "id": user, "type": "ServiceUser", "email": student.email },
        "object": {
            "id": "https://app.example/activities/1", "type": "ServiceActivityContext",
            "subject": subject, "app": { "name": "Abacus" }, "activity": { "name": "Practice" },
        },
        "generated": { "id": "https://app.example/metrics/1", "type": collection, "items": items },
    })
}

fn send(client: &mut Client, events: &[Value]) -> Result<()> {
    let envelope = json!({
        "sensor": "https://app.example", "sendTime": SystemClock.now().to_string(),
        "dataVersion": CALIPER, "data": events,
    });
    client.send("POST", "/ims/caliper/v1p2/events", &envelope)?;
    Ok(())
}

/// Some students answer the first questions of a lesson.
fn answer_lesson(client: &mut Client, students: &[Student]) -> Result<()> {
    lesson::create(client, SCHOOL, QUESTIONS)?;
    for student in students.iter().step_by((students.len() / IN_LESSON).max(1)) {
        let id = &student.sourced_id;
        let path = format!("/bridge/enrollments/enroll/{id}/{COURSE}/{SCHOOL}");
        client.send("POST", &path, &json!({}))?;
        for number in 0..ANSWERS {
            let next =
                client.get(&format!("/powerpath/getNextQuestion?student={id}&lesson={LESSON}"))?;
            let body = json!({
                "student": id, "lesson": LESSON, "question": member(&next, "id")?,
                "responses": { "RESPONSE": (["C", "A"][number % 2]) },
            });
            client.send("PUT", "/powerpath/updateStudentQuestionResponse", &body)?;
        }
    }
    Ok(())
}

/// Waits until facts are summed and the server has nothing to do.
pub(super) fn wait_until_idle(server: &Server) -> Result<()> {
    let look = Duration::from_secs(2);
    let begun = Instant::now();
    std::thread::sleep(SUMS_BEGIN);
    while begun.elapsed() < PATIENCE {
        let before = server.process.cpu_us()?;
        std::thread::sleep(look);
        let share = (server.process.cpu_us()? - before) / 1e6 / look.as_secs_f64();
        if share < IDLE_SHARE {
            return Ok(());
        }
    }
    bail!("the server was never idle")
}

/// Sends the events of students who go on working, and changes a student's record now and then, until it is over.
pub(super) fn go_on(server: &Server, students: &[Student], is_over: &AtomicBool) -> Result<()> {
    let mut client = Client::new(server)?;
    let mut random = Rng::with_seed(2);
    let mut round = 0_u64;
    while !is_over.load(Ordering::Relaxed) {
        let one = |random: &mut Rng, number: usize| {
            let student = &students[random.usize(..students.len())];
            event(random, student, number as u64, 60)
        };
        let events: Vec<Value> = (0..LIVE_EVENTS).map(|at| one(&mut random, at)).collect();
        send(&mut client, &events)?;
        let student = &students[random.usize(..students.len())].sourced_id;
        let user = json!({ "user": { "middleName": format!("M{round}") } });
        client.send("PATCH", &format!("{ROSTERING}/users/{student}"), &user)?;
        round += 1;
        std::thread::sleep(LIVE_EVERY);
    }
    Ok(())
}
