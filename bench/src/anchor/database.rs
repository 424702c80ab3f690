//! The anchor's tables.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};

use crate::data::{ENROLLMENTS_PER_USER, enrollment_json, user_id, user_json};

/// Bytes of the file that SQLite may map: all of it at the sizes measured here.
const MMAP_BYTES: i64 = 64 << 30;
/// Size of a connection's page cache, in KiB (negative by SQLite's convention).
const CACHE_KIB: i64 = -8192;

const SCHEMA: &str = "
    create table if not exists users(seq integer primary key, id text not null unique, body text not null);
    create table if not exists enrollments(
        seq integer primary key, id text not null unique, user_id text not null, body text not null);
    create index if not exists enrollments_user on enrollments(user_id, seq);";

/// Opens the database with a `synchronous` level of SQLite (`FULL`, `NORMAL`, `OFF`).
pub(crate) fn open(path: &Path, synchronous: &str) -> Result<Connection> {
    let connection =
        Connection::open(path).with_context(|| format!("cannot open '{}'", path.display()))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    // Else SQLite plans a statement again each time a new value is bound to its `limit ?`.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Users that are written in one transaction, so that the log of changes stays small.
const USERS_AT_ONCE: u64 = 10_000;

/// Makes the file with the network of `users` students, without syncing: nothing here is measured.
pub(crate) fn fill(path: &Path, users: u64) -> Result<()> {
    let unfinished = path.with_extension("part");
    if unfinished.exists() {
        fs::remove_file(&unfinished)?;
    }
    let mut connection = open(&unfinished, "OFF")?;
    connection.execute_batch(SCHEMA)?;
    let mut from = 0;
    while from < users {
        let to = users.min(from + USERS_AT_ONCE);
        fill_users(&mut connection, from..to)?;
        from = to;
    }
    connection.execute_batch("pragma wal_checkpoint(truncate)")?;
    drop(connection);
    Ok(fs::rename(unfinished, path)?)
}

fn fill_users(connection: &mut Connection, users: Range<u64>) -> Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut user = transaction.prepare_cached("insert into users(id, body) values (?, ?)")?;
        let mut enrollment = transaction
            .prepare_cached("insert into enrollments(id, user_id, body) values (?, ?, ?)")?;
        for i in users {
            let id = user_id(i);
            user.execute(params![id, user_json(i)])?;
            for k in 0..ENROLLMENTS_PER_USER {
                enrollment.execute(params![
                    format!("enr-{i:08}-{k}"),
                    id,
                    enrollment_json(i, k)
                ])?;
            }
        }
    }
    Ok(transaction.commit()?)
}
