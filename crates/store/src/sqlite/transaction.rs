//! A transaction on a connection.

use lyceum_core::Result;
use rusqlite::Connection;

use super::statements::execute;
use crate::Tx;
use crate::tx::TxConnection;

/// A transaction that is rolled back unless it is committed.
pub(super) struct Transaction<'a> {
    connection: &'a Connection,
}

impl<'a> Transaction<'a> {
    pub(super) fn begin(connection: &'a Connection, sql: &str) -> Result<Self> {
        execute(connection, sql, &[])?;
        Ok(Self { connection })
    }

    pub(super) fn commit(self) -> Result<()> {
        execute(self.connection, "COMMIT", &[]).map(drop)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.connection.is_autocommit() {
            // Failing leaves the connection inside a transaction; its next BEGIN says so.
            let _ = execute(self.connection, "ROLLBACK", &[]);
        }
    }
}

/// Runs a read in a transaction.
pub(super) fn read<T>(
    connection: &Connection,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
) -> Result<T> {
    let snapshot = Transaction::begin(connection, "BEGIN")?;
    let result = work(&mut Tx::new(TxConnection::Sqlite(connection)))?;
    // Cheaper than the rollback of a transaction that has nothing to take back.
    snapshot.commit()?;
    Ok(result)
}
