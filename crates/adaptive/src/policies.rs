//! The policies in force. A version never changes, and an attempt keeps the version with which it began.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::repository::policies as repository;
use crate::{LessonType, Policy};

pub use crate::repository::policies::PolicyVersion;

/// The version in force, which is the newest.
pub fn current(tx: &mut Tx<'_>, lesson_type: LessonType) -> Result<PolicyVersion> {
    let newest = repository::newest(tx, lesson_type)?;
    Ok(newest.unwrap_or_else(|| PolicyVersion::shipped(lesson_type)))
}

/// The version with that number. Errors: `NotFound`.
pub fn version(tx: &mut Tx<'_>, lesson_type: LessonType, number: i64) -> Result<PolicyVersion> {
    if number == 0 {
        return Ok(PolicyVersion::shipped(lesson_type));
    }
    repository::find(tx, lesson_type, number)?.ok_or_else(|| {
        let message = message!("there is no version {number} of the policy of '{lesson_type}'");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// All versions, newest first.
pub fn list(tx: &mut Tx<'_>, lesson_type: LessonType) -> Result<Vec<PolicyVersion>> {
    let mut versions = repository::all(tx, lesson_type)?;
    versions.push(PolicyVersion::shipped(lesson_type));
    Ok(versions)
}

/// Puts a policy into force for attempts that begin from now on; returns its version. A policy that is already in
/// force keeps its number.
pub fn set(tx: &mut Tx<'_>, now: Timestamp, policy: &Policy) -> Result<PolicyVersion> {
    let current = current(tx, policy.lesson_type)?;
    if current.policy == *policy {
        return Ok(current);
    }
    let number = current.number + 1;
    repository::append(tx, now, number, policy)?;
    Ok(PolicyVersion { number, created_at: Some(now.to_string()), policy: policy.clone() })
}
