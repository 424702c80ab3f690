//! The limits of this crate, each with its unit.

// # Operation

/// Free bytes of the disk of an SQLite database below which `/ready` answers 503.
pub const READY_FREE_MIN_BYTES: u64 = 1024 * 1024;
/// Milliseconds by which a read replica that serves reports may be behind.
pub const READ_REPLICA_DELAY_MAX_MS: u64 = 10_000;

// # Internal

/// Closures that wait for one kind of store thread at most; a further one is refused with 503.
pub const STORE_QUEUE_MAX_ENTRIES: usize = 10_000;
/// Closures that share one SQLite commit at most.
pub const STORE_WRITE_BATCH_MAX_ENTRIES: usize = 1000;
/// Milliseconds after the start of an SQLite commit in which further writes join it.
pub const STORE_WRITE_BATCH_OPEN_MS: u64 = 1;
/// SQLite commits that wait for a sync of the disk at most; the writer waits then.
pub const STORE_UNSYNCED_MAX_ENTRIES: usize = 16;
/// Times that the store runs a closure at most (serialization failures, lost connections).
pub const STORE_MAX_ATTEMPTS: u32 = 20;
/// Prepared statements that one connection keeps at most.
pub const STORE_STATEMENT_CACHE_ENTRIES: usize = 256;
/// Bytes of page cache of one SQLite connection.
pub const SQLITE_CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of page cache of an SQLite connection that writes.
pub const SQLITE_WRITE_CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of page cache of the temporary file in which an import remembers rows.
pub const SPOOL_CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes to which the SQLite write-ahead log is cut back after a long write.
pub const SQLITE_LOG_KEPT_BYTES: u64 = 64 * 1024 * 1024;
/// Threads that run scans and exports on SQLite.
pub const SQLITE_SCAN_THREADS: usize = 2;
/// Rows that one bulk insert statement carries.
pub const INSERT_CHUNK_ROWS: usize = 1000;
/// Attempts of a job before it counts as failed for good.
pub const JOB_MAX_ATTEMPTS: i64 = 12;
/// Connections of one server process to PostgreSQL for scans and exports.
pub const POSTGRES_SCAN_CONNECTIONS: usize = 4;
/// Milliseconds that other writes wait at most for a write that conflicts have stopped repeatedly.
pub const POSTGRES_TURN_WAIT_MS: u64 = 1000;
/// Milliseconds after which such a write is stopped, because all others wait until it has ended.
pub const POSTGRES_TURN_MAX_MS: u64 = 10_000;
/// Milliseconds that PostgreSQL may take to free the deleted rows of a table beside other work.
pub const POSTGRES_FREE_ROWS_MAX_MS: u64 = 300_000;
/// Seconds that a PostgreSQL host has for an open connection, unless its address says `connect_timeout`.
pub const POSTGRES_CONNECT_WAIT_S: u64 = 5;
/// Milliseconds without a further attempt to connect after PostgreSQL refused a connection.
pub const POSTGRES_CONNECT_PAUSE_MS: u64 = 500;
/// Milliseconds for which a request whose connection was lost is tried again.
pub const POSTGRES_RECONNECT_MS: u64 = 2000;
/// Seconds of silence after which a connection to PostgreSQL is probed, unless its address says `keepalives_idle`.
pub const POSTGRES_KEEPALIVES_IDLE_S: u64 = 10;
/// Seconds between two such probes, unless the address says `keepalives_interval`.
pub const POSTGRES_KEEPALIVES_INTERVAL_S: u64 = 5;
/// Such probes without an answer that end the connection, unless the address says `keepalives_count`.
pub const POSTGRES_KEEPALIVES_COUNT: u64 = 3;
/// Milliseconds after which a connection ends if the other side does not confirm sent data, unless the address says
/// `tcp_user_timeout`.
pub const POSTGRES_UNACKNOWLEDGED_MS: u64 = 10_000;
/// Milliseconds for which a short read waits for each answer of PostgreSQL.
pub const POSTGRES_READ_WAIT_MS: u64 = 10_000;
/// Milliseconds beyond the wait for a lock after which PostgreSQL ends a statement of a request, unless the
/// address or the database sets `statement_timeout`.
pub const POSTGRES_STATEMENT_MS: u64 = 10_000;
/// Milliseconds beyond that limit for which the server waits for an answer.
pub const POSTGRES_SILENCE_MS: u64 = 5000;
/// Statements that are sent to PostgreSQL before the server waits for the answer to the first.
pub const POSTGRES_SENT_MAX_STATEMENTS: usize = 32;
/// Bytes of statements that are sent without waiting; a longer statement is sent when no other is pending.
pub const POSTGRES_SENT_MAX_BYTES: usize = 1024 * 1024;
/// Milliseconds between two measurements of the delay of a read replica.
pub const READ_REPLICA_LOOK_MS: u64 = 1000;
/// Milliseconds for which such a measurement waits for each answer.
pub const READ_REPLICA_ANSWER_MAX_MS: u64 = 2000;
/// Positions of the primary's log that are remembered at most until a read replica has reached them.
pub const READ_REPLICA_POSITIONS_MAX_COUNT: usize = 3600;
/// Milliseconds for which a poll for changed records waits for those who are writing records.
pub const RECORD_WRITERS_WAIT_MS: u64 = 10_000;
/// Seconds by which the record clock jumps when another PostgreSQL server has taken over: more than an asynchronous standby
/// lacks.
pub const LOST_BY_STANDBY_MAX_S: i64 = 60;
/// Milliseconds between two checks whether they have ended.
pub const RECORD_WRITERS_LOOK_MS: u64 = 5;
/// Milliseconds between two checks whether the database has changed.
pub const CHANGE_LOOK_MS: u64 = 500;
/// Milliseconds between two deliveries of signals that wake readers. Each costs PostgreSQL a lock of the whole cluster.
pub const SIGNAL_EVERY_MS: u64 = 200;
/// Milliseconds after which a reader that received no signal looks by itself.
pub const SIGNAL_WAIT_MS: u64 = 1000;
/// Milliseconds after which a reader looks by itself while signals of other servers do not arrive.
pub const SIGNAL_ALONE_WAIT_MS: u64 = 250;
/// Milliseconds that the first signal of a connection to PostgreSQL may take until it is back.
pub const SIGNAL_ECHO_MAX_MS: u64 = 2000;
/// Milliseconds after which a connection for signals is opened again.
pub const SIGNAL_RECONNECT_MS: u64 = 5000;
/// Bytes of a slow statement that the log shows at most.
pub const SLOW_STATEMENT_SHOWN_MAX_BYTES: usize = 2000;
