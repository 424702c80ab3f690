//! Migrations: forward only, from every released state.

use std::path::Path;

use lyceum_core::{Problem, ProblemKind, Result, message};
use refinery::error::Kind;
use refinery::{Report, Runner};
use rusqlite::{Connection, OptionalExtension};

use crate::dialect::{self, SqlDialect};
use crate::postgres::{Client, FailedStatement};
use crate::problem;
use crate::sqlite::{ConnectionUse, SqliteFile};

/// A step of the schema. Written in the common DDL (`TEXT`, `BIGINT`, `REAL`, `BLOB`, `ROWID` for a
/// store-numbered primary key); [`crate::dialect`] translates it.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its number, unique over all crates; applied in this order.
    pub version: i32,
    /// Its name in `snake_case`.
    pub name: &'static str,
    /// The DDL.
    pub sql: &'static str,
}

/// The migration of a crate with that number and name, from the file `migrations/V<number>__<name>.sql`. For files directly
/// in `src`.
#[macro_export]
macro_rules! migration {
    ($version:literal, $name:literal) => {
        $crate::Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../migrations/V", $version, "__", $name, ".sql")),
        }
    };
}

/// The store's own tables.
const STORE: [Migration; 2] = [migration!(1, "store"), migration!(14, "record_clock")];

/// The number under which processes that migrate one PostgreSQL database take turns.
const MIGRATION_LOCK: i64 = 0x6c79_6365_756d;

/// The table of the migrations that were applied.
const HISTORY: &str = "refinery_schema_history";
const NEWEST: &str = "SELECT max(version) FROM refinery_schema_history";

/// The names of all tables that these migrations and the store itself make.
pub fn tables(migrations: &[Migration]) -> Vec<&'static str> {
    let texts = [&STORE, migrations].concat().into_iter().map(|migration| migration.sql);
    let made =
        texts.flat_map(|sql| sql.lines().filter_map(|line| line.strip_prefix("CREATE TABLE ")));
    let names = made.filter_map(|rest| {
        let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest);
        rest.split(|letter: char| letter == '(' || letter.is_whitespace()).next()
    });
    [HISTORY].into_iter().chain(names).collect()
}

/// Brings an SQLite file forward, one process at a time. Returns the connection, which writes from then on: opening one reads
/// the whole schema, and closing the last one writes the log into the file.
pub(crate) fn sqlite(
    file: &SqliteFile,
    path: &Path,
    migrations: &[Migration],
) -> Result<Connection> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // The folder is locked, not the file: closing a second handle of the file would drop SQLite's
    // own locks on it.
    let lock = std::fs::File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    let _lock = lock.map_err(|error| {
        let folder = folder.display();
        Problem::new(
            ProblemKind::Invalid,
            message!("the folder '{folder}' cannot be opened: {error}"),
        )
    })?;
    let mut connection = file.connect(ConnectionUse::Write)?;
    let steps = steps(SqlDialect::Sqlite, migrations)?;
    // Nobody else uses the file meanwhile, so a transaction for all of them keeps nobody waiting.
    outcome(Runner::new(&steps).set_grouped(true).run(&mut connection), &steps)?;
    Ok(connection)
}

/// Keeps writes of servers that run from taking a turn ([`crate::postgres`]) while this goes on: a turn holds
/// the table of migrations first and then the others, a migration the other way round. It is the lock that
/// writes beside others have.
const NO_TURNS: &str = "BEGIN; LOCK TABLE refinery_schema_history IN ROW SHARE MODE";

/// Brings a PostgreSQL database forward, one process at a time. Where there is anything to do in a database
/// that is in use, `other` makes a second connection, unless the server has no room for it.
pub(crate) fn postgres(
    client: &mut Client,
    other: impl FnOnce() -> Option<Client>,
    migrations: &[Migration],
) -> Result<()> {
    let lock = format!("SELECT pg_advisory_lock({MIGRATION_LOCK})");
    let locked = client.wait(&lock, async |client| client.batch_execute(&lock).await);
    locked.map_err(FailedStatement::problem)?;
    let steps = steps(SqlDialect::Postgres, migrations)?;
    let newest = steps.iter().map(refinery::Migration::version).max();
    let is_behind = newest_of_postgres(client)?.is_some_and(|stored| Some(stored) != newest);
    let mut other = if is_behind { other() } else { None };
    if let Some(other) = &mut other {
        let held = other.wait(NO_TURNS, async |client| client.batch_execute(NO_TURNS).await);
        held.map_err(FailedStatement::problem)?;
    }
    // The locks end with the connections.
    outcome(client.migrate(&Runner::new(&steps)), &steps)
}

/// The number of the newest migration of an SQLite file; `None` before the first one.
pub(crate) fn newest_of_sqlite(connection: &Connection) -> Result<Option<i32>> {
    const HAS_TABLE: &str = "SELECT 1 FROM sqlite_schema WHERE name = 'refinery_schema_history'";
    let failed = |error| problem::sqlite(&error, NEWEST);
    let has_table = connection.query_row(HAS_TABLE, [], |_| Ok(())).optional().map_err(failed)?;
    let newest = has_table.map(|()| connection.query_row(NEWEST, [], |row| row.get(0)));
    Ok(newest.transpose().map_err(failed)?.flatten())
}

/// The number of the newest migration of a PostgreSQL database; `None` before the first one.
pub(crate) fn newest_of_postgres(client: &mut Client) -> Result<Option<i32>> {
    let mut ask = |sql| {
        let row = client.wait(sql, async |client| client.query_one(sql, &[]).await);
        row.map_err(FailedStatement::problem)
    };
    let has_table = ask("SELECT to_regclass('refinery_schema_history') IS NOT NULL")?.get(0);
    if has_table { Ok(ask(NEWEST)?.get(0)) } else { Ok(None) }
}

/// The migrations of a store and the store's own, in their order.
fn steps(dialect: SqlDialect, migrations: &[Migration]) -> Result<Vec<refinery::Migration>> {
    let mut all = [&STORE, migrations].concat();
    all.sort_by_key(|migration| migration.version);
    let step = |Migration { version, name, sql }: &Migration| {
        let name = format!("V{version}__{name}");
        refinery::Migration::unapplied(&name, &dialect::ddl(dialect, sql))
    };
    all.iter().map(step).collect::<Result<_, _>>().map_err(Problem::internal)
}

fn outcome(ran: Result<Report, refinery::Error>, steps: &[refinery::Migration]) -> Result<()> {
    let known = steps.iter().map(refinery::Migration::version).max().unwrap_or(0);
    ran.map(drop).map_err(|error| match error.kind() {
        Kind::MissingVersion(newest) if newest.version() > known => Problem::new(
            ProblemKind::Conflict,
            message!(
                "the database has the schema version {version}, but this program knows only {known}; \
                 use a newer lyceum, or a backup from before the upgrade",
                version = newest.version()
            ),
        ),
        _ => Problem::internal(error),
    })
}
