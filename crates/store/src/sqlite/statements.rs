//! Statements on a connection.

use lyceum_core::Result;
use rusqlite::{CachedStatement, Connection};

use crate::row::RowCells;
use crate::{Row, Value, problem};

fn prepare<'a>(
    connection: &'a Connection,
    sql: &str,
    params: &[Value<'_>],
) -> Result<CachedStatement<'a>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(sql)?;
    debug_assert!(
        (1..=statement.parameter_count())
            .all(|n| statement.parameter_name(n) == Some(&format!("${n}"))),
        "placeholders are numbered in order of first use: {sql}"
    );
    if statement.parameter_count() != params.len() {
        return Err(rusqlite::Error::InvalidParameterCount(
            params.len(),
            statement.parameter_count(),
        ));
    }
    for (at, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, value)?;
    }
    Ok(statement)
}

pub(crate) fn query(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
    each: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
) -> Result<()> {
    let failed = |error| problem::sqlite(&error, sql);
    let mut statement = prepare(connection, sql, params).map_err(failed)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        if !each(&Row(RowCells::Sqlite(row)))? {
            break;
        }
    }
    Ok(())
}

pub(crate) fn execute(connection: &Connection, sql: &str, params: &[Value<'_>]) -> Result<u64> {
    let changed = prepare(connection, sql, params).and_then(|mut it| it.raw_execute());
    changed.map(|rows| rows as u64).map_err(|error| problem::sqlite(&error, sql))
}

/// Inserts a row as `Tx::insert` says. SQLite makes a table of what a statement returns, and keeps every
/// page that it changes until it ends: `RETURNING` is a quarter of a short insert.
pub(crate) fn insert(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
) -> Result<Option<i64>> {
    let added = execute(connection, sql, params)?;
    Ok((added > 0).then(|| connection.last_insert_rowid()))
}

/// Updates rows as `Tx::update_rows` says.
pub(crate) fn update_rows(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    keys: &[&str],
    values: &[Value<'_>],
) -> Result<u64> {
    let equals = |(at, name)| format!("{name} = ${at}");
    let sets: Vec<String> = (1..).zip(columns).map(equals).collect();
    let finds: Vec<String> = (columns.len() + 1..).zip(keys).map(equals).collect();
    let sql = format!("UPDATE {table} SET {} WHERE {}", sets.join(", "), finds.join(" AND "));
    run_rows(connection, &sql, columns.len() + keys.len(), values)
}

/// A prepared row, run once a row: as fast as rows bundled into one statement.
pub(crate) fn insert_rows(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    values: &[Value<'_>],
    conflict: &str,
) -> Result<u64> {
    let holes: Vec<String> = (1..=columns.len()).map(|n| format!("${n}")).collect();
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({}) {conflict}",
        columns.join(", "),
        holes.join(", ")
    );
    run_rows(connection, &sql, columns.len(), values)
}

fn run_rows(connection: &Connection, sql: &str, width: usize, values: &[Value<'_>]) -> Result<u64> {
    let failed = |error| problem::sqlite(&error, sql);
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut changed = 0;
    for row in values.chunks_exact(width) {
        for (at, value) in row.iter().enumerate() {
            statement.raw_bind_parameter(at + 1, value).map_err(failed)?;
        }
        changed += statement.raw_execute().map_err(failed)? as u64;
    }
    Ok(changed)
}
