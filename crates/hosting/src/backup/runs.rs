//! The backups of all servers of a database: which server makes the next one, and what became of them.
//!
//! At each time of the schedule, every node backs up the files that it holds, and one of them the database too. Another
//! node takes the database over if that one failed or stopped.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Result};
use lyceum_store::Tx;

use crate::limits;
use crate::nodes::Node;
use crate::repository::backups as repository;

pub use crate::repository::backups::{BackupCheck, BackupRun, BackupState, CheckMethod};

/// The error of a backup whose server stopped.
const INTERRUPTED: &str = "the server stopped before it was complete";

/// A backup that this node makes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedBackup {
    /// The number of the run.
    pub id: i64,
    /// Whether the database is backed up, too.
    pub has_database: bool,
}

/// The part of a backup that a node makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupPart {
    /// The database, and the files that the node holds.
    Database,
    /// The files that the node holds.
    Files,
}

/// The part that is left for this node of the backup that was due at a time of the schedule.
pub fn due_part(
    tx: &mut Tx<'_>,
    now: Timestamp,
    node: &Node,
    due: Timestamp,
) -> Result<Option<BackupPart>> {
    let runs = repository::due_at(tx, due)?;
    let of_node = || runs.iter().filter(|run| run.node_id == node.id());
    let retry_from = now.plus_seconds(-limits::BACKUP_RETRY_S);
    let waits = |run: &BackupRun| {
        run.is_running(now) || (run.state == BackupState::Failed && run.reported > retry_from)
    };
    if of_node().any(waits) {
        return Ok(None);
    }
    let is_made = |run: &BackupRun| run.state == BackupState::Done || run.is_running(now);
    if !runs.iter().any(|run| run.has_database && is_made(run)) {
        return Ok(Some(BackupPart::Database));
    }
    let is_done = of_node().any(|run| run.state == BackupState::Done);
    Ok(if is_done { None } else { Some(BackupPart::Files) })
}

/// Begins the backup that was due at a time of the schedule, if a part of it is left for this node.
pub fn claim(
    tx: &mut Tx<'_>,
    now: Timestamp,
    node: &Node,
    due: Timestamp,
) -> Result<Option<ClaimedBackup>> {
    let Some(part) = due_part(tx, now, node, due)? else { return Ok(None) };
    let has_database = part == BackupPart::Database;
    let id = repository::insert(tx, now, (node.id(), node.name()), (Some(due), has_database))?;
    Ok(Some(ClaimedBackup { id, has_database }))
}

/// Begins a backup that a person asked for.
pub fn begin(tx: &mut Tx<'_>, now: Timestamp, node: &Node) -> Result<ClaimedBackup> {
    let id = repository::insert(tx, now, (node.id(), node.name()), (None, true))?;
    Ok(ClaimedBackup { id, has_database: true })
}

/// Reports that the server still works on it. Without a report, another node takes over after
/// [`limits::BACKUP_LEASE_S`].
pub fn report(tx: &mut Tx<'_>, now: Timestamp, id: i64) -> Result<()> {
    repository::report(tx, now, id)
}

/// Records that a backup is complete: its path or address and its size.
pub fn finish(tx: &mut Tx<'_>, now: Timestamp, id: i64, file: &str, bytes: u64) -> Result<()> {
    repository::finish(tx, now, id, file, bytes)
}

/// Records why a backup was not made.
pub fn fail(tx: &mut Tx<'_>, now: Timestamp, id: i64, error: &Message) -> Result<()> {
    repository::fail(tx, now, id, error)
}

/// Records at the start of a server that it stopped during its last backup.
pub fn interrupt(tx: &mut Tx<'_>, node: &Node) -> Result<()> {
    repository::interrupt(tx, node.id(), INTERRUPTED)
}

/// Records the result of a check.
pub fn check(tx: &mut Tx<'_>, now: Timestamp, id: i64, check: &BackupCheck) -> Result<()> {
    repository::check(tx, now, id, check)
}

/// Removes the records of runs that began before.
pub fn forget(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    repository::forget(tx, before)
}

/// The newest runs, the newest one first. A run whose server no longer reports has failed.
pub fn newest(tx: &mut Tx<'_>, now: Timestamp, most: i64) -> Result<Vec<BackupRun>> {
    let mut runs = repository::newest(tx, most)?;
    for run in &mut runs {
        if run.state == BackupState::Running && !run.is_running(now) {
            run.state = BackupState::Failed;
            run.error = Some(INTERRUPTED.into());
        }
    }
    Ok(runs)
}

/// The newest complete backup of the database.
pub fn last_complete(tx: &mut Tx<'_>) -> Result<Option<BackupRun>> {
    repository::newest_complete(tx)
}

/// The newest check of a backup of the database.
pub fn last_checked(tx: &mut Tx<'_>) -> Result<Option<BackupRun>> {
    repository::newest_checked(tx)
}
