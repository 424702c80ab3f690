//! The thread that writes to SQLite: it commits the writes that wait together.

use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use lyceum_core::Result;
use rusqlite::Connection;

use super::statements::execute;
use super::transaction::Transaction;
use crate::checkpoint::Checkpoints;
use crate::durable::CommitSyncs;
use crate::limits::{STORE_WRITE_BATCH_MAX_ENTRIES, STORE_WRITE_BATCH_OPEN_MS};
use crate::pending::CountDeltas;
use crate::problem;
use crate::signals::{SignalSet, Signals};
use crate::task::StoreTask;
use crate::tx::{Tx, TxConnection};

const BATCH_OPEN: Duration = Duration::from_millis(STORE_WRITE_BATCH_OPEN_MS);

/// Runs writes until the queue is closed.
pub(super) fn write_batches(
    connection: &Connection,
    queue: &Receiver<Box<dyn StoreTask>>,
    mut checkpoints: Checkpoints,
    syncs: &CommitSyncs,
    signals: &Signals,
) {
    while let Ok(first) = queue.recv() {
        let mut done = Vec::new();
        match write_batch(connection, first, queue, &mut done) {
            Ok(raised) => {
                signals.written.add(raised);
                syncs.committed(done);
            }
            Err(problem) => {
                // Who waits behind a failed batch would wait as long for the same answer.
                done.extend(queue.try_iter().take(STORE_WRITE_BATCH_MAX_ENTRIES));
                tracing::error!(%problem, writes = done.len(), "no commit");
                for task in done {
                    task.answer(Err(problem::copy(&problem)));
                }
            }
        }
        checkpoints.committed(connection);
    }
}

/// Runs the waiting closures and commits them together, with those that come within its first moment: a
/// commit of few costs a short write a tenth more. Behind a long write nobody is taken along: where all
/// who write wait for one commit, nobody is left to send what the next one is made of.
///
/// A savepoint a closure would cost a tenth of a short write, so there is none at first. Most
/// refusals come before a closure has written anything; if one comes later, the batch is rolled
/// back and run again with savepoints.
fn write_batch(
    connection: &Connection,
    first: Box<dyn StoreTask>,
    queue: &Receiver<Box<dyn StoreTask>>,
    done: &mut Vec<Box<dyn StoreTask>>,
) -> Result<SignalSet> {
    done.push(first);
    done.extend(queue.try_iter().take(STORE_WRITE_BATCH_MAX_ENTRIES - 1));
    let begun = Instant::now();
    let mut transaction = Transaction::begin(connection, "BEGIN IMMEDIATE")?;
    let (mut deltas, mut signals) = (CountDeltas::default(), SignalSet::default());
    let mut careful = false;
    let mut at = 0;
    while at < done.len() {
        let task = &mut *done[at];
        if careful {
            write_in_savepoint(connection, task, &mut deltas, &mut signals)?;
        } else if !write_bare(connection, task, &mut deltas, &mut signals) {
            drop(transaction);
            transaction = Transaction::begin(connection, "BEGIN IMMEDIATE")?;
            (deltas, signals) = (CountDeltas::default(), SignalSet::default());
            careful = true;
            at = 0;
            continue;
        }
        at += 1;
        let is_open = begun.elapsed() < BATCH_OPEN && at < STORE_WRITE_BATCH_MAX_ENTRIES;
        if is_open && at == done.len() {
            done.extend(queue.try_recv());
        }
    }
    Tx::new(TxConnection::Sqlite(connection)).write_counts(deltas, 0)?;
    transaction.commit()?;
    Ok(signals)
}

/// Runs a closure. Answers whether nothing stays of it if it was refused.
fn write_bare(
    connection: &Connection,
    task: &mut dyn StoreTask,
    deltas: &mut CountDeltas,
    signals: &mut SignalSet,
) -> bool {
    let before = connection.total_changes();
    let mut tx = Tx::new(TxConnection::Sqlite(connection));
    if task.run(&mut tx) {
        deltas.merge(tx.take_deltas());
        signals.merge(tx.signals());
        return true;
    }
    // A full disk ends the whole transaction.
    connection.total_changes() == before && !connection.is_autocommit()
}

fn write_in_savepoint(
    connection: &Connection,
    task: &mut dyn StoreTask,
    deltas: &mut CountDeltas,
    signals: &mut SignalSet,
) -> Result<()> {
    execute(connection, "SAVEPOINT one", &[])?;
    let mut tx = Tx::new(TxConnection::Sqlite(connection));
    if task.run(&mut tx) {
        deltas.merge(tx.take_deltas());
        signals.merge(tx.signals());
    } else {
        execute(connection, "ROLLBACK TO one", &[])?;
    }
    execute(connection, "RELEASE one", &[]).map(drop)
}
