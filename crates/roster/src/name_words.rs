//! The job that stores the words of names after an upgrade, for records that were written before (V107).

use lyceum_core::Result;
use lyceum_store::Tx;
use lyceum_store::jobs::{self, ClaimedJob};
use lyceum_store::limits::JOB_MAX_ATTEMPTS;

use crate::kind::RecordKind;
use crate::kinds::{CLASS, COURSE, USER};
use crate::limits::{NAME_WORDS_BATCH_RECORDS, NAME_WORDS_LEASE_S};
use crate::repository;

/// The kind of the job.
pub const KIND: &str = "name-words";

/// The kinds of records that are found by the words of their names.
const KINDS: [&RecordKind; 3] = [&USER, &CLASS, &COURSE];

/// How far the job is: the number of the kind, and the last record of it.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    kind: usize,
    after: i64,
}

impl Progress {
    /// Before the first record.
    pub const START: Self = Self { kind: 0, after: i64::MIN };
}

/// Whether all names have their words, so that no server needs to work on the job.
pub fn is_done(tx: &mut Tx<'_>) -> Result<bool> {
    jobs::is_done(tx, KIND)
}

/// Claims the job, if it is due. No other server works on it until the lease ends.
pub fn claim(tx: &mut Tx<'_>) -> Result<Option<ClaimedJob>> {
    jobs::claim(tx, KIND, NAME_WORDS_LEASE_S)
}

/// Reports that the attempt failed. After the last attempt of the job, adds another job, because without the words no
/// search finds the records.
pub fn fail(tx: &mut Tx<'_>, job: &ClaimedJob, error: &str) -> Result<()> {
    if jobs::fail(tx, job, error)? && job.attempt >= JOB_MAX_ATTEMPTS {
        jobs::add(tx, KIND, "")?;
    }
    Ok(())
}

/// Stores the words of the next records and renews the lease. Returns how far the job is then; `None` at its end, or if
/// another server has claimed it.
pub fn continue_job(
    tx: &mut Tx<'_>,
    job: &ClaimedJob,
    Progress { kind, after }: Progress,
) -> Result<Option<Progress>> {
    if !jobs::renew(tx, job, NAME_WORDS_LEASE_S)? {
        return Ok(None);
    }
    let Some(of) = KINDS.get(kind) else {
        jobs::finish(tx, job)?;
        return Ok(None);
    };
    let last = repository::add_name_words(tx, of, after, NAME_WORDS_BATCH_RECORDS)?;
    Ok(Some(match last {
        Some(after) => Progress { kind, after },
        None => Progress { kind: kind + 1, ..Progress::START },
    }))
}
