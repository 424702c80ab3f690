//! System: jobs, the audit log.

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Tx, jobs};

use crate::audit::{self, AuditEntry, AuditFilter, AuditPage};

/// The data of the first page.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The number of waiting jobs.
    pub waiting_jobs: i64,
    /// The number of jobs that failed for good.
    pub failed_jobs: i64,
    /// The number of entries in the audit log.
    pub change_count: i64,
}

/// Reads the first page.
pub fn overview(tx: &mut Tx<'_>) -> Result<Overview> {
    let counts = jobs::counts(tx)?;
    let count_in =
        |state: &str| counts.iter().find(|(name, _)| name == state).map_or(0, |(_, count)| *count);
    Ok(Overview {
        waiting_jobs: count_in("waiting"),
        failed_jobs: count_in("failed"),
        change_count: audit::list(tx, &AuditFilter::default(), 1, 0)?.total,
    })
}

/// Reads the page of a job, with its tries. Errors: `NotFound`.
pub fn job(tx: &mut Tx<'_>, id: &str) -> Result<(jobs::JobStatus, Vec<jobs::JobTry>)> {
    let found = id.parse().ok().map(|number| jobs::find(tx, number)).transpose()?.flatten();
    found.ok_or_else(|| Problem::new(ProblemKind::NotFound, message!("there is no job '{id}'")))
}

/// A page of the audit log.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditChanges {
    /// The entries on it, and how many there are on all pages.
    pub page: AuditPage,
    /// Everybody who changed something.
    pub who: Vec<String>,
    /// Everything that was done.
    pub what: Vec<String>,
}

/// Reads a page of the audit log.
pub fn changes(
    tx: &mut Tx<'_>,
    filter: &AuditFilter,
    limit: i64,
    offset: i64,
) -> Result<AuditChanges> {
    let (who, what) = audit::names(tx)?;
    Ok(AuditChanges { page: audit::list(tx, filter, limit, offset)?, who, what })
}

/// Reads the page of an entry of the audit log. Errors: `NotFound`.
pub fn change(tx: &mut Tx<'_>, id: &str) -> Result<AuditEntry> {
    let found = id.parse().ok().map(|number| audit::find(tx, number)).transpose()?.flatten();
    found.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, message!("the audit log has no entry '{id}'"))
    })
}
