//! Reads the index of a bucket for a backup, while the server has it open.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use lyceum_blob::Digest;
use lyceum_core::Result;
use rusqlite::{Connection, OpenFlags};

use super::failed;
use crate::limits::BINDING_BUSY_MAX_MS;

/// The blobs that an index names.
pub(crate) fn pieces(index: &Path) -> Result<BTreeSet<Digest>> {
    let read = || -> rusqlite::Result<BTreeSet<Digest>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(index, flags)?;
        connection.busy_timeout(Duration::from_millis(BINDING_BUSY_MAX_MS))?;
        // An index that was never used is an empty file.
        let is_made = "SELECT count(*) FROM sqlite_schema WHERE name = 'piece'";
        if connection.query_row(is_made, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(BTreeSet::new());
        }
        let sql = "SELECT sha256 FROM piece UNION SELECT sha256 FROM part";
        connection.prepare(sql)?.query_map([], |row| row.get(0).map(Digest))?.collect()
    };
    read().map_err(|fault| failed(&format!("read {}", index.display()), &fault))
}

/// Runs work while nobody writes to the index; writers wait. Bytes of deleted objects stay meanwhile, because they
/// are removed only after the index no longer names them.
pub(crate) fn while_nobody_writes<T>(index: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let held = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(index, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(Duration::from_millis(BINDING_BUSY_MAX_MS))?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(connection)
    };
    let held = held().map_err(|fault| failed(&format!("hold {}", index.display()), &fault))?;
    let done = work();
    // Nothing was written, so a rollback on close is enough.
    let _ = held.execute_batch("ROLLBACK");
    done
}
