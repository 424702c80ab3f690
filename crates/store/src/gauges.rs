//! Figures about the store for the monitoring.

use lyceum_core::Result;

use crate::{Tx, dialect};

/// The state of the store in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreGauges {
    /// Short requests: on SQLite writes, on PostgreSQL reads and writes.
    pub short: WorkGauges,
    /// Scans and exports.
    pub long: WorkGauges,
    /// Bytes of the write-ahead log of SQLite; none on PostgreSQL.
    pub log_bytes: Option<u64>,
    /// The read replica, if there is one.
    pub read_replica: Option<ReadReplicaGauges>,
}

/// The state of a read replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadReplicaGauges {
    /// Milliseconds by which it is behind at most. Until it was reached once, the time since the start.
    pub delay_ms: u64,
    /// Whether it serves reports.
    pub is_used: bool,
}

/// The state of the threads for one kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkGauges {
    /// Requests that wait for a thread.
    pub waiting: usize,
    /// Open connections.
    pub connections: usize,
    /// The most connections.
    pub connections_max: usize,
}

/// Bytes of the database, without the write-ahead log.
pub fn database_bytes(tx: &mut Tx<'_>) -> Result<i64> {
    let bytes = tx.query_one(dialect::database_bytes(tx.dialect()), &[], |row| row.int(0))?;
    Ok(bytes.unwrap_or_default())
}
