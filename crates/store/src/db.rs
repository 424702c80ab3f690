//! The handle to a database.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use tokio::time::sleep;
use tracing::Span;

use crate::changes::{Changes, SeenVersion, SqliteVersion, postgres_version};
use crate::limits::{CHANGE_LOOK_MS, RECORD_WRITERS_LOOK_MS, RECORD_WRITERS_WAIT_MS};
use crate::options::WriteIsolation;
use crate::postgres::{Postgres, TransactionMode, is_of_replica_alone};
use crate::probe::{self, WriteCheck};
use crate::signals::{Signals, WaitingSignals};
use crate::sqlite::{Sqlite, SqliteFile};
use crate::task::StoreTask;
use crate::{
    Migration, ScanLimits, SqlDialect, StatementsSee, StoreGauges, StoreLocation, StoreOptions, Tx,
    compact, migrate, problem, record_clock, spans, task,
};

/// A database: cheap to clone, shared by all threads.
#[derive(Clone)]
pub struct Db(Arc<Store>);

enum Store {
    Sqlite(Box<Sqlite>),
    Postgres(Box<Postgres>),
}

impl Db {
    /// Opens the database and brings its schema forward. Blocks; several processes may do so at
    /// once. The store's own tables are always there. Errors: `Conflict` when the schema is newer than this program,
    /// `Unavailable` when the database cannot be reached.
    pub fn open(target: &StoreLocation, migrations: &[Migration]) -> Result<Self> {
        Self::open_with(target, migrations, StoreOptions::default())
    }

    /// [`Db::open`] with other options than the defaults.
    pub fn open_with(
        target: &StoreLocation,
        migrations: &[Migration],
        options: StoreOptions,
    ) -> Result<Self> {
        let store = match target {
            StoreLocation::Sqlite(path) => {
                let file = SqliteFile::new(path, options);
                let connection = migrate::sqlite(&file, path, migrations)?;
                Store::Sqlite(Box::new(Sqlite::start(file, connection)?))
            }
            StoreLocation::Postgres(url) => {
                Store::Postgres(Box::new(Postgres::open(url, migrations, options)?))
            }
        };
        Ok(Self(Arc::new(store)))
    }

    /// The SQL dialect of the store.
    pub fn dialect(&self) -> SqlDialect {
        match &*self.0 {
            Store::Sqlite(_) => SqlDialect::Sqlite,
            Store::Postgres(_) => SqlDialect::Postgres,
        }
    }

    fn span(&self, operation: &'static str) -> Span {
        spans::transaction(self.dialect(), operation)
    }

    /// The signals that wake readers. They are delivered while [`Db::deliver_signals`] runs.
    pub fn signals(&self) -> &Signals {
        match &*self.0 {
            Store::Sqlite(sqlite) => &sqlite.signals,
            Store::Postgres(postgres) => &postgres.signals,
        }
    }

    /// Delivers signals to the readers of this process and, on PostgreSQL, to those of all servers of the database,
    /// over a connection of its own. Never returns.
    pub async fn deliver_signals(&self) {
        match &*self.0 {
            Store::Sqlite(sqlite) => sqlite.signals.deliver(&WaitingSignals::default()).await,
            Store::Postgres(postgres) => postgres.deliver_signals().await,
        }
    }

    /// The changes from now on. Tasks are woken while [`Db::watch_changes`] runs.
    pub fn changes(&self) -> Changes {
        Changes::of(match &*self.0 {
            Store::Sqlite(sqlite) => &sqlite.changes,
            Store::Postgres(postgres) => &postgres.changes,
        })
    }

    /// Wakes tasks that wait for [`Db::changes`]. Never returns.
    pub async fn watch_changes(&self) {
        let (mut of_file, mut seen) = (SqliteVersion::default(), SeenVersion::default());
        loop {
            let (version, notices) = match &*self.0 {
                Store::Sqlite(sqlite) => (of_file.read(&sqlite.file), &sqlite.changes),
                Store::Postgres(postgres) => (self.read(postgres_version).await, &postgres.changes),
            };
            if seen.replace(version) {
                notices.send_replace(());
            }
            sleep(Duration::from_millis(CHANGE_LOOK_MS)).await;
        }
    }

