//! The only SQL of this crate.

pub(crate) mod address;
pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod class_sign_ins;
pub(crate) mod clients;
pub(crate) mod device;
pub(crate) mod guesses;
pub(crate) mod identities;
pub(crate) mod keys;
pub(crate) mod links;
pub(crate) mod members;
pub(crate) mod people;
pub(crate) mod reach;
pub(crate) mod sealed;
pub(crate) mod sessions;
pub(crate) mod signing;

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, dialect};

/// A statement that reads these columns of the rows with some ids, and its value: the ids as JSON.
fn of_ids(tx: &Tx<'_>, table: &str, columns: &str, ids: &[&str]) -> Result<(String, String)> {
    let is_one = dialect::is_one_of(tx.dialect(), "id", "$1");
    let sql = format!("SELECT {columns} FROM {table} WHERE {is_one}");
    Ok((sql, serde_json::to_string(ids).map_err(Problem::internal)?))
}
