//! Jobs that continue after a request: each is a durable row that one worker claims at a time.
//!
//! A worker claims a job, which hides it until its lease ends, does the work and reports. A worker
//! that stops reports nothing, and the job becomes due again when the lease has ended. The attempt's number
//! prevents a slow worker from reporting after another one has claimed the job.
//!
//! All times are of the clock of the database, so that workers with different clocks agree which jobs are due.

use std::time::Duration;

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Result};

use crate::limits::JOB_MAX_ATTEMPTS;
use crate::{Changes, Db, Tx, columns, dialect, parsed};

/// The SQL of the present time, plus the seconds of a placeholder.
fn in_seconds_sql(tx: &Tx<'_>, plus_s: &str) -> String {
    dialect::now_text(tx.dialect(), plus_s)
}

fn now_sql(tx: &Tx<'_>) -> String {
    in_seconds_sql(tx, "0")
}

/// A claimed job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedJob {
    /// Its number.
    pub id: i64,
    /// The kind of its work.
    pub kind: String,
    /// The input of the work, in a format of the kind.
    pub payload: String,
    /// The number of the attempt, from 1.
    pub attempt: i64,
}

impl Changes {
    /// Waits for `pause`, and then until a job of the kind may be due.
    pub async fn wait_for_job(&mut self, db: &Db, kind: &'static str, pause: Duration) {
        let due = db.read(move |tx| due_in(tx, kind)).await;
        // A store that does not answer is asked again.
        self.wait(pause, due.unwrap_or(Some(pause))).await;
    }
}

/// Adds a job that is due at once and answers its number.
pub fn add(tx: &mut Tx<'_>, kind: &str, payload: &str) -> Result<i64> {
    let sql = format!(
        "INSERT INTO jobs (kind, payload, state, attempts, due) \
         VALUES ($1, $2, 'waiting', 0, {}) RETURNING id",
        now_sql(tx)
    );
    tx.query_one(&sql, &[kind.into(), payload.into()], |row| row.int(0))?
        .ok_or_else(|| Problem::internal("a job was not added"))
}

/// Whether a job of the kind is due. Claims nothing.
pub fn is_due(tx: &mut Tx<'_>, kind: &str) -> Result<bool> {
    let now = now_sql(tx);
    let sql = format!(
        "SELECT 1 FROM jobs WHERE state = 'waiting' AND due <= {now} AND kind = $1 LIMIT 1"
    );
    Ok(tx.query_one(&sql, &[kind.into()], |_| Ok(()))?.is_some())
}

/// The time until a job of the kind is due; `None` if none waits.
pub fn due_in(tx: &mut Tx<'_>, kind: &str) -> Result<Option<Duration>> {
    let sql = format!(
        "SELECT due, {} FROM jobs WHERE state = 'waiting' AND kind = $1 ORDER BY due LIMIT 1",
        now_sql(tx)
    );
    tx.query_one(&sql, &[kind.into()], |row| {
        let (due, now): (Timestamp, Timestamp) = (parsed(row.text(0)?)?, parsed(row.text(1)?)?);
        let left_ms = due.milliseconds() - now.milliseconds();
        Ok(Duration::from_millis(u64::try_from(left_ms).unwrap_or(0)))
    })
}

/// Claims the job of the kind that has been due for longest, for `lease_s` seconds.
pub fn claim(tx: &mut Tx<'_>, kind: &str, lease_s: i64) -> Result<Option<ClaimedJob>> {
    let (now, until) = (now_sql(tx), in_seconds_sql(tx, "$1"));
    let sql = format!(
        "UPDATE jobs SET attempts = attempts + 1, due = {until} WHERE id = \
         (SELECT id FROM jobs WHERE state = 'waiting' AND due <= {now} AND kind = $2 \
         ORDER BY due, id LIMIT 1 {}) RETURNING {}",
        dialect::skip_locked(tx.dialect()),
        ClaimedJob::COLUMNS
    );
    let claimed: Option<ClaimedJob> = tx.row(&sql, &[lease_s.into(), kind.into()])?;
    if let Some(job) = &claimed {
        let sql = format!("INSERT INTO job_tries (job, attempt, began) VALUES ($1, $2, {now})");
        tx.execute(&sql, &[job.id.into(), job.attempt.into()])?;
    }
    Ok(claimed)
}

fn end_try(tx: &mut Tx<'_>, job: &ClaimedJob, error: Option<&Message>) -> Result<()> {
    let now = now_sql(tx);
    let sql =
        format!("UPDATE job_tries SET ended = {now}, error = $1 WHERE job = $2 AND attempt = $3");
    let error = error.map(Message::stored);
    tx.execute(&sql, &[error.as_ref().into(), job.id.into(), job.attempt.into()]).map(drop)
}

/// Reports that the job is done. `false`: another worker has claimed it.
pub fn finish(tx: &mut Tx<'_>, job: &ClaimedJob) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE jobs SET state = 'done' WHERE id = $1 AND attempts = $2 AND state = 'waiting'",
        &[job.id.into(), job.attempt.into()],
    )?;
    if changed == 1 {
        end_try(tx, job, None)?;
    }
    Ok(changed == 1)
}

