//! SQLite without a server, on the anchor's tables.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, params};

use super::{Limit, measure};
use crate::anchor;
use crate::data::user_id;

/// Rows that share one transaction in the bulk limits.
const ROWS_PER_TRANSACTION: u64 = 1000;

/// A point read, a page of 100 by key, a user's enrollments.
pub(super) fn reads(database: &Path, users: u64, time: Duration) -> Result<Vec<Limit>> {
    let connection = anchor::open(database, "NORMAL")?;
    let mut random = fastrand::Rng::with_seed(42);
    let mut key = move || user_id(random.u64(0..users));
    Ok(vec![
        {
            let mut one = connection.prepare("select body from users where id = ?")?;
            measure("SQLite point read", time, || {
                one.query_row([key()], |row| row.get::<_, String>(0))?;
                Ok(1)
            })?
        },
        {
            let sql = "select body from users where seq > ? order by seq limit 100";
            let mut random = fastrand::Rng::with_seed(43);
            texts_of(&connection, "SQLite page of 100 by key", sql, time, move || {
                random.u64(0..users).to_string()
            })?
        },
        {
            let sql = "select body from enrollments where user_id = ? order by seq limit 100";
            let mut random = fastrand::Rng::with_seed(44);
            texts_of(&connection, "SQLite enrollments of a user", sql, time, move || {
                user_id(random.u64(0..users))
            })?
        },
    ])
}

/// Measures a query of one parameter whose texts are copied into one string.
fn texts_of(
    connection: &Connection,
    name: &'static str,
    sql: &str,
    time: Duration,
    mut parameter: impl FnMut() -> String,
) -> Result<Limit> {
    let mut statement = connection.prepare(sql)?;
    measure(name, time, || {
        let mut out = String::with_capacity(64 * 1024);
        let mut rows = statement.query([parameter()])?;
        while let Some(row) = rows.next()? {
            out.push_str(row.get_ref(0)?.as_str()?);
        }
        Ok(1)
    })
}

/// Bytes of a row of [`random_key_insert`]: the body and columns of a user in Lyceum.
const ROW_BYTES: usize = 870;

/// Rows a second in durable transactions of 1000 with a unique random text key (W1's limit).
pub(crate) fn random_key_insert(folder: &Path, time: Duration) -> Result<Limit> {
    let scratch = tempfile::tempdir_in(folder)?;
    let file = scratch.path().join("insert.db");
    anchor::fill(&file, 0)?;
    let mut connection = anchor::open(&file, "FULL")?;
    let mut random = fastrand::Rng::with_seed(45);
    let body = "x".repeat(ROW_BYTES);
    measure("SQLite insert, 1000 a transaction, FULL, random key", time, || {
        let transaction = connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("insert into users(id, body) values (?, ?)")?;
            for _ in 0..ROWS_PER_TRANSACTION {
                insert.execute(params![format!("w-{:032x}", random.u128(..)), body])?;
            }
        }
        transaction.commit()?;
        Ok(ROWS_PER_TRANSACTION)
    })
}
