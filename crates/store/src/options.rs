//! Where the data is, and what callers of [`Db`](crate::Db) choose.

use std::path::PathBuf;
use std::time::Duration;

use lyceum_core::limits::{POSTGRES_CONNECTIONS, SQLITE_MMAP_BYTES, STORE_LOCK_WAIT_MS};

/// The location of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// An SQLite file; its folder exists.
    Sqlite(PathBuf),
    /// A `postgres://…` address.
    Postgres(String),
}

/// The options of a database that an operator can set.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// Bytes of an SQLite file that each connection maps into memory; 0 where a disk may fail
    /// under the mapping, which ends the process.
    pub mmap_bytes: u64,
    /// The most connections to PostgreSQL for reads and writes. Scans use a few additional ones.
    pub connections: usize,
    /// Milliseconds that a write waits for a lock of another process or connection.
    pub lock_wait_ms: u64,
    /// Whether a replicator reads the write-ahead log of the SQLite file and carries it over.
    pub is_replicated: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            mmap_bytes: SQLITE_MMAP_BYTES,
            connections: POSTGRES_CONNECTIONS,
            lock_wait_ms: STORE_LOCK_WAIT_MS,
            is_replicated: false,
        }
    }
}

/// How long a scan may take, and which state it needs. A mere `Duration` is a deadline, and asks for the latest state.
#[derive(Clone, Copy, Debug)]
pub struct ScanLimits {
    pub(crate) deadline: Duration,
    pub(crate) may_be_delayed: bool,
}

impl ScanLimits {
    /// For reports, whose readers accept that the changes of the last seconds are missing. The read replica serves the
    /// scan if there is one that is at most
    /// [`READ_REPLICA_DELAY_MAX_MS`](crate::limits::READ_REPLICA_DELAY_MAX_MS) behind; if it fails, the primary does.
    pub fn delayed(deadline: Duration) -> Self {
        Self { deadline, may_be_delayed: true }
    }
}

impl From<Duration> for ScanLimits {
    fn from(deadline: Duration) -> Self {
        Self { deadline, may_be_delayed: false }
    }
}

/// The commits of other writes that a [write with locks](crate::Db::write_with_locks) sees on PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementsSee {
    /// Only those before its first statement, so its reads agree with each other. It runs again if another write has
    /// changed a row that it changes or locks.
    OneState,
    /// All that came before the statement. It waits for others and then continues, instead of running again. Rows that
    /// must not change between two statements must be locked ([`log::lock`](crate::log::lock)).
    LatestCommits,
}

/// The state that a write depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteIsolation {
    /// On everything that it read: it runs again if that has changed.
    Serializable,
    /// On the rows that it locks or writes.
    Locks(StatementsSee),
}
