//! The only SQL of this crate, a file for each part of the platform.

pub(crate) mod achievements;
pub(crate) mod games;
pub(crate) mod inventory;
pub(crate) mod levels;
pub(crate) mod lms;
pub(crate) mod notifications;
pub(crate) mod players;
pub(crate) mod requests;
pub(crate) mod scores;
pub(crate) mod sessions;
pub(crate) mod states;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Row, Tx, Value};

/// Every row of a query, read.
fn all<T>(
    tx: &mut Tx<'_>,
    sql: &str,
    params: &[Value<'_>],
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    tx.query(sql, params, |row| {
        rows.push(read(row)?);
        Ok(true)
    })?;
    Ok(rows)
}

fn text(row: &Row<'_>, column: usize) -> Result<String> {
    row.text(column).map(str::to_owned)
}

fn opt_text(row: &Row<'_>, column: usize) -> Result<Option<String>> {
    Ok(row.opt_text(column)?.map(str::to_owned))
}

fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    row.int(column).map(Timestamp::from_milliseconds)
}

fn opt_time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    Ok(row.opt_int(column)?.map(Timestamp::from_milliseconds))
}

fn ms(at: Timestamp) -> Value<'static> {
    at.milliseconds().into()
}
