//! A write that leaves nothing.

use lyceum_core::Result;

use crate::problem::unavailable;
use crate::{Dialect, Tx};

/// More than what is free in the pages of a table, so that a full disk shows.
const BYTES: usize = 16 * 1024;

/// Adds a row of no job and removes it again. Only a commit shows whether the disk takes it.
pub(crate) fn write(tx: &mut Tx<'_>) -> Result<()> {
    if tx.dialect() == Dialect::Postgres {
        // Writes say that they write, and would go on where an operator has said that nobody should. The
        // session has a value of its own, so this asks for the one that it came with.
        let sql = "SELECT 1 FROM pg_settings \
                   WHERE name = 'default_transaction_read_only' AND reset_val = 'on'";
        if tx.query_one(sql, &[], |_| Ok(()))?.is_some() {
            return Err(unavailable("The database is set to read-only", 10));
        }
    }
    let payload = "x".repeat(BYTES);
    let sql =
        "INSERT INTO jobs (kind, payload, state, attempts, due) VALUES ('', $1, 'none', 0, '')";
    if let Some(id) = tx.insert(sql, "id", &[payload.as_str().into()])? {
        tx.send("DELETE FROM jobs WHERE id = $1", &[id.into()])?;
    }
    Ok(())
}
