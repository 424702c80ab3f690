//! W2's limit: the rows that an import of Lyceum wrote, inserted again into the same tables
//! with the same indexes by nothing but prepared statements.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::anchor;

/// Rows that share one durable transaction.
const ROWS_PER_TRANSACTION: usize = 1000;
/// Rows read ahead of the clock, so that reading them is not measured.
const ROWS_READ_AHEAD: usize = 100_000;

/// The time that raw SQLite takes to insert all rows of `filled` into an empty copy of its schema.
pub(crate) fn same_index_insert(filled: &Path) -> Result<Duration> {
    let folder = filled.parent().context("the database lies in a folder")?;
    let scratch = tempfile::tempdir_in(folder)?;
    let source = Connection::open(filled)?;
    let mut target = anchor::open(&scratch.path().join("replay.db"), "FULL")?;
    for sql in texts(
        &source,
        "select sql from sqlite_schema where sql is not null and name not like 'sqlite_%'",
    )? {
        target.execute_batch(&sql)?;
    }
    let tables = texts(
        &source,
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    )?;
    let mut total = Duration::ZERO;
    for table in tables {
        total += copy(&source, &mut target, &table)?;
    }
    Ok(total)
}

/// Copies one table and answers how long the inserts took.
fn copy(source: &Connection, target: &mut Connection, table: &str) -> Result<Duration> {
    let mut select = source.prepare(&format!("select * from \"{table}\""))?;
    let columns = select.column_count();
    let marks = vec!["?"; columns].join(",");
    let insert = format!("insert or replace into \"{table}\" values ({marks})");
    let mut rows = select.query([])?;
    let mut total = Duration::ZERO;
    loop {
        let mut ahead: Vec<Vec<Value>> = Vec::with_capacity(ROWS_READ_AHEAD);
        while ahead.len() < ROWS_READ_AHEAD {
            let Some(row) = rows.next()? else { break };
            ahead.push((0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?);
        }
        if ahead.is_empty() {
            return Ok(total);
        }
        let start = Instant::now();
        for chunk in ahead.chunks(ROWS_PER_TRANSACTION) {
            insert_all(target, &insert, chunk)?;
        }
        total += start.elapsed();
    }
}

/// Inserts the rows in one transaction.
fn insert_all(target: &mut Connection, sql: &str, rows: &[Vec<Value>]) -> Result<()> {
    let transaction = target.transaction()?;
    {
        let mut insert = transaction.prepare_cached(sql)?;
        for row in rows {
            insert.execute(params_from_iter(row))?;
        }
    }
    Ok(transaction.commit()?)
}

/// The first column of every row.
fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
