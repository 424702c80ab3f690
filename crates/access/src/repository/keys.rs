//! Signing keys, sealed.

use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, Value};

/// A signing key as it stands in the store.
pub(crate) struct SealedKey {
    pub(crate) kid: String,
    pub(crate) public: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    pub(crate) created: Timestamp,
    pub(crate) retire_after: Option<Timestamp>,
}

/// The id of the only row.
const DERIVATION_ID: i64 = 1;

/// The sealed key from which others are derived, if it is stored.
pub(crate) fn derivation_key(tx: &mut Tx<'_>) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT sealed FROM derivation_key WHERE id = $1";
    tx.query_one(sql, &[DERIVATION_ID.into()], |row| Ok(row.blob(0)?.to_owned()))
}

/// Stores the sealed key from which others are derived.
pub(crate) fn insert_derivation_key(tx: &mut Tx<'_>, sealed: &[u8]) -> Result<()> {
    let sql = "INSERT INTO derivation_key (id, sealed) VALUES ($1, $2)";
    tx.send(sql, &[DERIVATION_ID.into(), sealed.into()])
}

/// Deletes the key from which others are derived.
pub(crate) fn delete_derivation_key(tx: &mut Tx<'_>) -> Result<()> {
    tx.send("DELETE FROM derivation_key WHERE id = $1", &[DERIVATION_ID.into()])
}

/// The sealed keys of all environments: kid, environment and sealed key.
pub(crate) fn all(tx: &mut Tx<'_>) -> Result<Vec<(String, String, Vec<u8>)>> {
    let sql = "SELECT kid, environment, sealed FROM signing_keys";
    tx.all(sql, &[], |row| Ok((row.string(0)?, row.string(1)?, row.blob(2)?.to_owned())))
}

/// Lets one transaction at a time change keys or clients.
pub(crate) fn lock(tx: &mut Tx<'_>) -> Result<()> {
    tx.send("UPDATE access_counter SET value = value WHERE id = 1", &[])?;
    Ok(())
}

/// The environment's keys that are in force, in the order of their making.
pub(crate) fn list(
    tx: &mut Tx<'_>,
    environment: Environment,
    now: Timestamp,
) -> Result<Vec<SealedKey>> {
    let mut keys = Vec::new();
    tx.query(
        "SELECT kid, public, sealed, created_ms, retire_after_ms FROM signing_keys \
         WHERE environment = $1 AND (retire_after_ms IS NULL OR retire_after_ms > $2) \
         ORDER BY created_ms, kid",
        &[Value::from(environment.name()), Value::from(now.milliseconds())],
        |row| {
            keys.push(SealedKey {
                kid: row.text(0)?.to_owned(),
                public: row.blob(1)?.to_owned(),
                sealed: row.blob(2)?.to_owned(),
                created: Timestamp::from_milliseconds(row.int(3)?),
                retire_after: row.opt_int(4)?.map(Timestamp::from_milliseconds),
            });
            Ok(true)
        },
    )?;
    Ok(keys)
}

/// Adds a key.
pub(crate) fn insert(tx: &mut Tx<'_>, environment: Environment, key: &SealedKey) -> Result<()> {
    tx.send(
        "INSERT INTO signing_keys (kid, environment, public, sealed, created_ms) \
         VALUES ($1, $2, $3, $4, $5)",
        &[
            Value::from(&key.kid),
            Value::from(environment.name()),
            Value::from(key.public.as_slice()),
            Value::from(key.sealed.as_slice()),
            Value::from(key.created.milliseconds()),
        ],
    )?;
    Ok(())
}

/// Lets the keys that have no end yet end at the instant.
pub(crate) fn retire_all(tx: &mut Tx<'_>, environment: Environment, at: Timestamp) -> Result<()> {
    tx.send(
        "UPDATE signing_keys SET retire_after_ms = $1 \
         WHERE environment = $2 AND retire_after_ms IS NULL",
        &[Value::from(at.milliseconds()), Value::from(environment.name())],
    )?;
    Ok(())
}

/// Deletes the keys whose end has come.
pub(crate) fn delete_retired(
    tx: &mut Tx<'_>,
    environment: Environment,
    now: Timestamp,
) -> Result<()> {
    tx.send(
        "DELETE FROM signing_keys WHERE environment = $1 AND retire_after_ms <= $2",
        &[Value::from(environment.name()), Value::from(now.milliseconds())],
    )?;
    Ok(())
}

/// Deletes every key of the environment.
pub(crate) fn delete_all(tx: &mut Tx<'_>, environment: Environment) -> Result<()> {
    let environment = Value::from(environment.name());
    tx.send("DELETE FROM signing_keys WHERE environment = $1", &[environment])?;
    Ok(())
}
