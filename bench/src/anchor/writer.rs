//! Group commit in its plainest form: one thread takes every waiting row, commits once, answers all.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::database::open;

/// Rows that share one commit at most.
const ROWS_PER_COMMIT: usize = 5000;

/// A user to store, and whom to tell once it is durable.
pub(super) struct Write {
    pub(super) id: String,
    pub(super) body: String,
    pub(super) done: oneshot::Sender<()>,
}

/// Starts the writer thread. Dropping the sender ends it.
pub(super) fn start(path: &Path) -> Result<mpsc::UnboundedSender<Write>> {
    let mut connection = open(path, "FULL")?;
    let (sender, mut waiting) = mpsc::unbounded_channel::<Write>();
    std::thread::Builder::new()
        .name("writer".into())
        .spawn(move || {
            while let Some(first) = waiting.blocking_recv() {
                commit(&mut connection, first, &mut waiting)
                    .expect("the anchor's disk takes writes");
            }
        })
        .context("cannot start the anchor's writer")?;
    Ok(sender)
}

/// Commits `first` and everything that waits behind it, then answers all.
fn commit(
    connection: &mut Connection,
    first: Write,
    waiting: &mut mpsc::UnboundedReceiver<Write>,
) -> Result<()> {
    let mut answered = Vec::new();
    let transaction = connection.transaction()?;
    let mut next = Some(first);
    while let Some(write) = next {
        transaction
            .prepare_cached("insert or replace into users(id, body) values (?, ?)")?
            .execute([write.id, write.body])?;
        answered.push(write.done);
        next = if answered.len() < ROWS_PER_COMMIT { waiting.try_recv().ok() } else { None };
    }
    transaction.commit()?;
    for done in answered {
        // A client that went away needs no answer.
        let _ = done.send(());
    }
    Ok(())
}
