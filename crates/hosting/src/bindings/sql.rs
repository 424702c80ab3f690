//! The SQLite files behind bindings. The statements of a binding are in its own module `sql`.

pub(crate) mod copies;
pub(crate) mod search;

use std::fs;
use std::path::Path;
use std::time::Duration;

use lyceum_core::{Problem, Result};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::limits::BINDING_BUSY_MAX_MS;

/// Opens a file so that confirmed changes survive a crash of the machine.
pub(super) fn open(path: &Path, is_replicated: bool) -> Result<Connection> {
    let opened = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_millis(BINDING_BUSY_MAX_MS))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // The log proves to the replicator what was written meanwhile.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_replicated)?;
        Ok(connection)
    };
    opened().map_err(|fault| failed(&format!("open {}", path.display()), &fault))
}

/// Gives a new file its write-ahead log, which is what is replicated. Until its first write it is empty.
pub(crate) fn begin_log(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let began = Connection::open(path).and_then(|connection| {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // SQLite writes the first page with the first change. Callers at the same time wait for each other.
        connection.execute_batch(
            "BEGIN IMMEDIATE; CREATE TABLE first (id INTEGER); DROP TABLE first; COMMIT",
        )
    });
    began.map_err(|fault| failed(&format!("begin {}", path.display()), &fault))
}

/// Limits the size of the file.
pub(super) fn limit_size(connection: &Connection, max_bytes: u64) -> rusqlite::Result<()> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(max_bytes).unwrap_or(i64::MAX) / page;
    connection.pragma_update(None, "max_page_count", pages)
}

pub(super) fn failed(what: &str, fault: &rusqlite::Error) -> Problem {
    Problem::internal(format!("{what}: {fault}"))
}
