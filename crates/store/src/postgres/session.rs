//! A connection, and statements on it.

use std::collections::HashMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use lyceum_core::{Problem, Result};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement};

use super::values::EncodedParameter;
use super::{Client, FailedStatement, PostgresAddress};
use crate::limits::{
    POSTGRES_READ_WAIT_MS, POSTGRES_SILENCE_MS, POSTGRES_STATEMENT_MS,
    STORE_STATEMENT_CACHE_ENTRIES,
};
use crate::problem::{self, NulCharacter, is_retryable};
use crate::row::RowCells;
use crate::signals::SignalSet;
use crate::{Row, StoreOptions, Value};

/// The first key of the advisory locks by which connections claim their shard of the tally.
const SHARD_LOCK: i32 = 0x7461_6c79;

/// A connection with its prepared statements.
pub(crate) struct PostgresSession {
    pub(super) client: Client,
    statements: HashMap<String, Statement>,
    shard: Option<i64>,
    /// Whether its transaction writes. Only then may an error of a statement appear later, at the commit.
    pub(super) is_writing: bool,
    /// Why the last statement failed, if that decides what to do with the transaction.
    pub(super) fault: Option<RetryDecision>,
    /// Whether answers may be taken for those of other statements.
    pub(super) is_out_of_step: bool,
    /// The time limit for the answer of a write; `None` means no limit.
    pub(super) write_wait: Option<Duration>,
    /// The signals of the last transaction, if it was committed.
    pub(super) signals: SignalSet,
    /// The number of statements that a read without a transaction has asked for; `None` in a transaction.
    pub(super) statements_alone: Option<usize>,
    /// When a turn ends, whatever is left to do in it.
    pub(super) turn_ends: Option<Instant>,
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
            statements_alone: None,
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

    /// The session again, if the server still answers on its connection.
    pub(crate) fn if_it_answers(mut self) -> Option<Self> {
        self.client.set_patience(Some(Duration::from_millis(POSTGRES_READ_WAIT_MS)));
        self.command("SELECT 1").ok().filter(|()| !self.is_out_of_step)?;
        Some(self)
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
            Some(RetryDecision::Locked | RetryDecision::Other) | None => outcome.is_ok(),
        };
        is_kept && !self.is_out_of_step
    }

    pub(super) fn send_command(&mut self, sql: &str) -> Result<()> {
        let (client, text) = (self.client.handle(), sql.to_owned());
        let sent = self.client.send(sql, 0, async move { client.batch_execute(&text).await });
        self.note(sent)
    }

    pub(super) fn command(&mut self, sql: &str) -> Result<()> {
        self.wait(sql, async |client| client.batch_execute(sql).await)
    }

    pub(super) fn wait<T>(
        &mut self,
        sql: &str,
        ask: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T> {
        let answer = self.client.wait(sql, ask);
        self.note(answer)
    }

    /// The problem of a failed statement; its fault is remembered unless one came before.
    pub(super) fn note<T>(&mut self, answer: Result<T, FailedStatement>) -> Result<T> {
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

    pub(super) fn send_with(&mut self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<()> {
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

    pub(super) fn execute_with(
        &mut self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<u64> {
        let statement = self.prepare(sql)?;
        self.wait(sql, async |client| client.execute(&statement, params).await)
    }

    pub(super) fn prepare(&mut self, sql: &str) -> Result<Statement> {
        if self.turn_ends.is_some_and(|end| Instant::now() >= end) {
            self.fault.get_or_insert(RetryDecision::Other);
            return Err(problem::turn_is_over());
        }
        if let Some(count) = &mut self.statements_alone {
            *count += 1;
            if *count > 1 {
                return Err(Problem::internal("a second statement needs a transaction"));
            }
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
