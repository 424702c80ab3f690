//! Screening: which tests a student takes to find out where to begin, and the known results. The tests are MAP tests,
//! whose results are written to the gradebook from outside.

use lyceum_bridge::reports::{self, MapTest};
use lyceum_core::body::OneLineText;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::reach::check_changes;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::repository::screening as repository;

/// The subjects of screenings.
pub const SUBJECTS: [&str; 4] = ["Math", "Reading", "Language", "Science"];

/// A screening under way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreeningSession {
    /// Its id.
    pub id: String,
    /// When its first test was assigned.
    pub started_at: String,
    /// Its tests, by subject.
    pub tests: Vec<ScreeningTest>,
}

/// A test of a screening.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreeningTest {
    /// Its subject.
    pub subject: String,
    /// `completed` if the gradebook has a result from the day of the assignment or later.
    #[schemars(extend("enum" = ["assigned", "completed"]))]
    pub status: &'static str,
    /// When it was assigned.
    pub assigned_at: String,
}

/// A student's latest screening results; null if there is none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct ScreeningResults {
    /// The result in mathematics.
    pub math: Option<ScreeningResult>,
    /// The result in reading.
    pub reading: Option<ScreeningResult>,
    /// The result in language.
    pub language: Option<ScreeningResult>,
    /// The result in science.
    pub science: Option<ScreeningResult>,
}

/// A screening result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreeningResult {
    /// The grade that the result names.
    pub grade: Option<String>,
    /// The score on the RIT scale.
    pub rit_score: Option<i64>,
    /// The percentage of students with this score or a lower one.
    pub percentile: Option<i64>,
    /// The name of the test.
    pub test_name: String,
    /// The day of the test.
    pub completed_at: String,
}

/// The user of a screening.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenedUser {
    /// The user's sourcedId.
    #[schemars(with = "OneLineText")]
    pub user_id: String,
}

/// A test to assign.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreeningTestRequest {
    /// The user's sourcedId.
    #[schemars(with = "OneLineText")]
    user_id: String,
    /// The subject of the test.
    #[schemars(extend("enum" = SUBJECTS))]
    subject: String,
}

/// The latest result of each subject. Errors: `NotFound`.
pub fn results(tx: &mut Tx<'_>, user: &str, reach: &Reach) -> Result<ScreeningResults> {
    let tests = reports::map_tests(tx, user, reach)?;
    let latest = |subject: &str| {
        let test = tests.iter().find(|test| is_about(test, subject))?;
        Some(ScreeningResult {
            grade: test.grade_level.clone(),
            rit_score: test.rit_score,
            percentile: test.percentile,
            test_name: format!("MAP {subject}"),
            completed_at: test.test_date.clone(),
        })
    };
    let [math, reading, language, science] = SUBJECTS.map(latest);
    Ok(ScreeningResults { math, reading, language, science })
}

/// The student's screening; `None` if no test was assigned. Errors: `NotFound`.
pub fn session(tx: &mut Tx<'_>, user: &str, reach: &Reach) -> Result<Option<ScreeningSession>> {
    let completed_tests = reports::map_tests(tx, user, reach)?;
    let Some((id, started_at)) = repository::session(tx, user)? else { return Ok(None) };
    let tests = repository::tests(tx, user)?.into_iter().map(|(subject, assigned_at)| {
        let day = assigned_at.get(..10).unwrap_or_default();
        let done = completed_tests
            .iter()
            .any(|test| is_about(test, &subject) && test.test_date.as_str() >= day);
        ScreeningTest { subject, status: if done { "completed" } else { "assigned" }, assigned_at }
    });
    Ok(Some(ScreeningSession { id, started_at, tests: tests.collect() }))
}

/// Forgets the student's screening, so that the next test begins another; results stay. True, if
/// there was one. Errors: `NotFound`.
pub fn reset(tx: &mut Tx<'_>, user: &str, reach: &Reach) -> Result<bool> {
    fields::in_use_within(tx, &USER, user, reach)?;
    check_changes(&USER, user, reach)?;
    repository::delete(tx, user)
}

/// Assigns a test, in the screening under way or in a new one; the same test again stays as it is.
/// Errors: `NotFound`.
pub fn assign(
    tx: &mut Tx<'_>,
    now: Timestamp,
    ScreeningTestRequest { user_id: user, subject }: &ScreeningTestRequest,
    reach: &Reach,
) -> Result<ScreeningSession> {
    fields::in_use_within(tx, &USER, user, reach)?;
    check_changes(&USER, user, reach)?;
    let now = now.to_string();
    repository::begin(tx, user, &Uuid::now_v7().to_string(), &now)?;
    repository::assign(tx, user, subject, &now)?;
    let session = session(tx, user, reach)?;
    session.ok_or_else(|| lyceum_core::Problem::internal("a screening vanished as it began"))
}

fn is_about(test: &MapTest, subject: &str) -> bool {
    test.subject.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(subject))
}
