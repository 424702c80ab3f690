//! The banks of attempts.

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, dialect};

/// Stores a bank. An existing bank with the id is equal.
pub(crate) fn put(tx: &mut Tx<'_>, id: &str, body: &str) -> Result<()> {
    let sql = "INSERT INTO lesson_bank (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    tx.send(sql, &[id.into(), body.into()])
}

/// The text of a bank; `None` if it does not exist.
pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>> {
    tx.row("SELECT body FROM lesson_bank WHERE id = $1", &[id.into()])
}

/// The texts of banks, by id.
pub(crate) fn find_all(tx: &mut Tx<'_>, ids: &[&str]) -> Result<Vec<(String, String)>> {
    let ids = serde_json::to_string(ids).expect("texts are JSON");
    let is_one = dialect::is_one_of(tx.dialect(), "id", "$1");
    tx.rows(&format!("SELECT id, body FROM lesson_bank WHERE {is_one}"), &[ids.as_str().into()])
}

/// The text of a bank of an attempt.
pub(crate) fn get(tx: &mut Tx<'_>, id: &str) -> Result<String> {
    find(tx, id)?
        .ok_or_else(|| Problem::internal(format!("the bank '{id}' of an attempt is missing")))
}
