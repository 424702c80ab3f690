//! The table of the migrations that were applied. Databases from before the first release have another list, and are taken
//! over if it is complete.

use lyceum_core::{Problem, ProblemKind, Result};
use refinery::Migration;
use rusqlite::{Connection, OptionalExtension};

use crate::postgres::{Client, FailedStatement};
use crate::problem;

/// The number of the last migration of the first release's schema.
pub(crate) const FIRST_SCHEMA: i32 = 13;
/// The number of migrations, and the last of them, that a database has after an upgrade by commit 782f2ecb. Its tables are
/// those of the first release.
const BEFORE_FIRST_RELEASE: (i64, i32) = (79, 145);

const HAS_TABLE: &str = "SELECT 1 FROM sqlite_schema WHERE name = 'refinery_schema_history'";
const FINDS_TABLE: &str = "SELECT to_regclass('refinery_schema_history') IS NOT NULL";
const SUMMARY: &str = "SELECT count(*), max(version), max(CASE version WHEN 1 THEN checksum END) \
    FROM refinery_schema_history HAVING count(*) > 0";

/// What the table says.
pub(crate) struct SchemaHistory {
    count: i64,
    /// The number of the newest migration.
    pub(crate) newest: i32,
    /// The checksum of the migration with the number 1.
    first: Option<String>,
}

impl SchemaHistory {
    /// The history of an SQLite file; `None` before the first migration.
    pub(crate) fn of_sqlite(connection: &Connection) -> Result<Option<Self>> {
        let failed = |error| problem::sqlite(&error, SUMMARY);
        let has_table = connection.query_row(HAS_TABLE, [], |_| Ok(())).optional();
        if has_table.map_err(failed)?.is_none() {
            return Ok(None);
        }
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Self { count: row.get(0)?, newest: row.get(1)?, first: row.get(2)? })
        };
        connection.query_row(SUMMARY, [], read).optional().map_err(failed)
    }

    /// The history of a PostgreSQL database; `None` before the first migration.
    pub(crate) fn of_postgres(client: &mut Client) -> Result<Option<Self>> {
        let mut ask = |sql| {
            let row = client.wait(sql, async |client| client.query_opt(sql, &[]).await);
            row.map_err(FailedStatement::problem)
        };
        if !ask(FINDS_TABLE)?.is_some_and(|row| row.get(0)) {
            return Ok(None);
        }
        let read = |row: tokio_postgres::Row| Self {
            count: row.get(0),
            newest: row.get(1),
            first: row.get(2),
        };
        Ok(ask(SUMMARY)?.map(read))
    }

    /// The statements that replace a list from before the first release with the migrations of its schema; `None` for a
    /// database of a release. Errors: `Conflict` if the list is not complete.
    pub(crate) fn replacement(&self, migrations: &[Migration]) -> Result<Option<String>> {
        let first = migrations.iter().find(|one| one.version() == 1);
        if first.map(|first| first.checksum().to_string()) == self.first {
            return Ok(None);
        }
        let (count, newest) = BEFORE_FIRST_RELEASE;
        if (self.count, self.newest) != (count, newest) {
            return Err(Problem::new(
                ProblemKind::Conflict,
                "the database has a schema from before the first release; start Lyceum of commit 782f2ecb on it once, \
                 which upgrades it, and then this program",
            ));
        }
        let rows = migrations.iter().filter(|one| one.version() <= FIRST_SCHEMA).map(|one| {
            let (version, name, checksum) = (one.version(), one.name(), one.checksum());
            format!(
                "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) \
                 SELECT {version}, '{name}', applied_on, '{checksum}' FROM refinery_schema_history \
                 WHERE version = {newest};"
            )
        });
        let rows: String = rows.collect();
        Ok(Some(format!(
            "BEGIN; DELETE FROM refinery_schema_history WHERE version < {newest}; {rows} \
             DELETE FROM refinery_schema_history WHERE version = {newest}; COMMIT"
        )))
    }
}
