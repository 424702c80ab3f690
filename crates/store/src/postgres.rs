//! PostgreSQL: a connection, and what runs on it. [`pool`] has the threads.

mod client;
mod pool;
mod values;

use std::collections::HashMap;
use std::pin::pin;
use std::time::Instant;

use lyceum_core::limits::{INSERT_CHUNK_ROWS, STORE_STATEMENT_CACHE_ENTRIES};
use lyceum_core::{Problem, Result};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Error, Statement};

pub(crate) use client::{Client, Failed};
pub(crate) use pool::{Mode, Postgres, Sees, address, reach};
pub(crate) use values::cell;

use self::values::Encoded;
use crate::problem::{self, Nul, is_lost, is_retryable, unavailable};
use crate::task::Task;
use crate::tx::{self, Cells, Row, Tx};
use crate::{Options, Value};

/// The first key of the advisory locks by which connections claim their shard of the tally.
const SHARD_LOCK: i32 = 0x7461_6c79;

/// The advisory lock that gives way to writes which run again and again: those that see the latest share it,
/// since they never run again themselves and leave no moment to those that do.
const AGAIN_LOCK: i64 = 0x6c79_6365_756e;

/// So many rows are streamed: fewer cost less in a statement, which is one way to the server and back.
const COPY_MIN_ROWS: usize = 100;

const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Repeatable read turns a lost update into a serialization failure, which is run again. Without an
/// index is for tables where none fits: a plan that was made while a table was small is kept while it
/// grows, and reads all of it each time.
const BEGIN_WRITE: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE; SET LOCAL enable_seqscan = off";
const BEGIN_LATEST: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL enable_seqscan = off";

/// A connection with its prepared statements.
pub(crate) struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
    shard: Option<i64>,
    scope: Scope,
    /// Why the last statement failed, where that decides what to do with the transaction.
    fault: Option<Fault>,
}

/// What the next statement belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// A transaction that writes: only there may a failure show later, at the commit.
    Write,
    /// A transaction that reads.
    Read,
    /// A read that has run nothing yet: one statement is a snapshot by itself.
    FirstStatement,
    /// A read that has used its one statement.
    NoStatement,
}

/// A failure after which a transaction is run again, or not.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// It ran into another one and may succeed next time.
    Collision,
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

impl Session {
    /// Connects. Never called on a thread of an async runtime: the client has its own.
    pub(crate) fn connect(config: &Config, options: Options) -> Result<Self> {
        let mut client =
            Client::connect(config).map_err(|error| problem::postgres(&error, "connecting"))?;
        // Whatever begins no write transaction cannot write. A server that was told to commit
        // without waiting for its disk is told otherwise; a stronger setting stays.
        let setup = format!(
            "SET default_transaction_read_only = on; SET lock_timeout = {}; \
             SET jit = off; SELECT set_config('synchronous_commit', 'on', false) \
             WHERE current_setting('synchronous_commit') = 'off'",
            options.lock_wait_ms
        );
        let set_up = client.wait(&setup, async |client| client.batch_execute(&setup).await);
        set_up.map_err(Failed::problem)?;
        Ok(Self {
            client,
            statements: HashMap::new(),
            shard: None,
            scope: Scope::Read,
            fault: None,
        })
    }

