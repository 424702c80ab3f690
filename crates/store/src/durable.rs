//! Syncing what the SQLite writer commits beside it, which meanwhile runs the next writes: on its own it
//! would wait for the disk a tenth to a third of the time.
//!
//! A write is answered when a sync of the write-ahead log that began after its commit has ended. Reads see
//! a commit at once: of what somebody reads and nobody was answered yet, a loss of power takes the last
//! milliseconds, as it takes the write itself. A reader who hands out what must not come to nothing, such
//! as a number from which others go on, waits for a further sync ([`CommitSyncs::after_read`]): it takes along
//! whatever was read, whichever process wrote it.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded, select};
use lyceum_core::{Problem, Result};

use crate::limits::{STORE_QUEUE_MAX_ENTRIES, STORE_UNSYNCED_MAX_ENTRIES};
use crate::task::{self, StoreTask, spawn};

/// Receives committed transactions, and answers them when they are durable.
#[derive(Clone)]
pub(crate) struct CommitSyncs {
    committed: Sender<Vec<Box<dyn StoreTask>>>,
    read: Sender<Box<dyn StoreTask>>,
    /// Held while the disk syncs.
    pub(crate) turn: Arc<Mutex<()>>,
}

impl CommitSyncs {
    /// Starts the thread for a database whose log exists; it ends when the writer drops this.
    pub(crate) fn start(database: &Path) -> Result<Self> {
        let log = log_of(database);
        let file = File::open(&log)
            .map_err(|error| Problem::internal(format!("opening '{}': {error}", log.display())))?;
        let (committed, writes) = bounded(STORE_UNSYNCED_MAX_ENTRIES);
        let (read, reads) = bounded(STORE_QUEUE_MAX_ENTRIES);
        let turn = Arc::<Mutex<()>>::default();
        let held = Arc::clone(&turn);
        spawn("store-sync", move || sync(&file, &writes, &reads, &held))?;
        Ok(Self { committed, read, turn })
    }

    /// Writes of one commit. Waits while too many are not durable yet.
    pub(crate) fn committed(&self, writes: Vec<Box<dyn StoreTask>>) {
        let _ = self.committed.send(writes); // the thread ends after its senders only
    }

    /// Answers the task once all that was committed before is durable, and with it whatever was read.
    pub(crate) fn after_read(&self, task: Box<dyn StoreTask>) -> Result<()> {
        task::submit(&self.read, task)
    }
}

/// The write-ahead log of a database. It stays the same file while a connection is open.
pub(crate) fn log_of(database: &Path) -> PathBuf {
    let mut log = OsString::from(database);
    log.push("-wal");
    log.into()
}

fn sync(
    log: &File,
    writes: &Receiver<Vec<Box<dyn StoreTask>>>,
    reads: &Receiver<Box<dyn StoreTask>>,
    turn: &Mutex<()>,
) {
    loop {
        let mut waiting = select! {
            recv(writes) -> first => match first {
                Ok(first) => first,
                Err(_) => return,
            },
            recv(reads) -> first => match first {
                Ok(first) => vec![first],
                Err(_) => match writes.recv() {
                    Ok(first) => first,
                    Err(_) => return,
                },
            },
        };
        waiting.extend(writes.try_iter().flatten());
        waiting.extend(reads.try_iter());
        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = log.sync_data() {
            // It is unknown which part of the log is on the disk, and a second sync would not show it: Linux reports
            // only once that it could not write a page. The next start finds out when it opens the file.
            tracing::error!(%error, "the disk did not take the write-ahead log; stopping");
            process::abort();
        }
        drop(turn);
        for task in waiting {
            task.answer(Ok(()));
        }
    }
}
