//! The limits of event intake: the same bytes inserted with nothing checked.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::params;

use super::{Limit, measure};
use crate::anchor;

/// Events that share one transaction or one statement.
const EVENTS_PER_TRANSACTION: u64 = 1000;

/// What the log's unique key is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// The event's random UUID.
    Random,
    /// The row's number alone.
    Sequential,
}

/// Events a second in durable transactions of 1000 on SQLite (the limits of E1 and E2).
pub(crate) fn event_insert(folder: &Path, body: &str, key: Key, time: Duration) -> Result<Limit> {
    let scratch = tempfile::tempdir_in(folder)?;
    let mut connection = anchor::open(&scratch.path().join("log.db"), "FULL")?;
    let unique = if key == Key::Random { "unique" } else { "" };
    connection.execute_batch(&format!(
        "create table log(seq integer primary key, id text not null {unique}, body text not null)"
    ))?;
    let mut random = fastrand::Rng::with_seed(46);
    measure("SQLite event insert, 1000 a transaction, FULL", time, || {
        let transaction = connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("insert into log(id, body) values (?, ?)")?;
            for _ in 0..EVENTS_PER_TRANSACTION {
                insert.execute(params![format!("{:032x}", random.u128(..)), body])?;
            }
        }
        transaction.commit()?;
        Ok(EVENTS_PER_TRANSACTION)
    })
}

/// Events a second by one connection, 1000 a statement, on PostgreSQL with `fsync` on (D2's limit).
pub(crate) fn unnest_insert(url: &str, table: &str, body: &str, time: Duration) -> Result<Limit> {
    let mut client = postgres::Client::connect(url, postgres::NoTls)?;
    client.batch_execute(&format!(
        "create table {table}(seq bigserial primary key, id text not null, body text not null)"
    ))?;
    let insert = client.prepare(&format!(
        "insert into {table}(id, body) select * from unnest($1::text[], $2::text[])"
    ))?;
    let mut random = fastrand::Rng::with_seed(47);
    let bodies = vec![body; usize::try_from(EVENTS_PER_TRANSACTION)?];
    measure("PostgreSQL event insert, 1000 a statement", time, || {
        let ids: Vec<String> = bodies.iter().map(|_| format!("{:032x}", random.u128(..))).collect();
        client.execute(&insert, &[&ids, &bodies])?;
        Ok(EVENTS_PER_TRANSACTION)
    })
}