    /// Runs a task in the transaction that its mode asks for, up to the commit. `Ok` says that
    /// the task's own result stands.
    pub(crate) fn run(&mut self, task: &mut dyn Task, mode: Mode, snapshot: bool) -> Result<()> {
        self.fault = None;
        self.scope = match mode {
            Mode::Read(_) if !snapshot => Scope::FirstStatement,
            Mode::Read(_) | Mode::Scan(_) => Scope::Read,
            Mode::Write(_) | Mode::Again(_) => Scope::Write,
        };
        match mode {
            Mode::Read(_) if !snapshot => {
                task.run(&mut Tx::new(tx::Session::Postgres(self)));
                return Ok(());
            }
            Mode::Read(_) => self.send_command(BEGIN_READ)?,
            Mode::Scan(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now()).as_millis();
                if left == 0 {
                    return Err(unavailable("Other long requests came first; try again", 1));
                }
                self.send_command(&format!("{BEGIN_READ}; SET LOCAL statement_timeout = {left}"))?;
            }
            Mode::Write(sees) => return self.write(task, sees),
            Mode::Again(sees) => {
                self.command(&format!("SELECT pg_advisory_lock({AGAIN_LOCK})"))?;
                self.write(task, sees)?;
                // What was committed stays so. Where this fails, the connection is gone, and its lock.
                let _ = self.command(&format!("SELECT pg_advisory_unlock({AGAIN_LOCK})"));
                return Ok(());
            }
        }
        task.run(&mut Tx::new(tx::Session::Postgres(self)));
        self.rollback();
        Ok(())
    }

    fn write(&mut self, task: &mut dyn Task, sees: Sees) -> Result<()> {
        let mut tx = match sees {
            Sees::Snapshot => {
                self.send_command(BEGIN_WRITE)?;
                Tx::new(tx::Session::Postgres(self))
            }
            Sees::Latest => {
                let lock = format!("SELECT pg_advisory_xact_lock_shared({AGAIN_LOCK})");
                self.send_command(&format!("{BEGIN_LATEST}; {lock}"))?;
                Tx::latest(tx::Session::Postgres(self))
            }
        };
        if !task.run(&mut tx) {
            self.rollback();
            return Ok(());
        }
        tx.flush_tally()?;
        self.commit()
    }

    /// Runs a read of any length once.
    pub(crate) fn read_once<T>(
        &mut self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.scope = Scope::Read;
        self.send_command(BEGIN_READ)?;
        let result = work(&mut Tx::new(tx::Session::Postgres(self)));
        self.rollback();
        result
    }

    /// Runs a write of any length once.
    pub(crate) fn write_once<T>(
        &mut self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        // Claimed before the snapshot, so that the former owner's counts are in it.
        self.shard()?;
        self.scope = Scope::Write;
        self.send_command(BEGIN_WRITE)?;
        let mut tx = Tx::new(tx::Session::Postgres(self));
        let result = work(&mut tx);
        // An early return leaves the transaction open; it ends with the connection.
        let result = tx.settle(result)?;
        tx.flush_tally()?;
        self.commit()?;
        Ok(result)
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    fn commit(&mut self) -> Result<()> {
        let Err(problem) = self.command("COMMIT") else { return Ok(()) };
        if self.fault != Some(Fault::Lost) {
            return Err(problem);
        }
        self.fault = Some(Fault::InDoubt);
        Err(unavailable(
            "The database was lost while it stored this; read whether it did, then try again",
            2,
        )
        .because(problem))
    }

    fn rollback(&mut self) {
        let fault = self.fault;
        if fault != Some(Fault::Lost) && self.command("ROLLBACK").is_ok() {
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
    fn note<T>(&mut self, answer: Result<T, Failed>) -> Result<T> {
        let failed = match answer {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        let found = match failed.error.code() {
            _ if is_lost(&failed.error) => Fault::Lost,
            Some(code) if is_retryable(code) => Fault::Collision,
            Some(&SqlState::UNIQUE_VIOLATION) => Fault::Duplicate,
            _ => Fault::Other,
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
            match self.note(row.map_err(|error| Failed { error, sql: sql.to_owned() }))? {
                Some(row) if each(&Row(Cells::Postgres(&row)))? => {}
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
        if self.scope != Scope::Write {
            return self.execute_with(sql, params).map(drop);
        }
        let statement = self.prepare(sql)?;
        let types = statement.params().iter();
        let encoded = types.zip(params).map(|(kind, param)| Encoded::of(*param, kind));
        let encoded: Vec<Encoded> = encoded.collect::<Result<_, _>>().map_err(|cause| {
            self.fault.get_or_insert(Fault::Other);
            if cause.is::<Nul>() { problem::nul() } else { Problem::internal(cause) }
        })?;
        let size = encoded.iter().map(Encoded::size).sum();
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
        match self.scope {
            Scope::Write | Scope::Read => {}
            Scope::FirstStatement => self.scope = Scope::NoStatement,
            Scope::NoStatement => {
                self.fault = Some(Fault::NeedsSnapshot);
                return Err(Problem::internal("this read has more than one statement"));
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

    pub(crate) fn insert_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        values: &[Value<'_>],
        conflict: &str,
    ) -> Result<u64> {
        if is_copied(columns, values, conflict) {
            return self.copy_rows(table, columns, values);
        }
        let mut changed = 0;
        for rows in values.chunks(columns.len() * INSERT_CHUNK_ROWS) {
            let arrays = by_column(columns.len(), rows);
            let unrolled = Unrolled::of(&arrays);
            changed +=
                self.execute_with(&unrolled.insert(table, columns, conflict), &unrolled.params)?;
        }
        Ok(changed)
    }

    /// Inserts rows; a failure may show later.
    pub(crate) fn send_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        values: &[Value<'_>],
        conflict: &str,
    ) -> Result<()> {
        if is_copied(columns, values, conflict) {
            return self.copy_rows(table, columns, values).map(drop);
        }
        for rows in values.chunks(columns.len() * INSERT_CHUNK_ROWS) {
            let arrays = by_column(columns.len(), rows);
            let unrolled = Unrolled::of(&arrays);
            self.send_with(&unrolled.insert(table, columns, conflict), &unrolled.params)?;
        }
        Ok(())
    }

    /// Inserts rows as one stream, which the server puts into pages many at a time.
    fn copy_rows(&mut self, table: &str, columns: &[&str], values: &[Value<'_>]) -> Result<u64> {
        let names = columns.join(", ");
        let types = self.prepare(&format!("SELECT {names} FROM {table}"))?;
        let types: Vec<Type> = types.columns().iter().map(|one| one.type_().clone()).collect();
        let sql = format!("COPY {table} ({names}) FROM STDIN (FORMAT binary)");
        let statement = self.prepare(&sql)?;
        self.wait(&sql, async |client| {
            let stream = client.copy_in(&statement).await?;
            let mut rows = pin!(BinaryCopyInWriter::new(stream, &types));
            for row in values.chunks(columns.len()) {
                rows.as_mut().write_raw(row).await?;
            }
            rows.finish().await
        })
    }

    /// Updates rows as `Tx::update_rows` says.
    pub(crate) fn update_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        keys: &[&str],
        values: &[Value<'_>],
    ) -> Result<u64> {
        let width = columns.len() + keys.len();
        if values.len() == width {
            // The text of one row does not depend on which values are NULL: one plan for all.
            let cells = |from: usize| (from..).map(|n| format!("${n}"));
            let sql = update(table, columns, cells(1), "", keys, cells(columns.len() + 1));
            return self.execute(&sql, values);
        }
        let mut changed = 0;
        for rows in values.chunks(width * INSERT_CHUNK_ROWS) {
            let arrays = by_column(width, rows);
            let Unrolled { cells, from, params } = Unrolled::of(&arrays);
            let (sets, finds) = cells.split_at(columns.len());
            let from = format!("FROM {from}");
            let sql = update(table, columns, sets.iter(), &from, keys, finds.iter());
            changed += self.execute_with(&sql, &params)?;
        }
        Ok(changed)
    }
}

fn is_copied(columns: &[&str], values: &[Value<'_>], conflict: &str) -> bool {
    conflict.is_empty() && values.len() >= columns.len() * COPY_MIN_ROWS
}

fn by_column<'v>(columns: usize, rows: &[Value<'v>]) -> Vec<Vec<Value<'v>>> {
    (0..columns).map(|at| rows.iter().skip(at).step_by(columns).copied().collect()).collect()
}

/// Arrays that the server unrolls to rows, one a column: the statement's text stays the same for
/// any number of rows.
struct Unrolled<'p> {
    /// What stands for each column: its name among the rows, or NULL.
    cells: Vec<String>,
    /// The item of `FROM`.
    from: String,
    params: Vec<&'p (dyn ToSql + Sync)>,
}

impl<'p> Unrolled<'p> {
    fn of(arrays: &'p [Vec<Value<'p>>]) -> Self {
        let mut params: Vec<&(dyn ToSql + Sync)> = Vec::new();
        let (mut cells, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for array in arrays {
            // A column of NULLs has no type to name; the bare NULL takes the target's.
            let Some(kind) = values::array_type(array) else {
                cells.push("NULL".to_owned());
                continue;
            };
            params.push(array);
            let n = params.len();
            cells.push(format!("c{n}"));
            names.push(format!("c{n}"));
            types.push(format!("${n}::{kind}[]"));
        }
        let from = match params.len() {
            0 => format!("generate_series(1, {})", arrays[0].len()),
            _ => format!("unnest({}) AS rows({})", types.join(", "), names.join(", ")),
        };
        Self { cells, from, params }
    }

    fn insert(&self, table: &str, columns: &[&str], conflict: &str) -> String {
        let (columns, cells) = (columns.join(", "), self.cells.join(", "));
        format!("INSERT INTO {table} ({columns}) SELECT {cells} FROM {} {conflict}", self.from)
    }
}

/// The statement that sets columns where keys fit.
fn update<S: std::fmt::Display>(
    table: &str,
    columns: &[&str],
    sets: impl Iterator<Item = S>,
    from: &str,
    keys: &[&str],
    finds: impl Iterator<Item = S>,
) -> String {
    let sets = columns.iter().zip(sets).map(|(name, cell)| format!("{name} = {cell}"));
    let finds = keys.iter().zip(finds).map(|(name, cell)| format!("t.{name} = {cell}"));
    let (sets, finds): (Vec<_>, Vec<_>) = (sets.collect(), finds.collect());
    format!("UPDATE {table} AS t SET {} {from} WHERE {}", sets.join(", "), finds.join(" AND "))
}
