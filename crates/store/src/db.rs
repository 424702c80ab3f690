//! The handle of a database.

use std::path::PathBuf;
use std::time::Duration;

use lyceum_core::Result;

use crate::{Dialect, Migration, Tx};

/// Where the data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An SQLite file; its folder exists.
    Sqlite(PathBuf),
    /// A `postgres://…` address.
    Postgres(String),
}

/// A database: cheap to clone, shared by all threads.
#[derive(Clone)]
pub struct Db {}

impl Db {
    /// Opens the database and brings its schema forward.
    pub fn open(_target: &Target, _migrations: &[Migration]) -> Result<Self> {
        unimplemented!()
    }

    /// Which store this is.
    pub fn dialect(&self) -> Dialect {
        unimplemented!()
    }

    /// Runs a short indexed read. On SQLite inline, on the calling thread's own connection.
    pub async fn read<T, F>(&self, _work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        unimplemented!()
    }

    /// Runs a read that may be long (scan, export) on a reader thread; past `deadline` it is
    /// broken off and answers `Unavailable`.
    pub async fn scan<T, F>(&self, _deadline: Duration, _work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        unimplemented!()
    }

    /// Runs a write; when this answers `Ok`, it is durable. The closure does no I/O and may be
    /// run again (serialization failure, lost connection).
    pub async fn write<T, F>(&self, _work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        unimplemented!()
    }

    /// [`Db::scan`] without a deadline, for the command line: blocks the calling thread.
    pub fn read_blocking<T>(&self, _work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        unimplemented!()
    }

    /// One write transaction of any length for the command line (imports): blocks the calling
    /// thread, runs once.
    pub fn write_blocking<T>(&self, _work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        unimplemented!()
    }
}
