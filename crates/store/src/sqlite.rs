//! SQLite: one writer thread with group commit and one that syncs, inline reads, a few scan threads.

mod writer;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use lyceum_core::{Problem, Result};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OpenFlags};
use thread_local::ThreadLocal;
use tokio::sync::watch;

use crate::checkpoint::Checkpoints;
use crate::durable::{CommitSyncs, log_of};
use crate::limits::{
    READY_FREE_MIN_BYTES, SQLITE_CACHE_BYTES, SQLITE_LOG_KEPT_BYTES, SQLITE_SCAN_THREADS,
    SQLITE_WRITE_CACHE_BYTES, STORE_QUEUE_MAX_ENTRIES, STORE_STATEMENT_CACHE_ENTRIES,
};
use crate::one_statement::LongerReads;
use crate::problem::{self, NulCharacter, unavailable};
use crate::signals::{SignalSet, Signals};
use crate::task::{self, StoreTask};
use crate::tx::{Row, RowCells, Tx, TxConnection};
use crate::{StoreOptions, Value};

/// Pages of the write-ahead log from which on the writer itself carries over what is left of it and
/// restarts the log (64 MiB); until then [`Checkpoints`] does that beside it.
const LOG_PAGES: u32 = 16_000;

/// An open SQLite file with its threads. Dropping it ends them once their queues are empty.
pub(crate) struct Sqlite {
    pub(crate) file: Arc<SqliteFile>,
    readers: ThreadLocal<RefCell<Connection>>,
    pub(crate) writes: Sender<Box<dyn StoreTask>>,
    pub(crate) scans: Sender<ScanSlots>,
    longer_reads: LongerReads,
    pub(crate) syncs: CommitSyncs,
    pub(crate) signals: Arc<Signals>,
    pub(crate) changes: watch::Sender<()>,
}

/// Where the file is and how it is opened.
pub(crate) struct SqliteFile {
    pub(crate) path: PathBuf,
    options: StoreOptions,
}

pub(crate) struct ScanSlots {
    task: Box<dyn StoreTask>,
    deadline: Instant,
}

/// The purpose of a connection.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ConnectionUse {
    Read,
    Write,
    /// A read of everything: an export, a check.
    Scan,
    /// A write of any length: an import.
    Bulk,
    /// Carrying the log over.
    Checkpoint,
}

impl SqliteFile {
    pub(crate) fn new(path: &Path, options: StoreOptions) -> Arc<Self> {
        Arc::new(Self { path: path.to_owned(), options })
    }

    /// Opens a connection. A `Write` or `Bulk` one makes the file if it is missing.
    pub(crate) fn connect(&self, purpose: ConnectionUse) -> Result<Connection> {
        let access = match purpose {
            ConnectionUse::Read | ConnectionUse::Scan => OpenFlags::SQLITE_OPEN_READ_ONLY,
            _ => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let cache = match purpose {
            ConnectionUse::Bulk | ConnectionUse::Write => SQLITE_WRITE_CACHE_BYTES,
            _ => SQLITE_CACHE_BYTES,
        };
        // What goes through the whole file once would have all of it resident for no gain. The writer
        // has the pages that it needs in its cache; with a mapping SQLite looks each one that is read
        // up in the log first, a fifth of what an answer to a question costs.
        let mmap = if purpose == ConnectionUse::Read { self.options.mmap_bytes } else { 0 };
        let failed = |error: rusqlite::Error| {
            let path = self.path.display();
            problem::sqlite(&error, &format!("opening '{path}'"))
        };
        let connection =
            Connection::open_with_flags(&self.path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
                .map_err(failed)?;
        connection
            .busy_timeout(Duration::from_millis(self.options.lock_wait_ms))
            .map_err(failed)?;
        if self.options.is_replicated {
            // The log proves to the next replicator what was written meanwhile.
            let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            connection.set_db_config(keep_log, true).map_err(failed)?;
        }
        if access.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            // What the writer commits is synced beside it ([`CommitSyncs`]).
            let synchronous = if purpose == ConnectionUse::Write { "NORMAL" } else { "FULL" };
            connection
                .execute_batch(&format!(
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
                     PRAGMA journal_size_limit = {SQLITE_LOG_KEPT_BYTES};
                     PRAGMA wal_autocheckpoint = {LOG_PAGES}"
                ))
                .map_err(failed)?;
        }
        connection
            .execute_batch(&format!(
                "PRAGMA mmap_size = {mmap}; PRAGMA cache_size = -{};
                 PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF",
                cache / 1024
            ))
            .map_err(failed)?;
        // Else SQLite plans a statement again each time a value is bound to its `LIMIT $n`.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STORE_STATEMENT_CACHE_ENTRIES);
        Ok(connection)
    }

    /// Refuses where the disk is full. A small write does not show that while it fits into the log that is
    /// there.
    pub(crate) fn check_room(&self) -> Result<()> {
        let disk = rustix::fs::statvfs(&self.path).map_err(Problem::internal)?;
        match disk.f_bavail.saturating_mul(disk.f_frsize) < READY_FREE_MIN_BYTES {
            true => Err(problem::disk_full()),
            false => Ok(()),
        }
    }

    /// Runs one read of any length on a connection of its own.
    pub(crate) fn read_blocking<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        read(&self.connect(ConnectionUse::Scan)?, work)
    }

