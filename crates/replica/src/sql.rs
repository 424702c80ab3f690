//! The connections of the replicator to a file. One of them always reads, so that no other connection of any process
//! can remove transactions from the write-ahead log before they are replicated.

use std::path::Path;
use std::thread;
use std::time::Duration;

use lyceum_core::{Problem, Result, message};
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::limits::REPLICA_BUSY_MAX_MS;

/// Pages that a copy reads at once.
const COPY_PAGES: i32 = 4096;
/// How often the log is carried over again if a short read prevents it, while writers wait.
const CARRY_OVER_TRIES: u32 = 5;
const CARRY_OVER_PAUSE: Duration = Duration::from_millis(2);

/// Two connections that take turns: one reads, the other one is free.
pub(crate) struct FileConnections {
    reading: Connection,
    free: Connection,
}

impl FileConnections {
    /// Opens an existing file. It gets a write-ahead log if it has none. The log stays when the connections are closed, so
    /// that it proves later what was written meanwhile.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        let opened = || Ok(Self { reading: connect(file)?, free: connect(file)? });
        opened().map_err(|fault| failed(&format!("open {}", file.display()), &fault))
    }

    /// Runs work while nobody writes, and lets the reading connection read the present state before and after it. `None` if
    /// a writer was busy for too long.
    pub(crate) fn while_nobody_writes<T>(
        &mut self,
        work: impl FnOnce(&mut ReadingConnection<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.free.execute_batch("BEGIN IMMEDIATE") {
            Err(fault) if fault.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                return Ok(None);
            }
            locked => locked.map_err(|fault| failed("wait for a writer", &fault))?,
        }
        let done = work(&mut ReadingConnection(&self.reading));
        // Nothing was written.
        let _ = self.free.execute_batch("ROLLBACK");
        done.map(Some)
    }

    /// Whether the reading connection reads. Otherwise nothing protects the log.
    pub(crate) fn is_reading(&self) -> bool {
        !self.reading.is_autocommit()
    }

    /// Closes the connections. SQLite then carries the log over and deletes it, unless somebody else has the file open.
    pub(crate) fn close_with_log(self) {
        for connection in [&self.reading, &self.free] {
            // Otherwise the log stays, which does no harm.
            let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        }
    }

    /// Lets the free connection read the present state, and frees the other one.
    pub(crate) fn advance(&mut self) -> Result<()> {
        begin_read(&self.free).map_err(|fault| failed("read", &fault))?;
        end(&self.reading);
        std::mem::swap(&mut self.reading, &mut self.free);
        Ok(())
    }

    /// Carries the log over into the file, up to the state that the reading connection sees. Returns the number of
    /// pages that are left.
    pub(crate) fn carry_over(&self) -> Result<u64> {
        carry_over(&self.free).map_err(|fault| failed("carry over the log", &fault))
    }
}

/// The reading connection while nobody writes.
pub(crate) struct ReadingConnection<'a>(&'a Connection);

impl ReadingConnection<'_> {
    /// Begins to read the present state.
    pub(crate) fn renew(&mut self) -> Result<()> {
        end(self.0);
        begin_read(self.0).map_err(|fault| failed("read", &fault))
    }

    /// Carries the whole log over into the file, unless another connection reads an older state, and begins to read
    /// the present state. Returns whether the next writer can restart the log.
    pub(crate) fn carry_over(&mut self) -> Result<bool> {
        end(self.0);
        let mut left = carry_over(self.0);
        for _ in 0..CARRY_OVER_TRIES {
            if !matches!(left, Ok(1..)) {
                break;
            }
            thread::sleep(CARRY_OVER_PAUSE);
            left = carry_over(self.0);
        }
        begin_read(self.0).map_err(|fault| failed("read", &fault))?;
        left.map(|left| left == 0).map_err(|fault| failed("carry over the log", &fault))
    }
}

/// A connection that reads one state of a file until it is copied.
pub(crate) struct FileState(Connection);

impl FileState {
    /// Reads the present state. The caller sees to it that nobody writes.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let connection = connect(file).and_then(|connection| {
            begin_read(&connection)?;
            Ok(connection)
        });
        connection.map(Self).map_err(|fault| failed(&format!("open {}", file.display()), &fault))
    }

    /// Copies the state to a file that does not exist.
    pub(crate) fn copy(self, to: &Path) -> Result<()> {
        let copied = || -> rusqlite::Result<()> {
            let mut copy = Connection::open(to)?;
            // A copy that a crash interrupts is not used.
            copy.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")?;
            Backup::new(&self.0, &mut copy)?.run_to_completion(COPY_PAGES, Duration::ZERO, None)?;
            copy.close().map_err(|(_, fault)| fault)
        };
        copied().map_err(|fault| failed("copy a database", &fault))
    }
}

/// Checks a restored file. Returns what is wrong with it.
pub(crate) fn check(file: &Path) -> Option<String> {
    let checked = || -> rusqlite::Result<String> {
        let connection = Connection::open(file)?;
        // The copy of a database with a log says so in its header. Without a log beside it, it needs none.
        let report = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        connection.close().map_err(|(_, fault)| fault)?;
        Ok(report)
    };
    match checked() {
        Ok(report) if report == "ok" => None,
        Ok(report) => Some(report),
        Err(fault) => Some(fault.to_string()),
    }
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(Duration::from_millis(REPLICA_BUSY_MAX_MS))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let message =
            message!("the file cannot have a write-ahead log (its journal mode is {mode})");
        return Err(rusqlite::Error::ToSqlConversionFailure(message.into()));
    }
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256; PRAGMA mmap_size = 0",
    )?;
    Ok(connection)
}

fn begin_read(connection: &Connection) -> rusqlite::Result<()> {
    end(connection);
    let began = connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1");
    if began.is_err() {
        end(connection);
    }
    began
}

fn end(connection: &Connection) {
    if !connection.is_autocommit() {
        // A transaction that only read ends in any case.
        let _ = connection.execute_batch("COMMIT");
    }
}

/// Returns the number of pages in the log that are not carried over; the largest number while another connection carries
/// it over.
fn carry_over(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        if row.get::<_, i64>(0)? != 0 {
            return Ok(u64::MAX);
        }
        let (log, done): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(u64::try_from(log - done).unwrap_or(0))
    })
}

fn failed(what: &str, fault: &rusqlite::Error) -> Problem {
    Problem::internal(format!("{what}: {fault}"))
}
