//! SQLite: one writer thread with group commit and one that syncs, inline reads, a few scan threads.

mod file;
pub(crate) mod statements;
mod transaction;
mod values;
mod writer;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};
use lyceum_core::{Problem, Result};
use rusqlite::Connection;
use thread_local::ThreadLocal;
use tokio::sync::watch;

use self::transaction::read;
use crate::Tx;
use crate::checkpoint::Checkpoints;
use crate::durable::{CommitSyncs, log_of};
use crate::gauges::{StoreGauges, WorkGauges};
use crate::limits::{SQLITE_SCAN_THREADS, STORE_QUEUE_MAX_ENTRIES};
use crate::problem::unavailable;
use crate::signals::Signals;
use crate::task::{self, StoreTask, spawn};

pub(crate) use file::{ConnectionUse, SqliteFile};
pub(crate) use values::cell;

/// An open SQLite file with its threads. Dropping it ends them once their queues are empty.
pub(crate) struct Sqlite {
    pub(crate) file: Arc<SqliteFile>,
    readers: ThreadLocal<RefCell<Connection>>,
    writes: Sender<Box<dyn StoreTask>>,
    scans: Sender<ScanSlots>,
    pub(crate) syncs: CommitSyncs,
    pub(crate) signals: Arc<Signals>,
    pub(crate) changes: watch::Sender<()>,
}

struct ScanSlots {
    task: Box<dyn StoreTask>,
    deadline: Instant,
}

impl Sqlite {
    /// Starts the threads of a file whose schema is up to date, with the connection that writes.
    pub(crate) fn start(file: Arc<SqliteFile>, connection: Connection) -> Result<Self> {
        let (writes, waiting_writes) = bounded(STORE_QUEUE_MAX_ENTRIES);
        let checkpoints = Checkpoints::start(Arc::clone(&file))?;
        // A connection that has read holds the file, and with it the log, until it closes.
        read(&connection, |tx| tx.query("SELECT 1 FROM sqlite_schema", &[], |_| Ok(false)))?;
        let syncs = CommitSyncs::start(&file.path)?;
        let signals = Arc::new(Signals::new(true));
        let (of_writer, of_file) = (syncs.clone(), Arc::clone(&signals));
        spawn("store-writer", move || {
            writer::write_batches(&connection, &waiting_writes, checkpoints, &of_writer, &of_file);
        })?;
        let (scans, waiting_scans) = bounded(STORE_QUEUE_MAX_ENTRIES);
        for _ in 0..SQLITE_SCAN_THREADS {
            let (file, waiting) = (file.clone(), waiting_scans.clone());
            spawn("store-scan", move || run_scans(&file, &waiting))?;
        }
        let (readers, changes) = (ThreadLocal::new(), watch::Sender::default());
        Ok(Self { file, readers, writes, scans, syncs, signals, changes })
    }

    /// Runs a short read inline, on the calling thread's own connection.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        let connection =
            self.readers.get_or_try(|| self.file.connect(ConnectionUse::Read).map(RefCell::new))?;
        read(&connection.borrow(), work)
    }

    pub(crate) fn scan(&self, deadline: Instant, task: Box<dyn StoreTask>) -> Result<()> {
        task::submit(&self.scans, ScanSlots { task, deadline })
    }

    pub(crate) fn write(&self, task: Box<dyn StoreTask>) -> Result<()> {
        task::submit(&self.writes, task)
    }

    pub(crate) fn gauges(&self) -> StoreGauges {
        let work = |waiting, threads| WorkGauges {
            waiting,
            connections: threads,
            connections_max: threads,
        };
        StoreGauges {
            short: work(self.writes.len(), 1),
            long: work(self.scans.len(), SQLITE_SCAN_THREADS),
            log_bytes: std::fs::metadata(log_of(&self.file.path)).ok().map(|log| log.len()),
            read_replica: None,
        }
    }
}

fn run_scans(file: &SqliteFile, queue: &Receiver<ScanSlots>) {
    // On Linux this is the priority of the calling thread alone: short requests go first.
    let _ = rustix::process::setpriority_process(None, 10);
    let mut connection = None;
    while let Ok(ScanSlots { mut task, deadline }) = queue.recv() {
        let outcome = run_scan(file, &mut connection, &mut *task, deadline);
        task.answer(outcome);
    }
}

fn run_scan(
    file: &SqliteFile,
    connection: &mut Option<Connection>,
    task: &mut dyn StoreTask,
    deadline: Instant,
) -> Result<()> {
    if Instant::now() >= deadline {
        return Err(unavailable("the server is busy with other long requests; try again later", 1));
    }
    if connection.is_none() {
        *connection = Some(file.connect(ConnectionUse::Read)?);
    }
    let connection = connection.as_mut().expect("it was opened above");
    let late = move || Instant::now() >= deadline;
    connection.progress_handler(10_000, Some(late)).map_err(Problem::internal)?;
    let ran = read(connection, |tx| {
        task.run(tx);
        Ok(())
    });
    let none: Option<fn() -> bool> = None;
    connection.progress_handler(0, none).map_err(Problem::internal)?;
    ran
}
