//! The time from an answer to the next question while a whole school practises, in sessions of students.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::session::{self, SessionKind};
use lyceum_access::student::{self, NewStudent};
use lyceum_core::config::Environment;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::classroom::{connect, prepare};
use crate::served::{Served, Store, rest_on_both_stores};

rest_on_both_stores!(the_next_question_comes_soon_after_an_answer);

/// The promise for 200 students on two cores with a release build; a build for tests is many times as slow.
const NEXT_MAX: Duration = Duration::from_millis(150);
const NEXT_MAX_OF_TEST_BUILDS: Duration = Duration::from_secs(2);
/// How often all students answer.
const ROUNDS: u32 = 8;
/// The time between two answers of a student, shorter than anybody reads a question. The students answer in turn, so
/// that their answers are spread over it.
const PACE: Duration = Duration::from_secs(1);

/// Accounts and sessions of students, without the cost of passwords.
fn sign_in(location: &StoreLocation, students: &[String]) -> Vec<String> {
    let db = Db::open(location, &lyceum_api::migrations()).unwrap();
    let now = SystemClock.now();
    let begin = |student: &String| {
        let new = NewStudent {
            roster_user: student.clone(),
            name: student.clone(),
            email: None,
            password: None,
        };
        db.write_blocking(|tx| {
            let person = student::create(tx, now, &new)?;
            session::start(tx, now, Environment::Production, &person, SessionKind::Page, None)
        })
    };
    students.iter().map(|student| begin(student).unwrap()).collect()
}

/// A student's browser in the practice.
struct Practice {
    api: TestClient,
    cookie: String,
}

impl Practice {
    fn call(&self, action: &str, body: &Value) -> Value {
        let call = self.api.post(&format!("/api/learn/lessons/steps/{action}"));
        call.header("cookie", &self.cookie).json(body).expect(200).json()
    }

    /// Answers the open question; returns the lesson with the next one, and the time until it was there.
    fn answer(&self, lesson: &Value, number: u32) -> (Value, Duration) {
        let question = &lesson["questions"][0];
        // Wrong, so that nobody is done during the measurement.
        let answer = json!({
            "id": number.to_string(), "attempt": lesson["attempt"]["key"], "question": question["id"],
            "number": question["number"], "responses": { "RESPONSE": "B" },
        });
        let since = Instant::now();
        self.call("answers", &answer);
        let next = self.call("next", &json!({}));
        assert_ne!(next["questions"][0]["number"], question["number"]);
        (next, since.elapsed())
    }
}

fn the_next_question_comes_soon_after_an_answer(store: Store) {
    let count = if full_size() { 200 } else { 20 };
    let students: Vec<String> = (0..count).map(|number| format!("student-{number}")).collect();
    let location = match &store {
        Store::Sqlite => None,
        Store::Postgres(address) => Some(StoreLocation::Postgres(address.clone())),
    };
    let served = Served::start(store);
    prepare(&connect(&served), &students);
    let location = location.unwrap_or_else(|| StoreLocation::Sqlite(served.file("data/lyceum.db")));
    let sessions = sign_in(&location, &students);
    let ready = Barrier::new(count);
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let work = |(seat, secret): (u32, String)| {
            let cookie = format!("lyceum={secret}");
            let practice = Practice { api: TestClient::new(&served.base), cookie };
            practice.call("attempts", &json!({ "after": 0 }));
            let mut lesson = practice.call("next", &json!({}));
            let mut times = Vec::new();
            ready.wait();
            let first = Instant::now() + PACE * seat / u32::try_from(count).unwrap();
            for round in 0..ROUNDS {
                thread::sleep((first + PACE * round).saturating_duration_since(Instant::now()));
                let (next, took) = practice.answer(&lesson, round);
                lesson = next;
                times.push(took);
            }
            times
        };
        let all: Vec<_> = (0..).zip(sessions).map(|seat| scope.spawn(move || work(seat))).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    times.sort_unstable();
    let part = |percent: usize| times[times.len() * percent / 100];
    println!(
        "{count} students, each with an answer in {PACE:?}: next question p50 {:?}, p95 {:?}, worst {:?}",
        part(50),
        part(95),
        times[times.len() - 1]
    );
    let most = if full_size() { NEXT_MAX } else { NEXT_MAX_OF_TEST_BUILDS };
    assert!(part(95) <= most, "p95 {:?} is more than {most:?}", part(95));
}
