//! Removes deleted content from the pages of a database.

use std::time::Duration;

use lyceum_core::{Problem, ProblemKind, Result};

use crate::limits::{POSTGRES_FREE_ROWS_MAX_MS, POSTGRES_SILENCE_MS};
use crate::postgres::{Client, FailedStatement, PostgresAddress, reach};
use crate::problem;
use crate::sqlite::{ConnectionUse, SqliteFile};

/// How often the log is truncated until nobody reads it any more.
const TRUNCATE_TRIES: u32 = 50;
const TRUNCATE_PAUSE: Duration = Duration::from_millis(200);

/// Rewrites the file without deleted content and empties its log. Writers wait meanwhile; readers do not.
pub(crate) fn sqlite(file: &SqliteFile) -> Result<()> {
    let connection = file.connect(ConnectionUse::Bulk)?;
    // In memory, the copy would need as much of it as the file is long.
    let vacuum = "PRAGMA temp_store = FILE; VACUUM";
    connection.execute_batch(vacuum).map_err(|error| problem::sqlite(&error, vacuum))?;
    let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
    for _ in 0..TRUNCATE_TRIES {
        let busy: Result<i64, _> = connection.query_row(truncate, [], |row| row.get(0));
        if busy.map_err(|error| problem::sqlite(&error, truncate))? == 0 {
            return Ok(());
        }
        std::thread::sleep(TRUNCATE_PAUSE);
    }
    Err(Problem::new(
        ProblemKind::Unavailable,
        "the log of the database is being read for a long time, so it could not be emptied; try again",
    ))
}

/// Frees deleted rows of the tables and computes their statistics again, beside readers and writers. PostgreSQL
/// overwrites freed rows later; only `VACUUM FULL`, which locks a table, removes them from its pages at once.
pub(crate) fn postgres(address: &PostgresAddress, tables: &[&str]) -> Result<()> {
    let mut client = reach(address)?;
    // A table with many rows takes long.
    client.set_patience(None);
    vacuum(&mut client, "ANALYZE", tables)
}

/// Frees deleted rows of the tables for new ones. Their files keep their size, because shrinking would need a lock.
/// Errors: `Unavailable` if a table takes too long.
pub(crate) fn free_rows(address: &PostgresAddress, tables: &[&str]) -> Result<()> {
    let mut client = reach(address)?;
    // The server ends the statement itself, so that it does not go on without a client.
    let most = POSTGRES_FREE_ROWS_MAX_MS;
    client.set_patience(Some(Duration::from_millis(most + POSTGRES_SILENCE_MS)));
    execute(&mut client, &format!("SET statement_timeout = {most}"))?;
    vacuum(&mut client, "TRUNCATE FALSE", tables)
}

fn vacuum(client: &mut Client, option: &str, tables: &[&str]) -> Result<()> {
    tables.iter().try_for_each(|table| execute(client, &format!("VACUUM ({option}) {table}")))
}

fn execute(client: &mut Client, sql: &str) -> Result<()> {
    let done = client.wait(sql, async |client| client.batch_execute(sql).await);
    done.map_err(FailedStatement::problem)
}
