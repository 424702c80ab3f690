//! PostgreSQL: a connection, and what runs on it. [`pool`] has the threads.

mod address;
mod bulk;
mod client;
mod listen;
mod pool;
mod pooler;
mod queue;
mod replica;
mod tls;
mod values;

use std::collections::HashMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, Result};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement};

pub(crate) use address::PostgresAddress;
pub(crate) use client::{Client, FailedStatement};
pub(crate) use listen::exchange;
use listen::notify;
pub(crate) use pool::{Postgres, TransactionMode, WriteIsolation, reach};
pub use replica::{LogSource, MeasuredReplica, measure_delay};
pub(crate) use replica::{ReadReplica, is_of_replica_alone};
pub(crate) use values::cell;

use self::values::EncodedParameter;
use crate::limits::{
    POSTGRES_READ_WAIT_MS, POSTGRES_SILENCE_MS, POSTGRES_STATEMENT_MS, POSTGRES_TURN_MAX_MS,
    POSTGRES_TURN_WAIT_MS, STORE_STATEMENT_CACHE_ENTRIES,
};
use crate::problem::{self, NulCharacter, is_retryable, unavailable};
use crate::signals::SignalSet;
use crate::task::StoreTask;
use crate::tx::{self, Row, RowCells, Tx};
use crate::{StoreOptions, Value};

/// The first key of the advisory locks by which connections claim their shard of the tally.
const SHARD_LOCK: i32 = 0x7461_6c79;

const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Without an index is for tables that no index fits: a plan that was made while a table was small is kept
/// while it grows, and reads all of it each time. A write would depend on each row of the table, too.
const BY_INDEX: &str = "SET LOCAL enable_seqscan = off";
/// Serializable: whatever a write read is still true when it commits, or it runs again.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE";
/// For a write that locks what its rules need, and for a long one, which reads more than PostgreSQL can keep track of.
const BEGIN_ONE_STATE: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE";
const BEGIN_LATEST: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// Writes take turns by a table that every database has and nobody changes. Unlike an advisory lock, waiting
/// for it comes before the transaction's snapshot, and it ends with the transaction.
const BESIDE_OTHERS: &str = "LOCK TABLE refinery_schema_history IN ROW SHARE MODE";
const ALONE: &str = "LOCK TABLE refinery_schema_history IN EXCLUSIVE MODE";

const COMMIT: &str = "COMMIT";

/// A connection with its prepared statements.
pub(crate) struct PostgresSession {
    client: Client,
    statements: HashMap<String, Statement>,
    shard: Option<i64>,
    /// Whether its transaction writes. Only then may an error of a statement appear later, at the commit.
    is_writing: bool,
    /// Why the last statement failed, if that decides what to do with the transaction.
    fault: Option<RetryDecision>,
    /// Whether answers may be taken for those of other statements.
    is_out_of_step: bool,
    /// The time limit for the answer of a write; `None` means no limit.
    write_wait: Option<Duration>,
    /// The signals of the last transaction, if it was committed.
    signals: SignalSet,
    /// When a turn ends, whatever is left to do in it.
    turn_ends: Option<Instant>,
}

/// A failure after which a transaction is run again, or not.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RetryDecision {
    /// It ran into another one and may succeed next time.
    Collision,
    /// Another one held what it needed for too long.
    Locked,
    /// It made a record that exists by now; the next time it may see it.
    Duplicate,
    /// The connection is gone; nothing was committed.
    Lost,
    /// The connection went while the commit was on its way.
    InDoubt,
    /// A read without a transaction came to a second statement.
    NeedsSnapshot,
    /// Anything else.
    Other,
}

impl PostgresSession {
    /// Connects. Never called on a thread of an async runtime: the client has its own.
    pub(crate) fn connect(address: &PostgresAddress, options: StoreOptions) -> Result<Self> {
        let client = Client::connect(address);
        let mut client = client.map_err(|message| problem::out_of_reach().because(message))?;
        client.set_patience(Some(Duration::from_millis(POSTGRES_READ_WAIT_MS)));
        // Whatever begins no write transaction cannot write. A server that was told to commit
        // without waiting for its disk is told otherwise; a stronger setting stays.
        let setup = format!(
            "SET default_transaction_read_only = on; SET lock_timeout = {}; \
             SET jit = off; SELECT set_config('synchronous_commit', 'on', false) \
             WHERE current_setting('synchronous_commit') = 'off'",
            options.lock_wait_ms
        );
        let set_up = client.wait(&setup, async |client| client.batch_execute(&setup).await);
        set_up.map_err(FailedStatement::problem)?;
        Ok(Self {
            client,
            statements: HashMap::new(),
            shard: None,
            is_writing: false,
            fault: None,
            is_out_of_step: false,
            write_wait: None,
            signals: SignalSet::default(),
            turn_ends: None,
        })
    }

