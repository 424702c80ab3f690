//! The database of a project.

mod authorizer;
mod query;
mod results;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::Result;
use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::Authorization;
use rusqlite::limits::Limit;
use rusqlite::{Batch, Connection, Statement, TransactionBehavior, ffi};

use crate::bindings::sql::{failed, limit_size, open};
use crate::limits::{
    D1_COLUMNS_MAX_COUNT, D1_PARAMETERS_MAX_COUNT, D1_RUN_MAX_MS, D1_SQL_MAX_BYTES,
    D1_VALUE_MAX_BYTES,
};
use query::Parameter;
use results::{Results, StatementMeta};

pub(super) use query::{D1Query, queries};
pub(super) use results::RowFormat;

/// A database that backends use. Requests run one after another, as in Cloudflare's D1.
pub(crate) struct D1 {
    connection: Mutex<Connection>,
    guard: Arc<Guard>,
}

/// State that the hooks of the connection read.
#[derive(Default)]
struct Guard {
    /// Whether the running statement is the server's own.
    is_off: AtomicBool,
    /// When the statements exceed their time limit.
    deadline: Mutex<Option<Instant>>,
}

/// SQLite instructions between two checks of the clock.
const STEPS: i32 = 10_000;

impl D1 {
    /// Opens the database with a size limit.
    pub(crate) fn open(path: &Path, max_bytes: u64, is_replicated: bool) -> Result<Self> {
        let mut connection = open(path, is_replicated)?;
        let guard = Arc::new(Guard::default());
        let limited = limit(&mut connection, &guard, max_bytes);
        limited.map_err(|fault| failed("limit a database", &fault))?;
        Ok(Self { connection: Mutex::new(connection), guard })
    }

    /// Runs the statements in one transaction: all of them, or none.
    ///
    /// Errors: SQLite's message with the name of its code, as D1's client shows it.
    /// Returns JSON: a list with one entry per statement.
    pub(crate) fn run(&self, queries: &[D1Query], format: RowFormat) -> Result<Vec<u8>, String> {
        let queries: Vec<&D1Query> =
            queries.iter().filter(|query| !query.sql.trim().is_empty()).collect();
        if queries.is_empty() {
            return Err("No SQL statements detected.".into());
        }
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = &self.guard;
        *guard.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Instant::now() + Duration::from_millis(D1_RUN_MAX_MS));
        let run = || -> rusqlite::Result<Vec<u8>> {
            let transaction = guard
                .ours(|| connection.transaction_with_behavior(TransactionBehavior::Immediate))?;
            let mut results = Results::new(format);
            let ran = queries.into_iter().try_for_each(|query| {
                if guard.is_late() {
                    return Err(server_error(&too_long()));
                }
                run_one(query, &transaction, guard, &mut results)
            });
            guard.ours(|| match ran {
                Ok(()) => transaction.commit().map(|()| results.end()),
                Err(fault) => {
                    // SQLite has already rolled back if the database is full.
                    let _ = transaction.rollback();
                    Err(fault)
                }
            })
        };
        let ran = run();
        *guard.deadline.lock().unwrap_or_else(PoisonError::into_inner) = None;
        ran.map_err(|fault| message(&fault))
    }
}

impl Guard {
    /// Runs one of the server's own statements: the backend may not begin or end transactions.
    fn ours<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_off.store(true, Relaxed);
        let done = work();
        self.is_off.store(false, Relaxed);
        done
    }

    fn is_late(&self) -> bool {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

/// Sets hooks and limits for a connection that runs untrusted SQL.
fn limit(connection: &mut Connection, guard: &Arc<Guard>, max_bytes: u64) -> rusqlite::Result<()> {
    limit_size(connection, max_bytes)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LENGTH, D1_VALUE_MAX_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, D1_SQL_MAX_BYTES),
        (Limit::SQLITE_LIMIT_COLUMN, D1_COLUMNS_MAX_COUNT),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, D1_PARAMETERS_MAX_COUNT),
    ] {
        connection.set_limit(limit, i32::try_from(value).unwrap_or(i32::MAX))?;
    }
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        // Otherwise SQLite treats an unknown column in double quotes as a string.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ] {
        connection.set_db_config(option, value)?;
    }
    let watch = Arc::clone(guard);
    connection.progress_handler(STEPS, Some(move || watch.is_late()))?;
    let gate = Arc::clone(guard);
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| {
        if gate.is_off.load(Relaxed) {
            Authorization::Allow
        } else {
            authorizer::authorize(context)
        }
    }))
}