    /// Runs one write of any length on a connection of its own.
    pub(crate) fn write_blocking<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<(T, SignalSet)> {
        let connection = self.connect(ConnectionUse::Bulk)?;
        let transaction = Transaction::begin(&connection, "BEGIN IMMEDIATE")?;
        let mut tx = Tx::new(TxConnection::Sqlite(&connection));
        let result = work(&mut tx);
        let result = tx.settle(result)?;
        tx.finish()?;
        let signals = tx.signals();
        transaction.commit()?;
        self.give_back_log(&connection);
        Ok((result, signals))
    }

    /// The log of a long write is as long as the write: its disk is given back at once. Somebody who
    /// reads meanwhile may prevent that, and then a later write does it.
    fn give_back_log(&self, connection: &Connection) {
        if self.options.is_replicated {
            // The replicator reads the log, so this would only keep others from writing meanwhile.
            return;
        }
        if std::fs::metadata(log_of(&self.path)).is_ok_and(|log| log.len() > SQLITE_LOG_KEPT_BYTES)
        {
            let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    }
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
        let (readers, longer_reads) = (ThreadLocal::new(), LongerReads::default());
        let changes = watch::Sender::default();
        Ok(Self { file, readers, writes, scans, longer_reads, syncs, signals, changes })
    }

    /// Runs a short read inline, on the calling thread's own connection.
    pub(crate) fn read<T, F>(&self, mut work: F) -> Result<T>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T> + 'static,
    {
        let connection =
            self.readers.get_or_try(|| self.file.connect(ConnectionUse::Read).map(RefCell::new))?;
        let connection = connection.borrow();
        let result = self.longer_reads.read_without_transaction(&connection, &mut work);
        result.unwrap_or_else(|| read(&connection, work))
    }

    pub(crate) fn scan(&self, deadline: Instant, task: Box<dyn StoreTask>) -> Result<()> {
        task::submit(&self.scans, ScanSlots { task, deadline })
    }

    pub(crate) fn write(&self, task: Box<dyn StoreTask>) -> Result<()> {
        task::submit(&self.writes, task)
    }
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop).map_err(Problem::internal)
}

/// A transaction that is rolled back unless it is committed.
struct Transaction<'a> {
    connection: &'a Connection,
}

impl<'a> Transaction<'a> {
    fn begin(connection: &'a Connection, sql: &str) -> Result<Self> {
        execute(connection, sql, &[])?;
        Ok(Self { connection })
    }

    fn commit(self) -> Result<()> {
        execute(self.connection, "COMMIT", &[]).map(drop)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.connection.is_autocommit() {
            // Failing leaves the connection inside a transaction; its next BEGIN says so.
            let _ = execute(self.connection, "ROLLBACK", &[]);
        }
    }
}

