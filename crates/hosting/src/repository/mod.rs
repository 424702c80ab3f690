//! The SQL of projects, a file a part.

pub(crate) mod audit;
pub(crate) mod deployments;
pub(crate) mod projects;
pub(crate) mod secrets;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

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

fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    row.int(column).map(Timestamp::from_milliseconds)
}

fn ms(at: Timestamp) -> Value<'static> {
    at.milliseconds().into()
}

fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our own types have string keys")
}

fn json_in<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(Problem::internal)
}
