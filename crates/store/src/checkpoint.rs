//! Carrying an SQLite write-ahead log over into its file beside the writer, which then neither copies
//! pages nor waits for the file's sync: that is a third of what a durable write of many pages costs.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};
use lyceum_core::Result;
use rusqlite::Connection;

use crate::problem;
use crate::sqlite::{ConnectionUse, SqliteFile};
use crate::task::spawn;

/// Changed rows after which the log is carried over: a page that many of them touch is written once.
const ROWS: u64 = 4000;

/// Wakes the thread that carries over.
pub(crate) struct Checkpoints {
    wake: Sender<()>,
    /// Rows that the writer's connection had changed when it woke the thread last.
    rows: u64,
}

impl Checkpoints {
    /// Starts the thread; it ends when this is dropped.
    pub(crate) fn start(file: Arc<SqliteFile>) -> Result<Self> {
        let (wake, woken) = bounded(1);
        spawn("store-checkpoint", move || carry_over(&file, &woken))?;
        Ok(Self { wake, rows: 0 })
    }

    /// Says that the writer has committed.
    pub(crate) fn committed(&mut self, writer: &Connection) {
        let rows = writer.total_changes();
        if rows - self.rows >= ROWS {
            self.rows = rows;
            let _ = self.wake.try_send(()); // an error means that it is awake
        }
    }
}

fn carry_over(file: &SqliteFile, woken: &Receiver<()>) {
    // On Linux this is the priority of the calling thread alone, so threads that answer requests go first.
    let _ = rustix::process::setpriority_process(None, 10);
    let mut connection = None;
    while woken.recv().is_ok() {
        // A failure shows in the writer, which carries over whatever is left.
        if let Err(problem) = checkpoint(file, &mut connection) {
            tracing::debug!(%problem, "no checkpoint");
        }
    }
}

/// Carries the log over, on a connection that the first use opens.
fn checkpoint(file: &SqliteFile, connection: &mut Option<Connection>) -> Result<()> {
    if connection.is_none() {
        *connection = Some(file.connect(ConnectionUse::Checkpoint)?);
    }
    let sql = "PRAGMA wal_checkpoint(PASSIVE)";
    let ran = connection.as_ref().map_or(Ok(()), |connection| connection.execute_batch(sql));
    ran.map_err(|error| problem::sqlite(&error, sql))
}