    /// Runs a short indexed read. On SQLite inline, on the calling thread's own connection. The
    /// closure sees one snapshot; it may be run again and starts over then. On PostgreSQL it does so at its second statement,
    /// unless it begins with [`Tx::begin_snapshot`].
    pub async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        match &*self.0 {
            Store::Sqlite(sqlite) => self.span("read").in_scope(|| sqlite.read(work)),
            Store::Postgres(postgres) => {
                let submit = |task| postgres.submit(task, TransactionMode::Read);
                self.run("read", work, submit).await
            }
        }
    }

    /// Waits until everything that was read so far is durable, whichever process wrote it. Code that gives clients
    /// a position to continue from, such as the number of a row, must wait for this. Otherwise a power failure
    /// could remove the row, and its number would be given to another one.
    pub async fn synced(&self) -> Result<()> {
        match &*self.0 {
            Store::Sqlite(sqlite) => {
                let (task, answer) = task::sync_task();
                sqlite.syncs.after_read(task)?;
                task::receive(answer).await
            }
            // PostgreSQL shows a commit once it is durable.
            Store::Postgres(_) => Ok(()),
        }
    }

    /// While the guard exists, the disk does not sync writes to SQLite, so that tests can see what waits for a
    /// sync. PostgreSQL has no such guard.
    #[doc(hidden)]
    pub fn sync_turn(&self) -> Option<Arc<Mutex<()>>> {
        match &*self.0 {
            Store::Sqlite(sqlite) => Some(Arc::clone(&sqlite.syncs.turn)),
            Store::Postgres(_) => None,
        }
    }

    /// Runs a read that may be long (a list without an index, a report, an export) on a thread for such reads. Past its
    /// deadline it is stopped with `Unavailable` ([`crate::is_too_slow`] recognizes this problem).
    pub async fn scan<T, F>(&self, limits: impl Into<ScanLimits>, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let ScanLimits { deadline, may_be_delayed } = limits.into();
        // The primary runs it if the replica fails.
        let work = Arc::new(Mutex::new(work));
        let run = |work: &Arc<Mutex<F>>| {
            let work = Arc::clone(work);
            move |tx: &mut Tx<'_>| work.lock().unwrap_or_else(PoisonError::into_inner)(tx)
        };
        let until = || Instant::now() + deadline;
        if may_be_delayed
            && let Store::Postgres(postgres) = &*self.0
            && let Some(replica) = postgres.recent_replica()
        {
            let submit = |task| replica.submit(task, TransactionMode::Scan(until()));
            match self.run("scan", run(&work), submit).await {
                Err(problem) if is_of_replica_alone(&problem) => {}
                answer => return answer,
            }
        }
        let submit = |task| match &*self.0 {
            Store::Sqlite(sqlite) => sqlite.scan(until(), task),
            Store::Postgres(postgres) => postgres.submit(task, TransactionMode::Scan(until())),
        };
        self.run("scan", run(&work), submit).await
    }

    /// Runs a closure on a thread of the store.
    async fn run<T, F>(
        &self,
        operation: &'static str,
        work: F,
        submit: impl FnOnce(Box<dyn StoreTask>) -> Result<()>,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let (task, answer) = task::wrap(self.span(operation), work);
        submit(task)?;
        task::receive(answer).await
    }

    /// Lets a read replica serve scans that [may be delayed](ScanLimits::delayed): a standby of this database, at a
    /// `postgres://…` address. Returns at once; a replica that does not answer serves nothing until it does. Errors:
    /// `Invalid` if the address is wrong, or the store is SQLite.
    pub fn use_read_replica(&self, url: &str) -> Result<()> {
        match &*self.0 {
            Store::Postgres(postgres) => postgres.use_read_replica(url),
            Store::Sqlite(_) => Err(Problem::new(
                ProblemKind::Invalid,
                "a read replica needs PostgreSQL; remove store.read_replica, or set store.database",
            )),
        }
    }

    /// Runs a write; when this answers `Ok`, it is durable, and what the closure read was still true when it
    /// was committed. The closure does no I/O and may be run again (it ran into another write, lost
    /// connection). If the caller stops waiting, a write that has not begun is taken back.
    pub async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        self.submit_write(WriteIsolation::Serializable, work).await
    }

    /// [`Db::write`] without the promise that what it read is still true when it is committed: a rule holds only if the
    /// write locks or writes the rows that the rule is about. For work that would otherwise run again too often, because
    /// writes of unrelated rows share pages of indexes: what students do in lessons, and the intake of events.
    ///
    /// On SQLite both are the same, since one write runs after the other.
    pub async fn write_with_locks<T, F>(&self, statements_see: StatementsSee, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        self.submit_write(WriteIsolation::Locks(statements_see), work).await
    }

    async fn submit_write<T, F>(&self, isolation: WriteIsolation, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let submit = |task| match &*self.0 {
            Store::Sqlite(sqlite) => sqlite.write(task),
            Store::Postgres(postgres) => postgres.submit(task, TransactionMode::Write(isolation)),
        };
        self.run("write", work, submit).await
    }

    /// An instant up to which the stamps of records are complete: a read that begins afterwards finds all records that
    /// were stamped until then, and later stamps are later. `now` keeps it close to the present. Waits for writes of
    /// records that are running. Errors: `Unavailable` if one of them does not end in time.
    pub async fn records_complete_until(&self, now: Timestamp) -> Result<Timestamp> {
        let raise = move |tx: &mut Tx<'_>| {
            Ok((record_clock::raise(tx, now)?, record_clock::open_writers(tx)?))
        };
        let (time, open) = self.write_with_locks(StatementsSee::LatestCommits, raise).await?;
        let mut open: HashSet<String> = open.into_iter().collect();
        let ends = Instant::now() + Duration::from_millis(RECORD_WRITERS_WAIT_MS);
        while !open.is_empty() {
            if Instant::now() >= ends {
                let message =
                    "another request has been changing records for too long; try again later";
                return Err(problem::unavailable(message, 5));
            }
            sleep(Duration::from_millis(RECORD_WRITERS_LOOK_MS)).await;
            let still_open = self.read(record_clock::open_writers).await?;
            open.retain(|writer| still_open.contains(writer));
        }
        Ok(time)
    }

    /// [`Db::scan`] without a deadline, for the command line: blocks the calling thread, which must
    /// not belong to an async runtime, and runs once.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        let _span = self.span("read").entered();
        match &*self.0 {
            Store::Sqlite(sqlite) => sqlite.file.read_blocking(work),
            Store::Postgres(postgres) => postgres.read_blocking(work),
        }
    }

    /// Runs one write transaction of any length for the command line (imports). Blocks the calling thread, which must
    /// not belong to an async runtime, and runs once. On SQLite other writers wait meanwhile, and give up after half a
    /// minute. On PostgreSQL it sees one state, but what it only read may change before it is committed: a rule that
    /// must hold writes what it reads.
    pub fn write_blocking<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        let _span = self.span("write").entered();
        match &*self.0 {
            Store::Sqlite(sqlite) => {
                let (result, signals) = sqlite.file.write_blocking(work)?;
                sqlite.signals.written.add(signals);
                Ok(result)
            }
            Store::Postgres(postgres) => postgres.write_blocking(work),
        }
    }

    /// The state of the store's threads, connections and files in this process.
    pub fn gauges(&self) -> StoreGauges {
        match &*self.0 {
            Store::Sqlite(sqlite) => sqlite.gauges(),
            Store::Postgres(postgres) => postgres.gauges(),
        }
    }

    /// Checks that the store answers.
    pub async fn ping(&self) -> Result<()> {
        self.read(|tx| tx.query_one("SELECT 1", &[], |_| Ok(()))).await.map(drop)
    }

    /// Whether a write becomes durable within the patience; the basis of `/ready`. It waits for the disk.
    /// Errors: `Unavailable` if the disk is full, or the database is read-only or does not answer; otherwise the
    /// error of the write.
    pub async fn check_writes(&self, patience: Duration) -> Result<WriteCheck> {
        if let Store::Sqlite(sqlite) = &*self.0 {
            sqlite.file.check_room()?;
        }
        // Sent in addition to the write. Any answer, to this or to another request, shows that the database works.
        let (ping, _answer) =
            task::wrap(Span::none(), |tx| tx.query_one("SELECT 1", &[], |_| Ok(())));
        let before = match &*self.0 {
            Store::Sqlite(_) => 0,
            Store::Postgres(postgres) => {
                let before = postgres.answers();
                postgres.submit(ping, TransactionMode::Read)?;
                before
            }
        };
        match tokio::time::timeout(patience, self.write(probe::write)).await {
            Ok(Ok(())) => return Ok(WriteCheck::Durable),
            Ok(Err(problem)) if !problem::is_busy(&problem) => return Err(problem),
            Ok(Err(_)) | Err(_) => {}
        }
        match &*self.0 {
            Store::Sqlite(_) => self.ping().await.map(|()| WriteCheck::Waiting),
            Store::Postgres(postgres) if postgres.answers() > before => Ok(WriteCheck::Waiting),
            Store::Postgres(_) => Err(problem::out_of_reach()),
        }
    }

    /// Removes deleted content from the pages of the database: on SQLite at once from the whole file, on PostgreSQL
    /// from these tables as far as that is possible beside others. Blocks. Errors: `Unavailable` if others use the
    /// database for too long.
    pub fn compact(&self, tables: &[&str]) -> Result<()> {
        match &*self.0 {
            Store::Sqlite(sqlite) => compact::sqlite(&sqlite.file),
            Store::Postgres(postgres) => compact::postgres(postgres.address(), tables),
        }
    }

    /// Makes room for new rows where rows of these tables were deleted, beside readers and writers. Blocks. PostgreSQL
    /// does so by itself only once a minute, so the indexes of a table with short-lived rows grow. SQLite reuses pages
    /// at once, so nothing is done there.
    pub fn free_rows(&self, tables: &[&str]) -> Result<()> {
        match &*self.0 {
            Store::Sqlite(_) => Ok(()),
            Store::Postgres(postgres) => compact::free_rows(postgres.address(), tables),
        }
    }

    /// The errors that SQLite finds in its file, one per line; empty if the file is correct. Reads the
    /// whole file. PostgreSQL checks its own pages, so this is `Invalid` there.
    pub fn check(&self) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        let read = self.sqlite_file()?.read_blocking(|tx| {
            tx.query("PRAGMA integrity_check", &[], |row| {
                faults.push(row.text(0)?.to_owned());
                Ok(true)
            })
        });
        faults.retain(|fault| fault != "ok");
        if let Err(broken) = read {
            faults.push(broken.to_string()); // too damaged to be read to its end
        }
        Ok(faults)
    }

    fn sqlite_file(&self) -> Result<&SqliteFile> {
        match &*self.0 {
            Store::Sqlite(sqlite) => Ok(&sqlite.file),
            Store::Postgres(_) => Err(problem::needs_sqlite()),
        }
    }
}
