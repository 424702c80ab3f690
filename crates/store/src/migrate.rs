//! Migrations: forward only, from every released state.

use std::path::Path;

use lyceum_core::{Problem, ProblemKind, Result};
use refinery::error::Kind;
use refinery::{Report, Runner};

use crate::dialect::{self, Dialect};
use crate::postgres::{Client, Failed};
use crate::sqlite::{File, Use};

/// One step of the schema. Written in the common DDL (`TEXT`, `BIGINT`, `REAL`, `BLOB`,
/// `ROWID` for a store-numbered primary key); [`crate::dialect`] translates it.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its number, unique over all crates; applied in this order.
    pub version: i32,
    /// What it does, in `snake_case`.
    pub name: &'static str,
    /// The DDL.
    pub sql: &'static str,
}

/// The store's own tables.
const STORE: Migration =
    Migration { version: 1, name: "store", sql: include_str!("../migrations/V1__store.sql") };

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
pub(crate) fn sqlite(file: &File, path: &Path, migrations: &[Migration]) -> Result<()> {
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
            format!("The folder '{folder}' cannot be opened: {error}"),
        )
    })?;
    let mut connection = file.connect(Use::Write)?;
    run(Dialect::Sqlite, migrations, |runner| runner.run(&mut connection))
}

/// Brings a PostgreSQL database forward, one process at a time.
pub(crate) fn postgres(client: &mut Client, migrations: &[Migration]) -> Result<()> {
    let lock = format!("SELECT pg_advisory_lock({MIGRATION_LOCK})");
    let locked = client.wait(&lock, async |client| client.batch_execute(&lock).await);
    locked.map_err(Failed::problem)?;
    // The lock ends with the connection.
    run(Dialect::Postgres, migrations, |runner| client.migrate(runner))
}

fn run(
    dialect: Dialect,
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
                "The database has schema version {}, this program knows {known}: \
                 use a newer lyceum, or a backup from before the upgrade",
                newest.version()
            ),
        ),
        _ => Problem::internal(error),
    })
}
