//! A look at a database that changes nothing in it.

use std::time::Duration;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};

use crate::limits::POSTGRES_READ_WAIT_MS;
use crate::postgres::{FailedStatement, PostgresAddress, reach};
use crate::sqlite::{ConnectionUse, SqliteFile};
use crate::{StoreLocation, StoreOptions, migrate};

/// The state of a database.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The version of the program that keeps it: `(3, 50)` for SQLite, `(15, 6)` for PostgreSQL.
    pub engine: (u32, u32),
    /// The newest migration that it has; none before the first start.
    pub schema: Option<i32>,
    /// The clock of its server; SQLite has none of its own.
    pub clock: Option<Timestamp>,
}

/// Inspects a database without migrating it. Errors: `Unavailable` when it cannot be reached.
pub fn inspect(target: &StoreLocation) -> Result<Inspection> {
    match target {
        StoreLocation::Sqlite(path) => sqlite(&SqliteFile::new(path, StoreOptions::default())),
        StoreLocation::Postgres(url) => server(url),
    }
}

const SERVER: &str = "SELECT current_setting('server_version_num')::bigint,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

fn sqlite(file: &SqliteFile) -> Result<Inspection> {
    let connection = file.connect(ConnectionUse::Scan)?;
    let schema = migrate::newest_of_sqlite(&connection)?;
    let version = u32::try_from(rusqlite::version_number()).map_err(Problem::internal)?;
    Ok(Inspection { engine: (version / 1_000_000, version / 1_000 % 1_000), schema, clock: None })
}

fn server(url: &str) -> Result<Inspection> {
    let mut client = reach(&PostgresAddress::parse(url)?)?;
    client.set_patience(Some(Duration::from_millis(POSTGRES_READ_WAIT_MS)));
    let row = client.wait(SERVER, async |client| client.query_one(SERVER, &[]).await);
    let row = row.map_err(FailedStatement::problem)?;
    let (version, clock): (i64, i64) = (row.get(0), row.get(1));
    let version = u32::try_from(version).map_err(Problem::internal)?;
    Ok(Inspection {
        engine: (version / 10_000, version % 10_000),
        schema: migrate::newest_of_postgres(&mut client)?,
        clock: Some(Timestamp::from_milliseconds(clock)),
    })
}
