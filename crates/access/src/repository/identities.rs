//! Identities at OpenID providers.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

/// The id of the account that an identity opens.
pub(crate) fn person(tx: &mut Tx<'_>, issuer: &str, subject: &str) -> Result<Option<String>> {
    let sql = "SELECT person FROM person_identities WHERE issuer = $1 AND subject = $2";
    tx.query_one(sql, &[issuer.into(), subject.into()], |row| Ok(row.text(0)?.to_owned()))
}

/// Issuer, subject and time of the identities that open an account.
pub(crate) fn of_person(tx: &mut Tx<'_>, person: &str) -> Result<Vec<(String, String, Timestamp)>> {
    let sql = "SELECT issuer, subject, made_ms FROM person_identities WHERE person = $1 \
               ORDER BY made_ms, issuer";
    tx.rows(sql, &[person.into()])
}

/// Lets the identities of an issuer open the account no more. Returns false if there was none.
pub(crate) fn delete(tx: &mut Tx<'_>, issuer: &str, person: &str) -> Result<bool> {
    let sql = "DELETE FROM person_identities WHERE issuer = $1 AND person = $2";
    Ok(tx.execute(sql, &[issuer.into(), person.into()])? > 0)
}

/// Whether an account is opened by an identity of the issuer.
pub(crate) fn has_one(tx: &mut Tx<'_>, issuer: &str, person: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM person_identities WHERE person = $1 AND issuer = $2 LIMIT 1";
    Ok(tx.query_one(sql, &[person.into(), issuer.into()], |_| Ok(()))?.is_some())
}

/// Lets an identity open an account from now on.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (issuer, subject): (&str, &str),
    person: &str,
) -> Result<()> {
    let sql = "INSERT INTO person_identities (issuer, subject, person, made_ms) \
               VALUES ($1, $2, $3, $4)";
    tx.send(sql, &[issuer.into(), subject.into(), person.into(), now.milliseconds().into()])?;
    Ok(())
}
