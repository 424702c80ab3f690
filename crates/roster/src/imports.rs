//! Imports that a person uploaded in the browser, or a client over HTTP. The server first checks a file without changing
//! data and imports it when its owner confirms; a client may confirm when it sends the file. Both steps are jobs that
//! continue after a restart.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;
use lyceum_store::jobs::{self, ClaimedJob};
use serde_json::Value;

use crate::limits;
use crate::repository::imports as repository;
use crate::repository::imports::STATES;

pub use crate::repository::imports::{
    Import, ImportOutcome, ImportProgress, ImportState, NewImport,
};

/// The kind of the jobs.
pub const KIND: &str = "roster.import";

impl ImportState {
    /// Its name.
    pub fn name(self) -> &'static str {
        STATES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    /// Whether the server reads the file now.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Checking | Self::Importing)
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = STATES.iter().find(|(_, known)| *known == name);
        found
            .map(|(state, _)| *state)
            .ok_or_else(|| Problem::internal("an unknown state of an import"))
    }
}

/// Adds an import, which will be checked next, and returns its number.
pub fn add(tx: &mut Tx<'_>, now: Timestamp, new: &NewImport<'_>) -> Result<i64> {
    let id = repository::insert(tx, now, new)?;
    jobs::add(tx, KIND, &id.to_string())?;
    Ok(id)
}

/// Adds an import that will be stored next, and returns its number. With `keep_going`, correct rows are stored although
/// others are rejected; otherwise, the import with rejected rows waits for its owner as after a check.
pub fn add_confirmed(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewImport<'_>,
    keep_going: bool,
) -> Result<i64> {
    let id = add(tx, now, new)?;
    repository::set_state(tx, id, (ImportState::Checking, ImportState::Importing), keep_going)?;
    Ok(id)
}

/// The import of that number. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Import> {
    repository::find(tx, id)?
        .ok_or_else(|| Problem::new(ProblemKind::NotFound, message!("there is no import {id}")))
}

/// The newest imports of an owner.
pub fn newest_of(tx: &mut Tx<'_>, who: &str) -> Result<Vec<Import>> {
    Ok(newest(tx)?.into_iter().filter(|import| import.who == who).collect())
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
        files.extend(import.outcomes_sha256().map(str::to_owned));
        files.extend(import.rejects);
        if matches!(
            import.state,
            ImportState::Checking | ImportState::Checked | ImportState::Importing
        ) {
            files.push(import.file);
        }
    }
    Ok(files)
}

/// Forgets the files of all imports, because they name many persons, of whom one is being erased. An import that waits for
/// its owner is discarded. The files of an import that is being read are forgotten at its [`end`]. Returns the SHA-256 of
/// the files to remove now.
pub fn forget_files(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for import in repository::all(tx, i64::MAX)? {
        match import.state {
            ImportState::Checking | ImportState::Importing => {
                repository::forget_at_end(tx, import.id)?;
            }
            _ => files.extend(forget(tx, import)?),
        }
    }
    Ok(files)
}

/// Forgets the files of an import, and the values of rows in its report.
fn forget(tx: &mut Tx<'_>, mut import: Import) -> Result<Vec<String>> {
    let mut files = vec![import.file.clone()];
    files.extend(import.outcomes_sha256().map(str::to_owned));
    files.extend(import.rejects.take());
    if let Some(report) = import.report.as_mut().and_then(Value::as_object_mut) {
        report.remove("noted");
        for list in ["faults", "warnings"] {
            report.insert(list.to_owned(), Value::Array(Vec::new()));
        }
    }
    if import.state == ImportState::Checked {
        import.state = ImportState::Discarded;
        let error = "a person was erased before the import was started; send the file again";
        import.error = Some(error.into());
    }
    repository::forget_files(tx, &import)?;
    Ok(files)
}

/// Starts a checked import within the reach that its owner has now. If the check found errors, the import keeps the good
/// rows. Errors: `NotFound`; `Conflict` for an import in another state.
pub fn start(tx: &mut Tx<'_>, id: i64, reach: &Reach) -> Result<()> {
    let has_errors = find(tx, id)?.report.is_some_and(|report| report["fault_count"] != 0);
    set_state(tx, id, ImportState::Importing, has_errors)?;
    repository::set_reach(tx, id, reach)?;
    jobs::add(tx, KIND, &id.to_string()).map(drop)
}

/// Discards a checked import. Errors: as of [`start`].
pub fn discard(tx: &mut Tx<'_>, id: i64) -> Result<()> {
    set_state(tx, id, ImportState::Discarded, false)
}

fn set_state(tx: &mut Tx<'_>, id: i64, to: ImportState, keep_going: bool) -> Result<()> {
    let import = find(tx, id)?;
    if repository::set_state(tx, id, (ImportState::Checked, to), keep_going)? {
        return Ok(());
    }
    let message = message!(
        "the import {id} is {state}; only an import that is checked can be started or discarded",
        state = import.state.name()
    );
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// Claims the next import that must be checked or stored. No other server works on it until the lease ends.
pub fn claim(tx: &mut Tx<'_>) -> Result<Option<(ClaimedJob, Import)>> {
    let Some(job) = jobs::claim(tx, KIND, limits::IMPORT_LEASE_S)? else { return Ok(None) };
    let import = find(tx, job.payload.parse().map_err(Problem::internal)?)?;
    Ok(Some((job, import)))
}

/// Renews the lease of a job and stores its progress, so that every server can show it. `false`: another server
/// has claimed the job.
pub fn renew(tx: &mut Tx<'_>, job: &ClaimedJob, progress: Option<&ImportProgress>) -> Result<bool> {
    let is_ours = jobs::renew(tx, job, limits::IMPORT_LEASE_S)?;
    if let Some(progress) = progress.filter(|_| is_ours) {
        repository::record_progress(tx, job.payload.parse().map_err(Problem::internal)?, progress)?;
    }
    Ok(is_ours)
}

/// Stores the outcome of a check or an import. If it has errors and nothing was stored, it waits for its
/// owner again. Returns the SHA-256 of files to remove: see [`forget_files`].
pub fn store_outcome(
    tx: &mut Tx<'_>,
    now: Timestamp,
    job: &ClaimedJob,
    import: &Import,
    outcome: &ImportOutcome<'_>,
) -> Result<Vec<String>> {
    if !jobs::finish(tx, job)? {
        return Ok(Vec::new());
    }
    let is_kept = outcome.report.is_some_and(|report| report["committed"] == true);
    let to = match (import.state, outcome.error) {
        (_, Some(_)) => ImportState::Failed,
        (ImportState::Importing, None) if is_kept => ImportState::Done,
        _ => ImportState::Checked,
    };
    repository::store_outcome(tx, now, import.id, to, outcome)?;
    match find(tx, import.id)? {
        ended if ended.is_forgotten => forget(tx, ended),
        _ => Ok(Vec::new()),
    }
}
