//! Versions of policies.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx};

use crate::{LessonType, Policy};

/// A version of the policy for a type of lessons.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyVersion {
    /// Its number: 0 for the built-in policy, from 1 for policies that were set.
    pub number: i64,
    /// When it was set; `None` for version 0.
    pub created_at: Option<String>,
    /// The policy.
    pub policy: Policy,
}

impl PolicyVersion {
    pub(crate) fn shipped(lesson_type: LessonType) -> Self {
        Self { number: 0, created_at: None, policy: Policy::shipped(lesson_type) }
    }
}

const COLUMNS: &str = "lesson_type, version, created_at, body";

fn read(row: &Row<'_>) -> Result<PolicyVersion> {
    let (_, number, created_at, body): (&str, _, _, _) = row.read()?;
    let policy = Policy::read(&body).map_err(Problem::internal)?;
    Ok(PolicyVersion { number, created_at, policy })
}

/// The newest version that was set.
pub(crate) fn newest(tx: &mut Tx<'_>, lesson_type: LessonType) -> Result<Option<PolicyVersion>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM lesson_policy WHERE lesson_type = $1 ORDER BY version DESC LIMIT 1"
    );
    tx.query_one(&sql, &[lesson_type.name().into()], read)
}

/// A version that was set.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    lesson_type: LessonType,
    version: i64,
) -> Result<Option<PolicyVersion>> {
    let sql =
        format!("SELECT {COLUMNS} FROM lesson_policy WHERE lesson_type = $1 AND version = $2");
    tx.query_one(&sql, &[lesson_type.name().into(), version.into()], read)
}

/// All versions that were set, newest first.
pub(crate) fn all(tx: &mut Tx<'_>, lesson_type: LessonType) -> Result<Vec<PolicyVersion>> {
    let sql =
        format!("SELECT {COLUMNS} FROM lesson_policy WHERE lesson_type = $1 ORDER BY version DESC");
    tx.all(&sql, &[lesson_type.name().into()], read)
}

/// Appends a version. Errors: `Conflict` if the number is taken.
pub(crate) fn append(tx: &mut Tx<'_>, now: Timestamp, number: i64, policy: &Policy) -> Result<()> {
    let body = serde_json::to_string(policy).map_err(Problem::internal)?;
    let (kind, at) = (policy.lesson_type.name(), now.to_string());
    let sql = format!("INSERT INTO lesson_policy ({COLUMNS}) VALUES ($1, $2, $3, $4)");
    let values = [kind.into(), number.into(), at.as_str().into(), body.as_str().into()];
    tx.send(&sql, &values)
}
