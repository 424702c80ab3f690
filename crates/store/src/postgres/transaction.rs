//! A transaction on a connection.

use std::time::{Duration, Instant};

use lyceum_core::Result;

use super::listen::notify;
use super::session::{PostgresSession, RetryDecision};
use crate::limits::{
    POSTGRES_READ_WAIT_MS, POSTGRES_SILENCE_MS, POSTGRES_TURN_MAX_MS, POSTGRES_TURN_WAIT_MS,
};
use crate::options::WriteIsolation;
use crate::problem::{self, unavailable};
use crate::task::StoreTask;
use crate::tx::TxConnection;
use crate::{StatementsSee, Tx};

const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Without an index is for tables that no index fits: a plan that was made while a table was small is kept
/// while it grows, and reads all of it each time. A write would depend on each row of the table, too.
const BY_INDEX: &str = "SET LOCAL enable_seqscan = off";
/// Serializable: whatever a write read is still true when it commits, or it runs again.
const BEGIN_SERIALIZABLE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE";
/// For a write that locks what its rules need, and for a long one, which reads more than PostgreSQL can keep track of.
const BEGIN_ONE_STATE: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE";
const BEGIN_LATEST: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// Writes take turns by a table that every database has and nobody changes. Unlike an advisory lock, waiting
/// for it comes before the transaction's snapshot, and it ends with the transaction.
const BESIDE_OTHERS: &str = "LOCK TABLE refinery_schema_history IN ROW SHARE MODE";
const ALONE: &str = "LOCK TABLE refinery_schema_history IN EXCLUSIVE MODE";

const COMMIT: &str = "COMMIT";

/// The mode of a task's transaction.
#[derive(Clone, Copy)]
pub(crate) enum TransactionMode {
    /// A short read.
    Read,
    /// A read that ends at the instant.
    Scan(Instant),
    /// A write.
    Write(WriteIsolation),
    /// A write that ran into others, who wait now until it has ended.
    Alone(WriteIsolation),
}