/// Runs the statements of the text. The parameters and the result belong to the last one.
fn run_one(
    query: &D1Query,
    connection: &Connection,
    guard: &Guard,
    results: &mut Results,
) -> rusqlite::Result<()> {
    let started = Instant::now();
    let (before, size_before) = (connection.total_changes(), size(connection, guard)?);
    let last_row = connection.last_insert_rowid();
    let mut batch = Batch::new(connection, &query.sql);
    let mut next = batch.next()?;
    if next.is_none() {
        return Err(server_error("SQL code did not contain a statement."));
    }
    let mut rows_read = 0;
    while let Some(mut statement) = next {
        next = batch.next()?;
        match next {
            Some(_) => {
                bind(&mut statement, &[])?;
                let mut rows = statement.raw_query();
                while rows.next()?.is_some() {}
            }
            None => {
                bind(&mut statement, &query.params)?;
                rows_read = results.rows(&mut statement)?;
            }
        }
    }
    let changed = connection.total_changes() - before;
    let (size_after, last_row_after) = (size(connection, guard)?, connection.last_insert_rowid());
    results.meta(&StatementMeta {
        served_by: "lyceum",
        duration: started.elapsed().as_secs_f64() * 1000.0,
        changes: changed,
        last_row_id: last_row_after,
        changed_db: changed > 0 || last_row_after != last_row || size_after != size_before,
        size_after,
        rows_read,
        rows_written: changed,
    });
    Ok(())
}

fn bind(statement: &mut Statement<'_>, params: &[Parameter]) -> rusqlite::Result<()> {
    if statement.parameter_count() != params.len() {
        return Err(server_error("Wrong number of parameter bindings for SQL query."));
    }
    let mut params = (1_usize..).zip(params);
    params.try_for_each(|(index, value)| statement.raw_bind_parameter(index, value))
}

fn size(connection: &Connection, guard: &Guard) -> rusqlite::Result<i64> {
    guard.ours(|| {
        connection
            .prepare_cached(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            )?
            .query_row([], |row| row.get(0))
    })
}

fn too_long() -> String {
    format!("the statements ran longer than {D1_RUN_MAX_MS} ms")
}

/// An error of the server itself.
pub(super) fn server_error(message: &str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(message.into())
}

/// The text that D1's client shows after `D1_ERROR: `.
fn message(fault: &rusqlite::Error) -> String {
    let (code, text) = match fault {
        rusqlite::Error::SqliteFailure(error, text) => (error.extended_code, text.clone()),
        rusqlite::Error::SqlInputError { error, msg, offset, .. } => {
            let place = if *offset < 0 { String::new() } else { format!(" at offset {offset}") };
            (error.extended_code, Some(format!("{msg}{place}")))
        }
        rusqlite::Error::ToSqlConversionFailure(cause) => return cause.to_string(),
        other => return other.to_string(),
    };
    let name = match code & 0xff {
        ffi::SQLITE_AUTH => "SQLITE_AUTH",
        ffi::SQLITE_BUSY => "SQLITE_BUSY",
        ffi::SQLITE_CONSTRAINT => "SQLITE_CONSTRAINT",
        ffi::SQLITE_CORRUPT => "SQLITE_CORRUPT",
        ffi::SQLITE_FULL => "SQLITE_FULL",
        ffi::SQLITE_INTERRUPT => "SQLITE_INTERRUPT",
        ffi::SQLITE_MISMATCH => "SQLITE_MISMATCH",
        ffi::SQLITE_RANGE => "SQLITE_RANGE",
        ffi::SQLITE_READONLY => "SQLITE_READONLY",
        ffi::SQLITE_TOOBIG => "SQLITE_TOOBIG",
        _ => "SQLITE_ERROR",
    };
    let extended = match code {
        ffi::SQLITE_CONSTRAINT_CHECK => "_CHECK",
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => "_FOREIGNKEY",
        ffi::SQLITE_CONSTRAINT_NOTNULL => "_NOTNULL",
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY => "_PRIMARYKEY",
        ffi::SQLITE_CONSTRAINT_TRIGGER => "_TRIGGER",
        ffi::SQLITE_CONSTRAINT_UNIQUE => "_UNIQUE",
        _ => "",
    };
    let text = match name {
        "SQLITE_INTERRUPT" => too_long(),
        _ => text.unwrap_or_else(|| fault.to_string()),
    };
    match extended {
        "" => format!("{text}: {name}"),
        _ => format!("{text}: {name} (extended: {name}{extended})"),
    }
}
