//! The database of a project.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::Result;
use lyceum_core::limits::{
    D1_COLUMNS_MAX_COUNT, D1_DATABASE_MAX_BYTES, D1_PARAMETERS_MAX_COUNT, D1_RESULT_MAX_BYTES,
    D1_SQL_MAX_BYTES, D1_STATEMENT_MAX_MS, D1_VALUE_MAX_BYTES,
};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::Authorization;
use rusqlite::limits::Limit;
use rusqlite::types::{Null, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement, ToSql, TransactionBehavior, ffi};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{authorizer, failed, open};

/// A database that backends use. Requests run one after the other, as on the platform that they are
/// written for.
pub(crate) struct D1 {
    connection: Mutex<Connection>,
    guard: Arc<Guard>,
}

/// What the hooks of the connection look at.
#[derive(Default)]
struct Guard {
    /// The statement is ours.
    is_off: AtomicBool,
    /// When the statement has run long enough.
    deadline: Mutex<Option<Instant>>,
}

/// A statement with its parameters.
#[derive(Deserialize)]
pub(crate) struct Query {
    sql: String,
    #[serde(default)]
    params: Option<Vec<Json>>,
}

/// How rows are answered.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Format {
    /// `{columns, rows}`.
    Rows,
    /// An object a row.
    Objects,
}

/// Instructions of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

impl D1 {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut connection = open(path)?;
        let guard = Arc::new(Guard::default());
        let told = limit(&mut connection, &guard);
        told.map_err(|fault| failed("limit a database", &fault))?;
        Ok(Self { connection: Mutex::new(connection), guard })
    }

    /// Runs the statements in one transaction: all of them, or none.
    ///
    /// Errors: what SQLite says, with the name of its code, as D1's client shows it.
    pub(crate) fn run(&self, queries: &[Query], format: Format) -> Result<Vec<Json>, String> {
        let queries: Vec<&Query> =
            queries.iter().filter(|query| !query.sql.trim().is_empty()).collect();
        if queries.is_empty() {
            return Err("No SQL statements detected.".into());
        }
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || -> rusqlite::Result<Vec<Json>> {
            let guard = &self.guard;
            let transaction = guard
                .ours(|| connection.transaction_with_behavior(TransactionBehavior::Immediate))?;
            let results = queries.into_iter().map(|query| {
                *guard.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(Instant::now() + Duration::from_millis(D1_STATEMENT_MAX_MS));
                query.run(&transaction, guard, format)
            });
            let results = results.collect::<rusqlite::Result<Vec<Json>>>();
            guard.ours(|| match results {
                Ok(results) => transaction.commit().map(|()| results),
                Err(fault) => transaction.rollback().and(Err(fault)),
            })
        };
        let ran = run();
        *self.guard.deadline.lock().unwrap_or_else(PoisonError::into_inner) = None;
        ran.map_err(|fault| message(&fault))
    }
}

impl Guard {
    /// Runs what is ours: the backend may not begin or end transactions.
    fn ours<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_off.store(true, Relaxed);
        let done = work();
        self.is_off.store(false, Relaxed);
        done
    }
}

/// Hooks and limits of a connection that runs other people's SQL.
fn limit(connection: &mut Connection, guard: &Arc<Guard>) -> rusqlite::Result<()> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(D1_DATABASE_MAX_BYTES).unwrap_or(i64::MAX) / page;
    connection.pragma_update(None, "max_page_count", pages)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LENGTH, D1_VALUE_MAX_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, D1_SQL_MAX_BYTES),
        (Limit::SQLITE_LIMIT_COLUMN, D1_COLUMNS_MAX_COUNT),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, D1_PARAMETERS_MAX_COUNT),
    ] {
        connection.set_limit(limit, i32::try_from(value).unwrap_or(i32::MAX))?;
    }
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let watch = Arc::clone(guard);
    let is_late = move || {
        let deadline = *watch.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|deadline| Instant::now() > deadline)
    };
    connection.progress_handler(STEPS, Some(is_late))?;
    let gate = Arc::clone(guard);
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| {
        if gate.is_off.load(Relaxed) {
            Authorization::Allow
        } else {
            authorizer::authorize(context)
        }
    }))
}

