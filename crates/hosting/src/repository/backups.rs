//! The backups that servers made.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Result, phrase};
use lyceum_store::{Tx, columns, named_column};

use super::ms;
use crate::limits;

named_column!(CheckMethod, CheckMethod::named);

named_column!(BackupState, BackupState::named);

/// A backup that a server made or tried to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupRun {
    /// Its number.
    pub id: i64,
    /// The node that made it.
    pub node_id: String,
    /// The name of that node.
    pub node_name: String,
    /// The time of the schedule; `None` if a person asked for it.
    pub due: Option<Timestamp>,
    /// Whether the database is in it.
    pub has_database: bool,
    /// When it began, which is the state that it contains.
    pub began: Timestamp,
    /// When the server last reported about it.
    pub reported: Timestamp,
    /// Its state.
    pub state: BackupState,
    /// Its path or address; empty until it is complete, and if the node held nothing to back up.
    pub file: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// Why it was not made.
    pub error: Option<Message>,
    /// When it was checked.
    pub checked: Option<Timestamp>,
    /// How it was checked.
    pub check_method: Option<CheckMethod>,
    /// The error that the check found.
    pub check_error: Option<Message>,
}

impl BackupRun {
    /// Whether the server that makes it may still be working.
    pub(crate) fn is_running(&self, now: Timestamp) -> bool {
        self.state == BackupState::Running
            && self.reported >= now.plus_seconds(-limits::BACKUP_LEASE_S)
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct BackupCheck {
    /// How the backup was tried; `None` if it could not be read.
    pub method: Option<CheckMethod>,
    /// The error of the backup.
    pub error: Option<Message>,
}

/// The state of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupState {
    /// A server is making it.
    Running,
    /// It is complete.
    Done,
    /// It was not made.
    Failed,
}

impl BackupState {
    const ALL: [Self; 3] = [Self::Running, Self::Done, Self::Failed];

    /// Its name in the store and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => phrase!("running"),
            Self::Done => phrase!("done"),
            Self::Failed => phrase!("failed"),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// How a backup was tried after it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMethod {
    /// Its database was restored in a temporary place and all records were checked.
    Restored,
    /// All checksums were compared, and the contents of the database's dump listed.
    Listed,
}

impl CheckMethod {
    const ALL: [Self; 2] = [Self::Restored, Self::Listed];

    /// Its name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restored => "restored",
            Self::Listed => "listed",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

columns!(BackupRun {
    id: "id",
    node_id: "node_id",
    node_name: "node_name",
    due: "due_ms",
    has_database: "has_database",
    began: "began_ms",
    reported: "reported_ms",
    state: "state",
    file: "file",
    bytes: "bytes",
    error: "error",
    checked: "checked_ms",
    check_method: "check_method",
    check_error: "check_error",
});

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (node, name): (&str, &str),
    (due, has_database): (Option<Timestamp>, bool),
) -> Result<i64> {
    let sql = "INSERT INTO backups \
               (node_id, node_name, due_ms, has_database, began_ms, reported_ms, state, file, bytes) \
               VALUES ($1, $2, $3, $4, $5, $5, 'running', '', 0) RETURNING id";
    let due = due.map(Timestamp::milliseconds);
    let values = [node.into(), name.into(), due.into(), i64::from(has_database).into(), ms(now)];
    Ok(tx.query_one(sql, &values, |row| row.int(0))?.unwrap_or_default())
}

/// The runs that were due at a time of the schedule, the first one first.
pub(crate) fn due_at(tx: &mut Tx<'_>, due: Timestamp) -> Result<Vec<BackupRun>> {
    let sql = format!("SELECT {} FROM backups WHERE due_ms = $1 ORDER BY id", BackupRun::COLUMNS);
    tx.rows(&sql, &[ms(due)])
}

/// The newest runs, the newest one first.
pub(crate) fn newest(tx: &mut Tx<'_>, most: i64) -> Result<Vec<BackupRun>> {
    let columns = BackupRun::COLUMNS;
    let sql = format!("SELECT {columns} FROM backups ORDER BY began_ms DESC, id DESC LIMIT $1");
    tx.rows(&sql, &[most.into()])
}

/// The newest complete backup of the database.
pub(crate) fn newest_complete(tx: &mut Tx<'_>) -> Result<Option<BackupRun>> {
    let sql = format!(
        "SELECT {} FROM backups WHERE state = 'done' AND has_database = 1 \
         ORDER BY began_ms DESC, id DESC LIMIT 1",
        BackupRun::COLUMNS
    );
    tx.row(&sql, &[])
}

/// The newest backup that was checked.
pub(crate) fn newest_checked(tx: &mut Tx<'_>) -> Result<Option<BackupRun>> {
    let sql = format!(
        "SELECT {} FROM backups WHERE checked_ms IS NOT NULL AND has_database = 1 \
         ORDER BY checked_ms DESC, id DESC LIMIT 1",
        BackupRun::COLUMNS
    );
    tx.row(&sql, &[])
}

pub(crate) fn report(tx: &mut Tx<'_>, now: Timestamp, id: i64) -> Result<()> {
    let sql = "UPDATE backups SET reported_ms = $1 WHERE id = $2 AND state = 'running'";
    tx.send(sql, &[ms(now), id.into()])
}

pub(crate) fn finish(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: i64,
    file: &str,
    bytes: u64,
) -> Result<()> {
    let sql =
        "UPDATE backups SET state = $1, reported_ms = $2, file = $3, bytes = $4 WHERE id = $5";
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let done = BackupState::Done.name();
    tx.send(sql, &[done.into(), ms(now), file.into(), bytes.into(), id.into()])
}

pub(crate) fn fail(tx: &mut Tx<'_>, now: Timestamp, id: i64, error: &Message) -> Result<()> {
    let sql = "UPDATE backups SET state = $1, reported_ms = $2, error = $3 WHERE id = $4";
    tx.send(sql, &[BackupState::Failed.name().into(), ms(now), (&error.stored()).into(), id.into()])
}

/// Ends the runs of a node that stopped during them.
pub(crate) fn interrupt(tx: &mut Tx<'_>, node: &str, error: &str) -> Result<()> {
    let sql =
        "UPDATE backups SET state = 'failed', error = $1 WHERE node_id = $2 AND state = 'running'";
    tx.send(sql, &[error.into(), node.into()])
}

pub(crate) fn check(tx: &mut Tx<'_>, now: Timestamp, id: i64, check: &BackupCheck) -> Result<()> {
    let sql =
        "UPDATE backups SET checked_ms = $1, check_method = $2, check_error = $3 WHERE id = $4";
    let method = check.method.map(CheckMethod::name);
    let error = check.error.as_ref().map(Message::stored);
    tx.send(sql, &[ms(now), method.into(), error.as_ref().into(), id.into()])
}

/// Deletes the runs that began before.
pub(crate) fn forget(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.send("DELETE FROM backups WHERE began_ms < $1", &[ms(before)])
}
