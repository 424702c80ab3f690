//! Copies of a database while it is in use.

use std::fs;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, ProblemKind, Result, message};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::problem;
use crate::tx::Tx;

/// Pages that are copied at a time.
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
            Problem::new(ProblemKind::Conflict, message!("the database '{file}' is in use"))
        }
        _ => problem::sqlite(&error, "PRAGMA journal_mode = DELETE"),
    })
}

/// Copies what the transaction sees into a new SQLite file, while others read and write. The file appears under its name
/// only when it is whole. Errors: `Conflict` if the file exists, `Invalid` on PostgreSQL, which has `pg_dump` for this.
pub fn copy_to(tx: &mut Tx<'_>, to: &Path) -> Result<()> {
    tx.sqlite()?;
    if to.exists() {
        let to = to.display();
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!("the file '{to}' exists already; choose another name, or move the file"),
        ));
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let failed = |error: std::io::Error| {
        let to = to.display();
        Problem::new(ProblemKind::Invalid, message!("'{to}' cannot be written: {error}"))
    };
    if partial.exists() {
        fs::remove_file(&partial).map_err(failed)?;
    }
    // A transaction begins with its first statement. Without one, every write would start the copy over.
    tx.query_one("SELECT COUNT(*) FROM sqlite_schema", &[], |_| Ok(()))?;
    let copied = copy_pages(tx.sqlite()?, &partial);
    copied.map_err(|error| problem::sqlite(&error, "online backup"))?;
    fs::rename(&partial, to).map_err(failed)
}

fn copy_pages(source: &Connection, to: &Path) -> rusqlite::Result<()> {
    let mut copy = Connection::open(to)?;
    let backup = Backup::new(source, &mut copy)?;
    while backup.step(PAGES_PER_STEP)? != StepResult::Done {}
    drop(backup);
    copy.close().map_err(|(_, error)| error)
}

/// The name under which others, such as `pg_dump`, see what the transaction sees while it lasts. Errors: `Internal` on
/// SQLite.
pub fn export_snapshot(tx: &mut Tx<'_>) -> Result<String> {
    let name = tx.query_one("SELECT pg_export_snapshot()", &[], |row| row.string(0))?;
    name.ok_or_else(|| Problem::internal("PostgreSQL exported no snapshot"))
}