impl PostgresSession {
    /// Runs a task in the transaction that its mode asks for, up to the commit. `Ok` says that
    /// the task's own result stands.
    pub(crate) fn run(&mut self, task: &mut dyn StoreTask, mode: TransactionMode) -> Result<()> {
        self.fault = None;
        self.client.set_patience(match mode {
            TransactionMode::Read => {
                let most = Duration::from_millis(POSTGRES_READ_WAIT_MS);
                Some(self.write_wait.map_or(most, |wait| wait.min(most)))
            }
            TransactionMode::Scan(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                Some(left + Duration::from_millis(POSTGRES_SILENCE_MS))
            }
            TransactionMode::Write(_) | TransactionMode::Alone(_) => self.write_wait,
        });
        self.is_writing = matches!(mode, TransactionMode::Write(_) | TransactionMode::Alone(_));
        match mode {
            TransactionMode::Read => {
                // A statement sees one state by itself. Many reads have no second one, and a transaction would double
                // what PostgreSQL has to do for them.
                self.statements_alone = Some(0);
                task.run(&mut Tx::new(TxConnection::Postgres(self)));
                match self.statements_alone.take() {
                    Some(0..=1) => return Ok(()),
                    None => {
                        self.rollback();
                        return Ok(());
                    }
                    Some(_) => self.send_command(BEGIN_READ)?,
                }
            }
            TransactionMode::Scan(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now()).as_millis();
                if left == 0 {
                    return Err(unavailable(
                        "the server is busy with other long requests; try again later",
                        1,
                    ));
                }
                self.send_command(&format!("{BEGIN_READ}; SET LOCAL statement_timeout = {left}"))?;
            }
            TransactionMode::Write(isolation) => return self.write(task, isolation, false),
            TransactionMode::Alone(isolation) => {
                let written = self.write(task, isolation, true);
                self.turn_ends = None;
                // Someone who is not in this turn holds what it needs, such as an import. Those who wait
                // for the turn do not wait for that.
                if self.fault == Some(RetryDecision::Locked) {
                    self.fault = Some(RetryDecision::Collision);
                }
                return written;
            }
        }
        task.run(&mut Tx::new(TxConnection::Postgres(self)));
        self.rollback();
        Ok(())
    }

    /// Begins the transaction of a read that has asked for no statement yet, and perhaps has none.
    pub(crate) fn begin_snapshot(&mut self) -> Result<()> {
        match self.statements_alone.take_if(|count| *count == 0) {
            Some(_) => self.send_command(BEGIN_READ),
            None => Ok(()),
        }
    }

    fn write(
        &mut self,
        task: &mut dyn StoreTask,
        isolation: WriteIsolation,
        alone: bool,
    ) -> Result<()> {
        // Where all of it is sent at once, nobody could tell later whether the commit was done.
        if !self.client.is_connected() {
            self.fault = Some(RetryDecision::Lost);
            return Err(problem::out_of_reach());
        }
        let begin = match isolation {
            WriteIsolation::Serializable => BEGIN_SERIALIZABLE,
            WriteIsolation::Locks(StatementsSee::OneState) => BEGIN_ONE_STATE,
            WriteIsolation::Locks(StatementsSee::LatestCommits) => BEGIN_LATEST,
        };
        if alone {
            let most = Duration::from_millis(POSTGRES_TURN_MAX_MS);
            let silence = Duration::from_millis(POSTGRES_SILENCE_MS);
            let limit = self
                .write_wait
                .map_or(most, |wait| most.min(wait.saturating_sub(silence)))
                .as_millis();
            let limits = format!(
                "SET LOCAL lock_timeout = {POSTGRES_TURN_WAIT_MS}; \
                 SET LOCAL statement_timeout = {limit}"
            );
            if let Err(problem) = self.command(&format!("{begin}; {BY_INDEX}; {limits}; {ALONE}")) {
                self.rollback();
                return Err(problem);
            }
            self.turn_ends = Some(Instant::now() + most);
        } else {
            self.send_command(&format!("{begin}; {BY_INDEX}; {BESIDE_OTHERS}"))?;
        }
        let mut tx = Tx::writing(TxConnection::Postgres(self), isolation);
        if !task.run(&mut tx) {
            self.rollback();
            return Ok(());
        }
        let (finished, signals) = (tx.finish(), tx.signals());
        let written = finished.and_then(|()| self.commit());
        match written {
            Ok(()) => self.signals = signals,
            Err(_) => self.rollback(),
        }
        written
    }

    /// Runs a read of any length once.
    pub(crate) fn read_once<T>(
        &mut self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.client.set_patience(None);
        self.fault = None;
        self.is_writing = false;
        self.send_command(BEGIN_READ)?;
        let result = work(&mut Tx::new(TxConnection::Postgres(self)));
        self.rollback();
        result
    }

    /// Runs a write of any length once.
    pub(crate) fn write_once<T>(
        &mut self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.client.set_patience(None);
        self.fault = None;
        // Claimed before the snapshot, so that the former owner's counts are in it.
        self.shard()?;
        self.is_writing = true;
        self.send_command(&format!("{BEGIN_ONE_STATE}; {BY_INDEX}"))?;
        let isolation = WriteIsolation::Locks(StatementsSee::OneState);
        let mut tx = Tx::writing(TxConnection::Postgres(self), isolation);
        let result = work(&mut tx);
        // An early return leaves the transaction open; it ends with the connection.
        let result = tx.settle(result)?;
        tx.finish()?;
        let signals = tx.signals();
        self.commit()?;
        if !signals.is_empty() {
            // This process may have no connection that sends signals. They may be lost.
            let _ = self.command(&notify(signals));
        }
        Ok(result)
    }

    fn commit(&mut self) -> Result<()> {
        let answer = self.client.wait(COMMIT, async |client| client.batch_execute(COMMIT).await);
        // The server answers in the order in which it was asked: what it refused before, it did not commit.
        let is_refused = answer
            .as_ref()
            .is_err_and(|failed| failed.sql != COMMIT && failed.failure.is_refusal());
        let Err(problem) = self.note(answer) else { return Ok(()) };
        if self.fault != Some(RetryDecision::Lost) || is_refused {
            return Err(problem);
        }
        self.fault = Some(RetryDecision::InDoubt);
        Err(unavailable(
            "the connection to the database was lost while it stored the request; check whether \
             the data was stored, then try again",
            2,
        )
        .because(problem))
    }

    fn rollback(&mut self) {
        let fault = self.fault;
        if fault != Some(RetryDecision::Lost) && self.command("ROLLBACK").is_ok() {
            self.fault = fault;
        }
    }
}
