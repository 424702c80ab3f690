//! Migrations: forward only, from every released state.

use std::path::Path;

use lyceum_core::{Problem, ProblemKind, Result};
use refinery::error::Kind;
use refinery::{Report, Runner};

use crate::dialect::{self, SqlDialect};
use crate::postgres::{Client, FailedStatement};
use crate::sqlite::{ConnectionUse, SqliteFile};

/// One step of the schema. Written in the common DDL (`TEXT`, `BIGINT`, `REAL`, `BLOB`,
/// `ROWID` for a store-numbered primary key); [`crate::dialect`] translates it.
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
const STORE: Migration = migration!(1, "store");

/// The number under which processes that migrate one PostgreSQL database take turns.
const MIGRATION_LOCK: i64 = 0x6c79_6365_756d;

/// The table of the migrations that were applied.
const HISTORY: &str = "refinery_schema_history";

/// The names of all tables that these migrations and the store itself make.
pub fn tables(migrations: &[Migration]) -> Vec<&'static str> {
    let texts = [&[STORE], migrations].concat().into_iter().map(|migration| migration.sql);
    let made =
        texts.flat_map(|sql| sql.lines().filter_map(|line| line.strip_prefix("CREATE TABLE ")));
    let names = made.filter_map(|rest| {
        let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest);
        rest.split(|letter: char| letter == '(' || letter.is_whitespace()).next()
    });
    [HISTORY].into_iter().chain(names).collect()
}

/// Brings an SQLite file forward, one process at a time.
pub(crate) fn sqlite(file: &SqliteFile, path: &Path, migrations: &[Migration]) -> Result<()> {
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
            format!("the folder '{folder}' cannot be opened: {error}"),
        )
    })?;
    let mut connection = file.connect(ConnectionUse::Write)?;
    run(SqlDialect::Sqlite, migrations, |runner| runner.run(&mut connection))
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
    let mut other = if is_behind(client, migrations)? { other() } else { None };
    if let Some(other) = &mut other {
        let held = other.wait(NO_TURNS, async |client| client.batch_execute(NO_TURNS).await);
        held.map_err(FailedStatement::problem)?;
    }
    // The locks end with the connections.
    run(SqlDialect::Postgres, migrations, |runner| client.migrate(runner))
}

/// Whether the database has a schema, and lacks the newest migration.
fn is_behind(client: &mut Client, migrations: &[Migration]) -> Result<bool> {
    let table = "SELECT to_regclass('refinery_schema_history') IS NOT NULL";
    let is_there = client.wait(table, async |client| client.query_one(table, &[]).await);
    if !is_there.map_err(FailedStatement::problem)?.get::<_, bool>(0) {
        return Ok(false);
    }
    let newest = "SELECT max(version) FROM refinery_schema_history";
    let found = client.wait(newest, async |client| client.query_one(newest, &[]).await);
    let found: Option<i32> = found.map_err(FailedStatement::problem)?.get(0);
    Ok(found < migrations.iter().map(|migration| migration.version).max())
}

fn run(
    dialect: SqlDialect,
    migrations: &[Migration],
    apply: impl FnOnce(&Runner) -> Result<Report, refinery::Error>,
) -> Result<()> {
    let all = [&[STORE], migrations].concat();
    let known = all.iter().map(|migration| migration.version).max().unwrap_or(0);
    let steps = all
        .iter()
        .map(|Migration { version, name, sql }| {
            refinery::Migration::unapplied(
                &format!("V{version}__{name}"),
                &dialect::ddl(dialect, sql),
            )
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(Problem::internal)?;
    let ran = apply(&Runner::new(&steps));
    ran.map(drop).map_err(|error| match error.kind() {
        Kind::MissingVersion(newest) if newest.version() > known => Problem::new(
            ProblemKind::Conflict,
            format!(
                "the database has the schema version {}, but this program knows only {known}; \
                 use a newer lyceum, or a backup from before the upgrade",
                newest.version()
            ),
        ),
        _ => Problem::internal(error),
    })
}
