//! Replicas of real SQLite files, in folders and in an S3 bucket.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod crash;
mod epochs;
mod random;
mod restarts;
mod retention;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::time::{Clock, ManualClock, Timestamp};
use lyceum_replica::{ReplicaStore, Replicator, restore};
use rusqlite::Connection;
use tempfile::TempDir;

/// The rows of a test database: a number by id.
pub(crate) type Rows = BTreeMap<i64, i64>;

/// A database, a folder for its replica, and a clock that only tests move.
pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    pub(crate) store: ReplicaStore,
    pub(crate) clock: Arc<ManualClock>,
}

pub(crate) const PREFIX: &str = "projects/maths/d1.sqlite";

impl Setup {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("replicas")).unwrap();
        let store = ReplicaStore::in_folder(&folder.path().join("replicas")).unwrap();
        let clock = Arc::new(ManualClock::at("2026-01-15T08:00:00Z".parse().unwrap()));
        Self { folder, store, clock }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("d1.sqlite")
    }

    pub(crate) fn replicator(&self) -> Replicator {
        replicator_in(self.store.clone(), self.clock.clone())
    }

    /// The time, after which the clock goes on by a second.
    pub(crate) fn tick(&self) -> Timestamp {
        let now = self.clock.now();
        self.clock.advance_milliseconds(1000);
        now
    }

    /// The rows at a time, after a restore.
    pub(crate) fn restored(&self, until: Option<Timestamp>) -> Rows {
        restored(&self.store, until)
    }

    /// The keys of all objects of the replica, without its prefix.
    pub(crate) fn objects(&self) -> Vec<String> {
        let root = self.folder.path().join("replicas").join(PREFIX);
        let mut folders = vec![root.clone()];
        let mut found = Vec::new();
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        // Objects that are being written have a name of their own.
        found.retain(|key: &String| !key.contains(".tmp"));
        found.sort();
        found
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.objects().iter().filter(|key| key.contains(kind)).count()
    }
}

pub(crate) fn replicator_in(store: ReplicaStore, clock: Arc<dyn Clock>) -> Replicator {
    let replicator = Replicator::start(clock, 7, 256).unwrap();
    replicator.replicate_into(store);
    replicator
}

pub(crate) fn restored(store: &ReplicaStore, until: Option<Timestamp>) -> Rows {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("restored.sqlite");
    restore(store, PREFIX, until, &file, &mut |_, _| {}).unwrap();
    rows(&Connection::open(file).unwrap())
}

/// A writer as the bindings of projects open it.
pub(crate) fn writer(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE TABLE IF NOT EXISTS number (id INTEGER PRIMARY KEY, value INTEGER, text TEXT)",
        )
        .unwrap();
    connection
}

pub(crate) fn insert(connection: &Connection, id: i64) {
    let sql = "INSERT INTO number VALUES (?1, ?1, 'text')";
    connection.execute(sql, [id]).unwrap();
}

pub(crate) fn rows(connection: &Connection) -> Rows {
    let mut rows = connection.prepare("SELECT id, value FROM number").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Waits for a condition.
pub(crate) fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what} did not happen");
        thread::sleep(Duration::from_millis(20));
    }
}
