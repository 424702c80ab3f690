//! Limits of the machine, in this process: what no server here can be faster than.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::anchor;

/// Rows that share one transaction or one statement.
const ROWS_PER_TRANSACTION: usize = 1000;
/// Rows read ahead of the clock, so that reading them is not measured.
const ROWS_READ_AHEAD: usize = 100_000;
/// Bytes of a row of [`random_key_insert`]: the body and columns of a user in Lyceum.
const ROW_BYTES: usize = 870;

/// The unique key of the log.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// The event's random UUID.
    Random,
    /// The row's number alone.
    Sequential,
}

/// Rows a second of a call that inserts [`ROWS_PER_TRANSACTION`].
#[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^52")]
fn rows_per_second(time: Duration, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let (start, mut rows) = (Instant::now(), 0);
    while start.elapsed() < time {
        call()?;
        rows += ROWS_PER_TRANSACTION;
    }
    Ok(rows as f64 / start.elapsed().as_secs_f64())
}

/// Rows a second in durable transactions of 1000 on a new SQLite file with this table, each with a random id.
fn sqlite_insert(folder: &Path, table: &str, body: &str, time: Duration) -> Result<f64> {
    let scratch = tempfile::tempdir_in(folder)?;
    let mut connection = anchor::open(&scratch.path().join("insert.db"), "FULL")?;
    connection.execute_batch(table)?;
    let mut random = fastrand::Rng::with_seed(45);
    rows_per_second(time, || {
        let ids = (0..ROWS_PER_TRANSACTION).map(|_| format!("{:032x}", random.u128(..)));
        let rows: Vec<Vec<Value>> = ids.map(|id| vec![id.into(), body.to_owned().into()]).collect();
        insert_all(&mut connection, "insert into rows(id, body) values (?, ?)", &rows)
    })
}

/// Rows a second with a unique random text key (W1's limit).
pub(crate) fn random_key_insert(folder: &Path, time: Duration) -> Result<f64> {
    event_insert(folder, &"x".repeat(ROW_BYTES), Key::Random, time)
}

/// Events a second (the limits of E1 and E2).
pub(crate) fn event_insert(folder: &Path, body: &str, key: Key, time: Duration) -> Result<f64> {
    let unique = if key == Key::Random { "unique" } else { "" };
    let table = format!(
        "create table rows(seq integer primary key, id text not null {unique}, body text not null)"
    );
    sqlite_insert(folder, &table, body, time)
}

/// Events a second by one connection, 1000 a statement, on PostgreSQL with `fsync` on (D2's limit).
pub(crate) fn unnest_insert(url: &str, table: &str, body: &str, time: Duration) -> Result<f64> {
    let mut client = postgres::Client::connect(url, postgres::NoTls)?;
    client.batch_execute(&format!(
        "create table {table}(seq bigserial primary key, id text not null, body text not null)"
    ))?;
    let insert = client.prepare(&format!(
        "insert into {table}(id, body) select * from unnest($1::text[], $2::text[])"
    ))?;
    let mut random = fastrand::Rng::with_seed(47);
    let bodies = vec![body; ROWS_PER_TRANSACTION];
    rows_per_second(time, || {
        let ids: Vec<String> = bodies.iter().map(|_| format!("{:032x}", random.u128(..))).collect();
        client.execute(&insert, &[&ids, &bodies])?;
        Ok(())
    })
}

/// The time that raw SQLite takes to insert all rows of an import of Lyceum into an empty copy of its schema, with the
/// same indexes and nothing but prepared statements (W2's limit).
pub(crate) fn same_index_insert(filled: &Path) -> Result<Duration> {
    let folder = filled.parent().unwrap_or(Path::new("."));
    let scratch = tempfile::tempdir_in(folder)?;
    let source = Connection::open(filled)?;
    let mut target = anchor::open(&scratch.path().join("replay.db"), "FULL")?;
    let schema = |what: &str| -> Result<Vec<String>> {
        let mut statement = source
            .prepare(&format!("select {what} from sqlite_schema where name not like 'sqlite_%'"))?;
        let texts = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
        Ok(texts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };
    for sql in schema("sql")? {
        target.execute_batch(&sql)?;
    }
    let mut total = Duration::ZERO;
    for table in schema("case type when 'table' then name end")? {
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
