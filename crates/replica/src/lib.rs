//! Replicates SQLite files continuously to a folder or a bucket of S3, and restores them to any second of the last days.
//!
//! A replica consists of *chains*: a snapshot, and segments of the write-ahead log that continue it without a gap. A
//! chain ends when its continuity is lost, and the next one begins with a snapshot. A chain belongs to an *epoch*, the
//! number of the server that replicates the file. A server that was replaced may go on: a later epoch counts
//! from its first snapshot on, and what an earlier one adds after it is ignored.
//!
//! The replicator reads the log beside the writer, through the file system. A writer never waits for the store of
//! replicas. It waits some milliseconds when a long log is carried over, and when a snapshot begins.
//!
//! | what | where |
//! |---|---|
//! | the folder or bucket, the keys of objects | `objects`, `folder`, `key` |
//! | the format of SQLite's log | `log` |
//! | segments and snapshots as objects | `segment`, `snapshot` |
//! | one followed file, its connections; chains that go on after a restart | `chain`, `sql`; `resume` |
//! | files to which nobody writes | `rest` |
//! | many files with few threads; what one of them needs | `replicator`; `progress` |
//! | restore | `restore` |
//! | which objects are kept | `retention` |
//! | the mark by which a second writer is noticed | `mark` |
//! | limits | `limits` |

mod chain;
mod folder;
mod key;
pub mod limits;
mod log;
mod mark;
mod objects;
mod progress;
mod replicator;
mod rest;
mod restore;
mod resume;
mod retention;
mod segment;
mod snapshot;
mod sql;

pub use key::Position;
pub use mark::StoreMark;
pub use objects::ReplicaStore;
pub use replicator::{ReplicationStatus, Replicator};
pub use restore::{RestorableTimes, RestoredState, restorable_times, restore};
pub use retention::{delete, delete_unfinished, names, remove_old};