/// Keeps a job for `lease_s` more seconds. `false`: another worker has claimed it.
pub fn renew(tx: &mut Tx<'_>, job: &ClaimedJob, lease_s: i64) -> Result<bool> {
    let until = in_seconds_sql(tx, "$1");
    let sql = format!(
        "UPDATE jobs SET due = {until} WHERE id = $2 AND attempts = $3 AND state = 'waiting'"
    );
    Ok(tx.execute(&sql, &[lease_s.into(), job.id.into(), job.attempt.into()])? == 1)
}

/// Reports that the attempt failed: the job comes up again after 2, 4, 8, … seconds (an hour at
/// most), or has failed for good after [`JOB_MAX_ATTEMPTS`]. `false`: another worker has claimed it.
pub fn fail(tx: &mut Tx<'_>, job: &ClaimedJob, error: &Message) -> Result<bool> {
    let state = if job.attempt >= JOB_MAX_ATTEMPTS { "failed" } else { "waiting" };
    let (due, pause_s) = (in_seconds_sql(tx, "$2"), (1_i64 << job.attempt.clamp(1, 12)).min(3600));
    let sql = format!(
        "UPDATE jobs SET state = $1, due = {due}, error = $3 \
         WHERE id = $4 AND attempts = $5 AND state = 'waiting'"
    );
    let (id, attempt, stored) = (job.id.into(), job.attempt.into(), error.stored());
    let values = [state.into(), pause_s.into(), (&stored).into(), id, attempt];
    let changed = tx.execute(&sql, &values)?;
    if changed == 1 {
        end_try(tx, job, Some(error))?;
    }
    Ok(changed == 1)
}

/// A job for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStatus {
    /// Its number.
    pub id: i64,
    /// The kind of its work.
    pub kind: String,
    /// The input of the work, in a format of the kind.
    pub payload: String,
    /// `waiting`, `done` or `failed`.
    pub state: String,
    /// The number of tries.
    pub attempts: i64,
    /// When it is tried next, or its lease ends; of a job that ended, when it last was due.
    pub due: String,
    /// The message of the last failure.
    pub error: Option<Message>,
}

impl JobStatus {
    /// Whether a try that did not end still runs. Any earlier one was given up: its server stopped.
    pub fn runs(&self, tried: &JobTry) -> bool {
        tried.ended.is_none() && tried.attempt == self.attempts && self.state == "waiting"
    }
}

/// The number of jobs in each state.
pub fn counts(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>> {
    tx.rows("SELECT state, COUNT(*) FROM jobs GROUP BY state ORDER BY state", &[])
}

/// The jobs of one kind that are not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobBacklog {
    /// The kind of their work.
    pub kind: String,
    /// `waiting` or `failed`.
    pub state: String,
    /// Their number.
    pub count: i64,
    /// The seconds since the first one was due; 0 if none is due.
    pub overdue_s: i64,
}

/// The jobs that wait or failed for good, by kind and state.
pub fn backlog(tx: &mut Tx<'_>) -> Result<Vec<JobBacklog>> {
    let sql = format!(
        "SELECT kind, state, COUNT(*), MIN(due), {} FROM jobs WHERE state IN ('waiting', 'failed') \
         GROUP BY kind, state ORDER BY kind, state",
        now_sql(tx)
    );
    tx.all(&sql, &[], |row| {
        let (first_due, now): (Timestamp, Timestamp) =
            (parsed(row.text(3)?)?, parsed(row.text(4)?)?);
        Ok(JobBacklog {
            kind: row.text(0)?.to_owned(),
            state: row.text(1)?.to_owned(),
            count: row.int(2)?,
            overdue_s: (now.seconds() - first_due.seconds()).max(0),
        })
    })
}

columns!(ClaimedJob { id: "id", kind: "kind", payload: "payload", attempt: "attempts" });
columns!(JobStatus {
    id: "id",
    kind: "kind",
    payload: "payload",
    state: "state",
    attempts: "attempts",
    due: "due",
    error: "error",
});
columns!(JobTry { attempt: "attempt", began: "began", ended: "ended", error: "error" });

/// The newest jobs, of one state or of all, `limit` at most.
pub fn newest(tx: &mut Tx<'_>, state: Option<&str>, limit: i64) -> Result<Vec<JobStatus>> {
    let sql = format!(
        "SELECT {} FROM jobs WHERE $1 = '' OR state = $1 ORDER BY id DESC LIMIT $2",
        JobStatus::COLUMNS
    );
    tx.rows(&sql, &[state.unwrap_or_default().into(), limit.into()])
}

/// A try of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobTry {
    /// Its number, from 1.
    pub attempt: i64,
    /// When a worker took the job.
    pub began: String,
    /// When it reported; `None` if it is still working or has stopped.
    pub ended: Option<String>,
    /// The error; `None` if nothing failed.
    pub error: Option<Message>,
}

/// A job and its tries, the first one first.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<(JobStatus, Vec<JobTry>)>> {
    let sql = format!("SELECT {} FROM jobs WHERE id = $1", JobStatus::COLUMNS);
    let Some(seen) = tx.row(&sql, &[id.into()])? else { return Ok(None) };
    let columns = JobTry::COLUMNS;
    let sql = format!("SELECT {columns} FROM job_tries WHERE job = $1 ORDER BY attempt");
    let tries = tx.rows(&sql, &[id.into()])?;
    Ok(Some((seen, tries)))
}
