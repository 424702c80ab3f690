//! Copies of an SQLite database while it is in use.

use std::fs;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, ProblemKind, Result};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::problem;
use crate::tx::{Tx, TxConnection};

/// Pages that are copied between two reports of progress.
const PAGES_PER_STEP: i32 = 2048;

/// Writes the log of an SQLite file into it and removes the log, so that the file may be moved or
/// replaced. Errors: `Conflict` while another process has it open.
pub fn settle(file: &Path) -> Result<()> {
    // Leaving the log's mode takes the file for oneself, which shows whether others have it open.
    let settled = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .and_then(|alone| alone.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())));
    settled.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let file = file.display();
            Problem::new(ProblemKind::Conflict, format!("the database '{file}' is in use"))
        }
        _ => problem::sqlite(&error, "PRAGMA journal_mode = DELETE"),
    })
}

/// Copies the state of this instant. The file appears under its name only when it is whole.
pub(crate) fn copy(source: &Connection, to: &Path, progress: impl FnMut(u64, u64)) -> Result<()> {
    copy_with(source, to, progress, |_| Ok(()))
}

/// [`copy`], with a read of the same instant.
pub(crate) fn copy_with<T>(
    source: &Connection,
    to: &Path,
    mut progress: impl FnMut(u64, u64),
    read: impl FnOnce(&mut Tx<'_>) -> Result<T>,
) -> Result<T> {
    if to.exists() {
        let to = to.display();
        return Err(Problem::new(
            ProblemKind::Conflict,
            format!("the file '{to}' exists already; choose another name, or move the file"),
        ));
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let failed = |error: std::io::Error| {
        let to = to.display();
        Problem::new(ProblemKind::Invalid, format!("'{to}' cannot be written: {error}"))
    };
    if partial.exists() {
        fs::remove_file(&partial).map_err(failed)?;
    }
    let broken = |error: rusqlite::Error| problem::sqlite(&error, "online backup");
    // An open read keeps the snapshot; without it every write would start the copy over.
    let snapshot = source.unchecked_transaction().map_err(broken)?;
    let begun = snapshot.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()));
    begun.map_err(broken)?;
    let read = read(&mut Tx::new(TxConnection::Sqlite(&snapshot)))?;
    pages(&snapshot, &partial, &mut progress).map_err(broken)?;
    fs::rename(&partial, to).map_err(failed)?;
    Ok(read)
}

fn pages(
    snapshot: &Connection,
    to: &Path,
    progress: &mut impl FnMut(u64, u64),
) -> rusqlite::Result<()> {
    let mut copy = Connection::open(to)?;
    {
        let backup = Backup::new(snapshot, &mut copy)?;
        while backup.step(PAGES_PER_STEP)? != StepResult::Done {
            report(&backup, progress);
        }
        report(&backup, progress);
    }
    copy.close().map_err(|(_, error)| error)
}

fn report(backup: &Backup<'_, '_>, progress: &mut impl FnMut(u64, u64)) {
    let at = backup.progress();
    let count = |pages: i32| u64::try_from(pages).unwrap_or(0);
    progress(count(at.pagecount - at.remaining), count(at.pagecount));
}