impl Query {
    /// Runs the statements of the text; parameters and answer are those of the last one.
    fn run(
        &self,
        connection: &Connection,
        guard: &Guard,
        format: Format,
    ) -> rusqlite::Result<Json> {
        let started = Instant::now();
        let (before, size) = (connection.total_changes(), size(connection, guard)?);
        let last_row = connection.last_insert_rowid();
        let mut batch = Batch::new(connection, &self.sql);
        let mut next = batch.next()?;
        if next.is_none() {
            return Err(told("SQL code did not contain a statement."));
        }
        let mut answered = (Vec::new(), Vec::new());
        while let Some(mut statement) = next {
            next = batch.next()?;
            let params = match next {
                Some(_) => &[],
                None => self.params.as_deref().unwrap_or_default(),
            };
            answered = answer(&mut statement, params)?;
        }
        let (columns, rows) = answered;
        let read = rows.len();
        let results = match format {
            Format::Rows => json!({ "columns": columns, "rows": rows }),
            Format::Objects => rows
                .into_iter()
                .map(|row| {
                    columns.iter().cloned().zip(row).collect::<serde_json::Map<_, _>>().into()
                })
                .collect::<Vec<Json>>()
                .into(),
        };
        let changed = connection.total_changes() - before;
        let size_after = self::size(connection, guard)?;
        let last_row_after = connection.last_insert_rowid();
        Ok(json!({
            "success": true,
            "results": results,
            "meta": {
                "served_by": "lyceum",
                "duration": started.elapsed().as_secs_f64() * 1000.0,
                "changes": changed,
                "last_row_id": last_row_after,
                "changed_db": changed > 0 || last_row_after != last_row || size_after != size,
                "size_after": size_after,
                "rows_read": read,
                "rows_written": changed,
            },
        }))
    }
}

/// The names of the columns, and the rows.
type Answered = (Vec<String>, Vec<Vec<Json>>);

fn answer(statement: &mut Statement<'_>, params: &[Json]) -> rusqlite::Result<Answered> {
    if statement.parameter_count() != params.len() {
        return Err(told("Wrong number of parameter bindings for SQL query."));
    }
    for (index, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, Parameter(value))?;
    }
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        let cells = (0..columns.len()).map(|index| Ok(cell(row.get_ref(index)?, &mut bytes)));
        rows.push(cells.collect::<rusqlite::Result<Vec<Json>>>()?);
        if bytes > D1_RESULT_MAX_BYTES {
            return Err(told(&format!("the result is larger than {D1_RESULT_MAX_BYTES} bytes")));
        }
    }
    Ok((columns, rows))
}

/// A parameter as the client sends it: a blob is an array of its bytes.
struct Parameter<'a>(&'a Json);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Json::Null => Null.into(),
            Json::Bool(truth) => i64::from(*truth).into(),
            // Numbers of JavaScript are of one kind; a column's affinity makes them whole again.
            Json::Number(number) => number.as_f64().unwrap_or_default().into(),
            Json::String(text) => text.as_str().into(),
            Json::Array(bytes) => {
                let byte = |value: &Json| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
                let bytes = bytes.iter().map(byte).collect::<Option<Vec<u8>>>();
                let bytes =
                    bytes.ok_or_else(|| told("a parameter is an array, and not of bytes"))?;
                ToSqlOutput::Owned(Value::Blob(bytes))
            }
            Json::Object(_) => return Err(told("a parameter is an object; D1 stores none")),
        })
    }
}

/// A value as JSON, its size added up.
fn cell(value: ValueRef<'_>, bytes: &mut usize) -> Json {
    *bytes += 8;
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => {
            *bytes += text.len();
            String::from_utf8_lossy(text).into()
        }
        ValueRef::Blob(blob) => {
            *bytes += 4 * blob.len();
            blob.into()
        }
    }
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

/// A refusal of ours.
fn told(message: &str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(message.into())
}

/// The text that D1's client puts behind `D1_ERROR: `.
fn message(fault: &rusqlite::Error) -> String {
    let (code, text) = match fault {
        rusqlite::Error::SqliteFailure(error, text) => (error.extended_code, text.clone()),
        rusqlite::Error::SqlInputError { error, msg, offset, .. } => {
            let place = if *offset < 0 { String::new() } else { format!(" at offset {offset}") };
            (error.extended_code, Some(format!("{msg}{place}")))
        }
        rusqlite::Error::ToSqlConversionFailure(told) => return told.to_string(),
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
        "SQLITE_INTERRUPT" => format!("the statement ran longer than {D1_STATEMENT_MAX_MS} ms"),
        _ => text.unwrap_or_else(|| fault.to_string()),
    };
    match extended {
        "" => format!("{text}: {name}"),
        _ => format!("{text}: {name} (extended: {name}{extended})"),
    }
}
