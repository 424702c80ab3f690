//! Syncing what the SQLite writer commits beside it, which meanwhile runs the next writes: on its own it
//! would wait for the disk a tenth to a third of the time.
//!
//! A write is answered when a sync of the write-ahead log that began after its commit has ended. Reads see
//! a commit at once: of what somebody reads and nobody was answered yet, a loss of power takes the last
//! milliseconds, as it takes the write itself.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process;

use crossbeam_channel::{Receiver, Sender, bounded};
use lyceum_core::limits::STORE_UNSYNCED_MAX_ENTRIES;
use lyceum_core::{Problem, Result};

use crate::sqlite::spawn;
use crate::task::Task;

/// Takes what was committed, and answers it once it is durable.
pub(crate) struct Syncs(Sender<Vec<Box<dyn Task>>>);

impl Syncs {
    /// Starts the thread for a database whose log exists; it ends when this is dropped.
    pub(crate) fn start(database: &Path) -> Result<Self> {
        let log = log_of(database);
        let file = File::open(&log)
            .map_err(|error| Problem::internal(format!("opening '{}': {error}", log.display())))?;
        let (committed, waiting) = bounded(STORE_UNSYNCED_MAX_ENTRIES);
        spawn("store-sync", move || sync(&file, &waiting))?;
        Ok(Self(committed))
    }

    /// Writes of one commit. Waits while too many are not durable yet.
    pub(crate) fn committed(&self, writes: Vec<Box<dyn Task>>) {
        let _ = self.0.send(writes); // the thread ends after its senders only
    }
}

/// The write-ahead log of a database. It stays the same file while a connection is open.
pub(crate) fn log_of(database: &Path) -> PathBuf {
    let mut log = OsString::from(database);
    log.push("-wal");
    log.into()
}

fn sync(log: &File, waiting: &Receiver<Vec<Box<dyn Task>>>) {
    while let Ok(first) = waiting.recv() {
        let mut writes = first;
        writes.extend(waiting.try_iter().flatten());
        if let Err(error) = log.sync_data() {
            // Nobody knows what of the log is on the disk, and a second sync would not tell: Linux reports
            // a page that it could not write once. What is there is found by opening the file anew.
            tracing::error!(%error, "the disk did not take the write-ahead log; stopping");
            process::abort();
        }
        for write in writes {
            write.answer(Ok(()));
        }
    }
}