fn read<T>(connection: &Connection, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
    let snapshot = Transaction::begin(connection, "BEGIN")?;
    let result = work(&mut Tx::new(TxConnection::Sqlite(connection)))?;
    // Cheaper than the rollback of a transaction that has nothing to take back.
    snapshot.commit()?;
    Ok(result)
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

fn prepare<'a>(
    connection: &'a Connection,
    sql: &str,
    params: &[Value<'_>],
) -> Result<CachedStatement<'a>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(sql)?;
    debug_assert!(
        (1..=statement.parameter_count())
            .all(|n| statement.parameter_name(n) == Some(&format!("${n}"))),
        "placeholders are numbered in order of first use: {sql}"
    );
    if statement.parameter_count() != params.len() {
        return Err(rusqlite::Error::InvalidParameterCount(
            params.len(),
            statement.parameter_count(),
        ));
    }
    for (at, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, value)?;
    }
    Ok(statement)
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) if memchr::memchr(0, text.as_bytes()).is_some() => {
                return Err(rusqlite::Error::ToSqlConversionFailure(NulCharacter.into()));
            }
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

pub(crate) fn query(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
    each: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
) -> Result<()> {
    let failed = |error| problem::sqlite(&error, sql);
    let mut statement = prepare(connection, sql, params).map_err(failed)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        if !each(&Row(RowCells::Sqlite(row)))? {
            break;
        }
    }
    Ok(())
}

pub(crate) fn execute(connection: &Connection, sql: &str, params: &[Value<'_>]) -> Result<u64> {
    let changed = prepare(connection, sql, params).and_then(|mut it| it.raw_execute());
    changed.map(|rows| rows as u64).map_err(|error| problem::sqlite(&error, sql))
}

/// Inserts a row as `Tx::insert` says. SQLite makes a table of what a statement returns, and keeps every
/// page that it changes until it ends: `RETURNING` is a quarter of a short insert.
pub(crate) fn insert(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
) -> Result<Option<i64>> {
    let added = execute(connection, sql, params)?;
    Ok((added > 0).then(|| connection.last_insert_rowid()))
}

pub(crate) fn cell<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<Value<'a>> {
    let value = row.get_ref(column).map_err(Problem::internal)?;
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => {
            Value::Text(std::str::from_utf8(bytes).map_err(Problem::internal)?)
        }
        ValueRef::Blob(bytes) => Value::Blob(bytes),
    })
}

/// Updates rows as `Tx::update_rows` says.
pub(crate) fn update_rows(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    keys: &[&str],
    values: &[Value<'_>],
) -> Result<u64> {
    let equals = |(at, name)| format!("{name} = ${at}");
    let sets: Vec<String> = (1..).zip(columns).map(equals).collect();
    let finds: Vec<String> = (columns.len() + 1..).zip(keys).map(equals).collect();
    let sql = format!("UPDATE {table} SET {} WHERE {}", sets.join(", "), finds.join(" AND "));
    run_rows(connection, &sql, columns.len() + keys.len(), values)
}

/// Inserts with one prepared statement, run once for each row: as fast as rows bundled into one statement.
pub(crate) fn insert_rows(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    values: &[Value<'_>],
    conflict: &str,
) -> Result<u64> {
    let holes: Vec<String> = (1..=columns.len()).map(|n| format!("${n}")).collect();
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({}) {conflict}",
        columns.join(", "),
        holes.join(", ")
    );
    run_rows(connection, &sql, columns.len(), values)
}

fn run_rows(connection: &Connection, sql: &str, width: usize, values: &[Value<'_>]) -> Result<u64> {
    let failed = |error| problem::sqlite(&error, sql);
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut changed = 0;
    for row in values.chunks_exact(width) {
        for (at, value) in row.iter().enumerate() {
            statement.raw_bind_parameter(at + 1, value).map_err(failed)?;
        }
        changed += statement.raw_execute().map_err(failed)? as u64;
    }
    Ok(changed)
}
