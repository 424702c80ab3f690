//! A write that leaves nothing.

use lyceum_core::Result;

use crate::problem::unavailable;
use crate::{SqlDialect, Tx};

/// The result of a check of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCheck {
    /// A write became durable.
    Durable,
    /// The store answers, but others, such as an import, kept the write waiting.
    Waiting,
}

/// Writes what nobody reads: only a commit shows whether the disk takes it. No row of a table changes, since
/// anybody may ask for this.
pub(crate) fn write(tx: &mut Tx<'_>) -> Result<()> {
    match tx.dialect() {
        SqlDialect::Sqlite => write_header(tx),
        SqlDialect::Postgres => write_message(tx),
    }
}

/// Writes the first page of the file as it is.
fn write_header(tx: &mut Tx<'_>) -> Result<()> {
    let version = tx.query_one("PRAGMA user_version", &[], |row| row.int(0))?.unwrap_or(0);
    tx.execute(&format!("PRAGMA user_version = {version}"), &[]).map(drop)
}

/// Writes a message into the write-ahead log. PostgreSQL has room in the files of the log when the disk is
/// full, so a temporary file of a megabyte shows whether there is more.
fn write_message(tx: &mut Tx<'_>) -> Result<()> {
    // Writes say that they write, and would go on where an operator has said that nobody should. The
    // session has a value of its own, so this asks for the one that it came with.
    let sql = "SELECT 1 FROM pg_settings \
               WHERE name = 'default_transaction_read_only' AND reset_val = 'on'";
    if tx.query_one(sql, &[], |_| Ok(()))?.is_some() {
        return Err(unavailable("the database is read-only", 10));
    }
    tx.execute("SET LOCAL work_mem = '64kB'", &[])?;
    tx.query_one("SELECT count(*) FROM generate_series(1, 50000)", &[], |_| Ok(()))?;
    let sql = "SELECT CAST(pg_logical_emit_message(true, 'lyceum', CAST('' AS text)) AS text)";
    tx.query_one(sql, &[], |_| Ok(())).map(drop)
}
