//! Imports that somebody asked for in a browser: each is looked at first, as a check that changes nothing,
//! and done when its owner says so. Both are jobs that outlive the process.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use lyceum_store::jobs::{self, Job};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::repository::imports as repository;

/// The kind of the jobs.
pub const KIND: &str = "roster.import";

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is read, and nothing is kept.
    Checking,
    /// It was read; its owner decides.
    Checked,
    /// It is read, and kept.
    Importing,
    /// What was wanted of it is kept.
    Done,
    /// It cannot be read at all.
    Failed,
    /// Its owner does not want it.
    Discarded,
}

const STATES: [(State, &str); 6] = [
    (State::Checking, "checking"),
    (State::Checked, "checked"),
    (State::Importing, "importing"),
    (State::Done, "done"),
    (State::Failed, "failed"),
    (State::Discarded, "discarded"),
];

impl State {
    /// Its name.
    pub fn name(self) -> &'static str {
        STATES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = STATES.iter().find(|(_, known)| *known == name);
        found
            .map(|(state, _)| *state)
            .ok_or_else(|| Problem::internal("an unknown state of an import"))
    }
}

/// An import.
#[derive(Clone, Debug)]
pub struct Import {
    /// Its number.
    pub id: i64,
    /// The name of the file.
    pub name: String,
    /// Its bytes.
    pub bytes: i64,
    /// The SHA-256 of the file.
    pub file: String,
    /// The e-mail address of its owner.
    pub who: String,
    /// When the file came.
    pub begun: Timestamp,
    /// When the check or the import ended.
    pub ended: Option<Timestamp>,
    /// How far it is.
    pub state: State,
    /// Whether the good rows are kept though others are refused.
    pub keep_going: bool,
    /// What was found or done: a [`crate::csv::Report`] as JSON, and in `noted` the SHA-256 of the file that
    /// tells what came of each row.
    pub report: Option<Value>,
    /// The SHA-256 of the refused rows as CSV, where there are any.
    pub rejects: Option<String>,
    /// Why it failed.
    pub error: String,
    /// How far it was when the server that works on it told so last.
    pub progress: Option<Progress>,
}

impl Import {
    /// The SHA-256 of the file that tells what came of each row, where there is one.
    pub fn noted(&self) -> Option<&str> {
        self.report.as_ref()?["noted"].as_str()
    }
}

/// How far a check or an import is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The file that is read, without `.csv`.
    pub file: String,
    /// Rows that were read, over all files.
    pub rows: u64,
    /// Of a hundred.
    pub percent: u64,
}

/// A file on its way in.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: i64,
    /// Its SHA-256.
    pub file: &'a str,
    /// The e-mail address of its owner.
    pub who: &'a str,
}

/// What came of a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome<'a> {
    /// The report, as of [`Import::report`].
    pub report: Option<&'a Value>,
    /// The SHA-256 of the refused rows.
    pub rejects: Option<&'a str>,
    /// Why nothing could be read.
    pub error: Option<&'a str>,
}

/// Adds an import, which is checked next; its number.
pub fn add(tx: &mut Tx<'_>, now: Timestamp, new: &New<'_>) -> Result<i64> {
    let id = repository::insert(tx, now, new)?;
    jobs::add(tx, now, KIND, &id.to_string())?;
    Ok(id)
}

/// The import of that number. Errors: `NotFound`.
pub fn found(tx: &mut Tx<'_>, id: i64) -> Result<Import> {
    repository::find(tx, id)?
        .ok_or_else(|| Problem::new(ProblemKind::NotFound, format!("there is no import {id}")))
}

/// The newest imports.
pub fn newest(tx: &mut Tx<'_>) -> Result<Vec<Import>> {
    repository::all(tx, limits::IMPORTS_LISTED_MAX_COUNT)
}

/// The SHA-256 of all files that the newest imports need: what was sent, until its owner has decided, the refused
/// rows, what came of each.
pub fn files(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for import in newest(tx)? {
        files.extend(import.noted().map(str::to_owned));
        files.extend(import.rejects);
        if matches!(import.state, State::Checking | State::Checked | State::Importing) {
            files.push(import.file);
        }
    }
    Ok(files)
}

/// Has a checked import done; with `keep_going` its good rows though others are refused.
/// Errors: `NotFound`; `Conflict` for one that waits for nobody's word.
pub fn begin(tx: &mut Tx<'_>, now: Timestamp, id: i64, keep_going: bool) -> Result<()> {
    turn(tx, id, State::Importing, keep_going)?;
    jobs::add(tx, now, KIND, &id.to_string()).map(drop)
}

/// Drops a checked import. Errors: as of [`begin`].
pub fn discard(tx: &mut Tx<'_>, id: i64) -> Result<()> {
    turn(tx, id, State::Discarded, false)
}

fn turn(tx: &mut Tx<'_>, id: i64, to: State, keep_going: bool) -> Result<()> {
    let import = found(tx, id)?;
    if repository::turn(tx, id, (State::Checked, to), keep_going)? {
        return Ok(());
    }
    let message =
        format!("the import {id} is {}; only a checked one waits for a word", import.state.name());
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// Takes the next import that is to be checked or done; nobody else has it until the lease ends.
pub fn claim(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<(Job, Import)>> {
    let Some(job) = jobs::claim(tx, now, KIND, limits::IMPORT_LEASE_S)? else { return Ok(None) };
    let import = found(tx, job.payload.parse().map_err(Problem::internal)?)?;
    Ok(Some((job, import)))
}

/// Keeps the lease of a job and tells how far it is, for whichever server is asked. `false`: somebody else
/// has it by now.
pub fn renew(
    tx: &mut Tx<'_>,
    now: Timestamp,
    job: &Job,
    progress: Option<&Progress>,
) -> Result<bool> {
    let is_ours = jobs::renew(tx, now, job, limits::IMPORT_LEASE_S)?;
    if let Some(progress) = progress.filter(|_| is_ours) {
        repository::tell(tx, job.payload.parse().map_err(Problem::internal)?, progress)?;
    }
    Ok(is_ours)
}

/// Notes what came of a check or an import. One with faults of which nothing was kept waits for its
/// owner's word again.
pub fn end(
    tx: &mut Tx<'_>,
    now: Timestamp,
    job: &Job,
    import: &Import,
    outcome: &Outcome<'_>,
) -> Result<()> {
    if !jobs::finish(tx, now, job)? {
        return Ok(());
    }
    let is_kept = outcome.report.is_some_and(|report| report["committed"] == true);
    let to = match (import.state, outcome.error) {
        (_, Some(_)) => State::Failed,
        (State::Importing, None) if is_kept => State::Done,
        _ => State::Checked,
    };
    repository::end(tx, now, import.id, to, outcome)
}
