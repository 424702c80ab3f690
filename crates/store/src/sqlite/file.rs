//! The file of an SQLite database, and its connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::{Problem, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::transaction::{Transaction, read};
use crate::durable::log_of;
use crate::limits::{
    READY_FREE_MIN_BYTES, SQLITE_CACHE_BYTES, SQLITE_LOG_KEPT_BYTES, SQLITE_WRITE_CACHE_BYTES,
    STORE_STATEMENT_CACHE_ENTRIES,
};
use crate::signals::SignalSet;
use crate::tx::TxConnection;
use crate::{StoreOptions, Tx, problem};

/// Pages of the write-ahead log from which on the writer itself carries over what is left of it and
/// restarts the log (64 MiB); until then [`Checkpoints`](crate::checkpoint::Checkpoints) does that beside it.
const LOG_PAGES: u32 = 16_000;

/// Where the file is and how it is opened.
pub(crate) struct SqliteFile {
    pub(crate) path: PathBuf,
    options: StoreOptions,
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
