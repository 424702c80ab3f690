//! Screening: which tests a student takes to find out where to begin, and the known results. The tests are MAP tests,
//! whose results are written to the gradebook from outside.

use lyceum_bridge::reports::{self, MapTest};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::input::Input;
use crate::repository::screening as repository;

/// The subjects of screenings.
pub const SUBJECTS: [&str; 4] = ["Math", "Reading", "Language", "Science"];

/// A running screening.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: String,
    /// When its first test was assigned.
    pub started_at: String,
    /// Its tests, by subject.
    pub tests: Vec<Test>,
}

/// A test of a screening.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Test {
    /// Its subject.
    pub subject: String,
    /// `completed` if the gradebook has a result from the day of the assignment or later, otherwise `assigned`.
    pub status: &'static str,
    /// When it was assigned.
    pub assigned_at: String,
}

/// The latest result of each subject, or null: `{grade, ritScore, percentile, completedAt}`. Errors:
/// `NotFound`.
pub fn results(tx: &mut Tx<'_>, user: &str) -> Result<Map<String, Value>> {
    let tests = reports::map_tests(tx, user)?;
    let latest = |subject: &&str| {
        let test = tests.iter().find(|test| is_about(test, subject));
        let shown = test.map(|test| {
            json!({
                "grade": test.grade_level, "ritScore": test.rit_score,
                "percentile": test.percentile, "testName": format!("MAP {subject}"),
                "completedAt": test.test_date,
            })
        });
        ((*subject).to_owned(), shown.unwrap_or_default())
    };
    Ok(SUBJECTS.iter().map(latest).collect())
}

/// The student's screening; `None` if no test was assigned. Errors: `NotFound`.
pub fn session(tx: &mut Tx<'_>, user: &str) -> Result<Option<Session>> {
    let taken = reports::map_tests(tx, user)?;
    let Some((id, started_at)) = repository::session(tx, user)? else { return Ok(None) };
    let tests = repository::tests(tx, user)?.into_iter().map(|(subject, assigned_at)| {
        let day = assigned_at.get(..10).unwrap_or_default();
        let done =
            taken.iter().any(|test| is_about(test, &subject) && test.test_date.as_str() >= day);
        Test { subject, status: if done { "completed" } else { "assigned" }, assigned_at }
    });
    Ok(Some(Session { id, started_at, tests: tests.collect() }))
}

/// Forgets the student's screening, so that the next test begins a new one. Results stay. Returns `true` if there was
/// one. Reads `{userId}`. Errors: `NotFound`, `Invalid`.
pub fn reset(tx: &mut Tx<'_>, body: &Object) -> Result<bool> {
    let mut input = Input::of(body);
    let user = input.text("userId");
    let user = input.done(user)?;
    fields::in_use(tx, &USER, &user)?;
    repository::forget(tx, &user)
}

/// Assigns a test in the running screening, or in a new one. If the test is already assigned, it stays as it is.
/// Reads `{userId, subject}`. Errors: `NotFound`, `Invalid`.
pub fn assign(tx: &mut Tx<'_>, now: Timestamp, body: &Object) -> Result<Session> {
    let mut input = Input::of(body);
    let (user, subject) = (input.text("userId"), input.word("subject", &SUBJECTS));
    let user = input.done(user)?;
    fields::in_use(tx, &USER, &user)?;
    let now = now.to_string();
    repository::begin(tx, &user, &Uuid::now_v7().to_string(), &now)?;
    repository::assign(tx, &user, subject, &now)?;
    let session = session(tx, &user)?;
    session.ok_or_else(|| {
        lyceum_core::Problem::internal("a screening is missing right after it was stored")
    })
}

fn is_about(test: &MapTest, subject: &str) -> bool {
    test.subject.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(subject))
}
