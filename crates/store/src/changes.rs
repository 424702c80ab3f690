//! Wakes tasks that look into the database again and again once it has changed, whichever process changed it: this one,
//! another server, or a command beside the server.
//!
//! One task asks the store for a version that each commit changes. While it stays the same, no other task asks anything.

use std::time::Duration;

use lyceum_core::{Problem, Result};
use rusqlite::Connection;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::sqlite::{ConnectionUse, SqliteFile};
use crate::{Tx, problem};

/// The changes of a database that a task has seen.
#[derive(Debug)]
pub struct Changes(watch::Receiver<()>);

impl Changes {
    pub(crate) fn of(notices: &watch::Sender<()>) -> Self {
        Self(notices.subscribe())
    }

    /// Waits for `pause`, and then until the database has changed since the last call, at most until `due` has passed.
    pub async fn wait(&mut self, pause: Duration, due: Option<Duration>) {
        sleep(pause).await;
        // An error: the database is closed.
        match due {
            Some(due) => drop(timeout(due.saturating_sub(pause), self.0.changed()).await),
            None => drop(self.0.changed().await),
        }
    }
}

/// Reads the version of an SQLite file on a connection of its own, because only versions of one connection can be
/// compared.
#[derive(Default)]
pub(crate) struct SqliteVersion(Option<Connection>);

impl SqliteVersion {
    pub(crate) fn read(&mut self, file: &SqliteFile) -> Result<String> {
        let connection = match self.0.take() {
            Some(connection) => connection,
            None => file.connect(ConnectionUse::Read)?,
        };
        let sql = "PRAGMA data_version";
        let read = connection.prepare_cached(sql);
        let read = read.and_then(|mut it| it.query_row([], |row| row.get::<_, i64>(0)));
        let version = read.map_err(|error| problem::sqlite(&error, sql))?;
        self.0 = Some(connection);
        Ok(version.to_string())
    }
}

/// Reads the version of a PostgreSQL cluster: the transactions that a statement sees.
pub(crate) fn postgres_version(tx: &mut Tx<'_>) -> Result<String> {
    let version = tx.query_one("SELECT pg_current_snapshot()::text", &[], |row| row.string(0))?;
    version.ok_or_else(|| Problem::internal("PostgreSQL reports no snapshot"))
}

/// Compares versions.
#[derive(Default)]
pub(crate) struct SeenVersion(Option<String>);

impl SeenVersion {
    /// Whether something may have changed: the version did, or cannot be read, or is the first one.
    pub(crate) fn replace(&mut self, read: Result<String>) -> bool {
        let now = read.ok();
        let is_same = now.is_some() && now == self.0;
        self.0 = now;
        !is_same
    }
}
