//! Links with which people set a password, once.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use crate::secret::SecretHash;

/// Adds a link.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    hash: &SecretHash,
    person: &str,
    expires: Timestamp,
) -> Result<()> {
    let sql = "INSERT INTO sign_in_links (hash, person, expires_ms) VALUES ($1, $2, $3)";
    let expires = expires.milliseconds();
    tx.send(sql, &[hash.as_slice().into(), person.into(), expires.into()])?;
    Ok(())
}

/// The person of a link that is still valid.
pub(crate) fn person(tx: &mut Tx<'_>, now: Timestamp, hash: &SecretHash) -> Result<Option<String>> {
    let sql = "SELECT person FROM sign_in_links WHERE hash = $1 AND expires_ms > $2";
    let now = now.milliseconds();
    tx.query_one(sql, &[hash.as_slice().into(), now.into()], |row| Ok(row.text(0)?.to_owned()))
}

/// Deletes the links of an account.
pub(crate) fn delete_all_of(tx: &mut Tx<'_>, person: &str) -> Result<()> {
    tx.send("DELETE FROM sign_in_links WHERE person = $1", &[person.into()])?;
    Ok(())
}
