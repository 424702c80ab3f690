//! The limits of this crate, each with its unit.

// # Internal

/// Milliseconds between two looks at a replicated file for new commits.
pub const REPLICA_LOOK_EVERY_MS: u64 = 500;
/// Bytes of a write-ahead log after which the replicator carries it over into its file.
pub const REPLICA_LOG_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of a write-ahead log that may wait for a replica store that fails. What is longer is replaced by a snapshot
/// later.
pub const REPLICA_WAITING_LOG_MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of a write-ahead log in one segment at most, except for a longer transaction.
pub const REPLICA_SEGMENT_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of a transaction at most in a segment; a longer one is replicated by a snapshot.
pub const REPLICA_TRANSACTION_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Segments of one write-ahead log from which on they are merged once the log is carried over.
pub const REPLICA_MERGED_SEGMENTS_MIN_COUNT: usize = 4;
/// Pages that are carried over at most while writers wait.
pub const REPLICA_LOCKED_PAGES_MAX_COUNT: u64 = 1000;
/// Seconds without a new transaction after which the replicator closes a file until the next one.
pub const REPLICA_IDLE_S: i64 = 60;
/// File descriptors that an open file needs at most: two connections, and the log.
pub const REPLICA_FILE_DESCRIPTORS_COUNT: usize = 6;
/// Files that the replicator has open at most, if the system allows so many descriptors. Of more, it closes those that
/// changed least recently. An open file is looked at twice a second with three short system calls.
pub const REPLICA_OPEN_MAX_COUNT: usize = 4096;
/// Seconds without a write after which an unfinished object in a folder is deleted.
pub const REPLICA_UNFINISHED_MAX_S: i64 = 60 * 60;
/// Seconds between two snapshots of a file that changes.
pub const REPLICA_SNAPSHOT_EVERY_S: i64 = 24 * 60 * 60;
/// Milliseconds that the replicator waits for a writer at most.
pub const REPLICA_BUSY_MAX_MS: u64 = 5_000;
/// Milliseconds until a failed upload is tried again for the first time; the pause doubles after each failure.
pub const REPLICA_RETRY_MIN_MS: u64 = 1_000;
/// Milliseconds between two tries of a failed upload at most.
pub const REPLICA_RETRY_MAX_MS: u64 = 60_000;
/// Threads that send segments.
pub const REPLICA_SEGMENT_THREADS: usize = 4;
/// Threads that make snapshots.
pub const REPLICA_SNAPSHOT_THREADS: usize = 2;
/// Segments that a restore downloads at once.
pub const REPLICA_DOWNLOADS_MAX_COUNT: usize = 8;