    /// [`PostgresSession::connect`] for requests, which do not wait for ever: a statement ends after a time that
    /// the address or the database may set otherwise (`statement_timeout`).
    pub(crate) fn connect_for_requests(
        address: &PostgresAddress,
        options: StoreOptions,
    ) -> Result<Self> {
        let mut session = Self::connect(address, options)?;
        // A statement that waits for a lock fails of that, and says so.
        let statement_ms = options.lock_wait_ms + POSTGRES_STATEMENT_MS;
        let sql = format!(
            "SELECT CASE setting WHEN '0' THEN {statement_ms} ELSE setting::bigint END, \
             set_config(name, CASE setting WHEN '0' THEN '{statement_ms}' ELSE setting END, false) \
             FROM pg_settings WHERE name = 'statement_timeout'"
        );
        let limit = session.wait(&sql, async |client| client.query_one(&sql, &[]).await)?;
        let limit_ms = limit.try_get::<_, i64>(0).map_err(Problem::internal)?.unsigned_abs();
        session.write_wait = Some(Duration::from_millis(limit_ms + POSTGRES_SILENCE_MS));
        Ok(session)
    }

    /// Runs a task in the transaction that its mode asks for, up to the commit. `Ok` says that
    /// the task's own result stands.
    pub(crate) fn run(
        &mut self,
        task: &mut dyn StoreTask,
        mode: TransactionMode,
        snapshot: bool,
    ) -> Result<()> {
        self.fault = None;
        self.client.set_patience(match mode {
            TransactionMode::Read(_) => {
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
            TransactionMode::Read(_) if !snapshot => {
                let mut tx = Tx::of_one_statement(tx::TxConnection::Postgres(self));
                task.run(&mut tx);
                if tx.needs_transaction() {
                    self.fault.get_or_insert(RetryDecision::NeedsSnapshot);
                }
                return Ok(());
            }
            TransactionMode::Read(_) => self.send_command(BEGIN_READ)?,
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
            TransactionMode::Write(sees) => return self.write(task, sees, false),
            TransactionMode::Alone(sees) => {
                let written = self.write(task, sees, true);
                self.turn_ends = None;
                // Someone who is not in this turn holds what it needs, such as an import. Those who wait
                // for the turn do not wait for that.
                if self.fault == Some(RetryDecision::Locked) {
                    self.fault = Some(RetryDecision::Collision);
                }
                return written;
            }
        }
        task.run(&mut Tx::new(tx::TxConnection::Postgres(self)));
        self.rollback();
        Ok(())
    }

    fn write(&mut self, task: &mut dyn StoreTask, sees: WriteIsolation, alone: bool) -> Result<()> {
        // Where all of it is sent at once, nobody could tell later whether the commit was done.
        if !self.client.is_connected() {
            self.fault = Some(RetryDecision::Lost);
            return Err(problem::out_of_reach());
        }
        let begin = match sees {
            WriteIsolation::Snapshot => BEGIN_WRITE,
            WriteIsolation::LockedRows => BEGIN_ONE_STATE,
            WriteIsolation::Latest => BEGIN_LATEST,
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
        let mut tx = match sees {
            WriteIsolation::Snapshot | WriteIsolation::LockedRows => {
                Tx::new(tx::TxConnection::Postgres(self))
            }
            WriteIsolation::Latest => Tx::latest(tx::TxConnection::Postgres(self)),
        };
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

    /// The session again, if the server still answers on its connection.
    pub(crate) fn if_it_answers(mut self) -> Option<Self> {
        self.client.set_patience(Some(Duration::from_millis(POSTGRES_READ_WAIT_MS)));
        self.command("SELECT 1").ok().filter(|()| !self.is_out_of_step)?;
        Some(self)
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
        let result = work(&mut Tx::new(tx::TxConnection::Postgres(self)));
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
        let mut tx = Tx::long(tx::TxConnection::Postgres(self));
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

    /// Takes the signals of the last transaction.
    pub(crate) fn take_signals(&mut self) -> SignalSet {
        std::mem::take(&mut self.signals)
    }

    pub(crate) fn fault(&self) -> Option<RetryDecision> {
        self.fault
    }

    /// Whether it serves further tasks, as the outcome of the last one tells.
    pub(crate) fn is_of_use(&self, outcome: &Result<()>) -> bool {
        let is_kept = match self.fault {
            Some(RetryDecision::Lost | RetryDecision::InDoubt) => false,
            Some(RetryDecision::Collision | RetryDecision::Duplicate) => true,
            Some(RetryDecision::Locked | RetryDecision::NeedsSnapshot | RetryDecision::Other)
            | None => outcome.is_ok(),
        };
        is_kept && !self.is_out_of_step
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

    fn send_command(&mut self, sql: &str) -> Result<()> {
        let (client, text) = (self.client.handle(), sql.to_owned());
        let sent = self.client.send(sql, 0, async move { client.batch_execute(&text).await });
        self.note(sent)
    }

    fn command(&mut self, sql: &str) -> Result<()> {
        self.wait(sql, async |client| client.batch_execute(sql).await)
    }

    fn wait<T>(
        &mut self,
        sql: &str,
        ask: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T> {
        let answer = self.client.wait(sql, ask);
        self.note(answer)
    }

    /// The problem of a failed statement; its fault is remembered unless one came before.
    fn note<T>(&mut self, answer: Result<T, FailedStatement>) -> Result<T> {
        let failed = match answer {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        let found = match failed.failure.code() {
            _ if failed.failure.is_lost() => RetryDecision::Lost,
            Some(code) if is_retryable(code) => RetryDecision::Collision,
            Some(&SqlState::UNIQUE_VIOLATION) => RetryDecision::Duplicate,
            Some(&SqlState::LOCK_NOT_AVAILABLE) => RetryDecision::Locked,
            _ => RetryDecision::Other,
        };
        self.fault.get_or_insert(found);
        Err(failed.problem())
    }

    /// The tally shard that belongs to this connection alone, over all processes.
    pub(crate) fn shard(&mut self) -> Result<i64> {
        let mut free = self.shard.unwrap_or(0);
        while self.shard.is_none() {
            let sql = format!("SELECT pg_try_advisory_lock({SHARD_LOCK}, {free})");
            let row = self.wait(&sql, async |client| client.query_one(&sql, &[]).await)?;
            if row.get(0) {
                self.shard = Some(free);
            } else {
                free += 1;
            }
        }
        Ok(free)
    }

    pub(crate) fn query(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let statement = self.prepare(sql)?;
        let rows = self.wait(sql, async |client| client.query_raw(&statement, params).await)?;
        let mut rows = pin!(rows);
        loop {
            let row = self.client.next(rows.as_mut());
            match self.note(row.map_err(|failure| FailedStatement::new(failure, sql)))? {
                Some(row) if each(&Row(RowCells::Postgres(&row)))? => {}
                _ => return Ok(()),
            }
        }
    }

    /// Every row at once: rows that are taken one by one cost a turn of the client's event loop each.
    pub(crate) fn all(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
    ) -> Result<Vec<tokio_postgres::Row>> {
        let statement = self.prepare(sql)?;
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| value as _).collect();
        self.wait(sql, async |client| client.query(&statement, &params).await)
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| value as _).collect();
        self.execute_with(sql, &params)
    }

    /// Runs a statement whose failure may show later.
    pub(crate) fn send(&mut self, sql: &str, params: &[Value<'_>]) -> Result<()> {
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| value as _).collect();
        self.send_with(sql, &params)
    }

    fn send_with(&mut self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<()> {
        if !self.is_writing {
            return self.execute_with(sql, params).map(drop);
        }
        let statement = self.prepare(sql)?;
        let types = statement.params();
        assert_eq!(types.len(), params.len(), "{sql} has a value for each parameter");
        let encoded =
            types.iter().zip(params).map(|(kind, param)| EncodedParameter::of(*param, kind));
        let encoded: Vec<EncodedParameter> =
            encoded.collect::<Result<_, _>>().map_err(|cause| {
                self.fault.get_or_insert(RetryDecision::Other);
                if cause.is::<NulCharacter>() { problem::nul() } else { Problem::internal(cause) }
            })?;
        let size = encoded.iter().map(EncodedParameter::size).sum();
        let client = self.client.handle();
        let answer =
            async move { client.execute_raw(&statement, encoded).await.map(|_changed| ()) };
        let sent = self.client.send(sql, size, answer);
        self.note(sent)
    }

    fn execute_with(&mut self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        let statement = self.prepare(sql)?;
        self.wait(sql, async |client| client.execute(&statement, params).await)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        if self.turn_ends.is_some_and(|end| Instant::now() >= end) {
            self.fault.get_or_insert(RetryDecision::Other);
            return Err(problem::turn_is_over());
        }
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.wait(sql, async |client| client.prepare(sql).await)?;
        if self.statements.len() >= STORE_STATEMENT_CACHE_ENTRIES {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}
