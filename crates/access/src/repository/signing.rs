//! Signing secrets of clients, sealed, and the nonces of their signed requests.

use std::collections::BTreeSet;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, Value};

/// The ids of the clients that have a signing secret.
pub fn signing_clients(tx: &mut Tx<'_>) -> Result<BTreeSet<String>> {
    let ids = tx.all("SELECT client FROM client_signing_secrets", &[], |row| row.string(0))?;
    Ok(ids.into_iter().collect())
}

/// Whether the client has a signing secret.
pub fn is_signing(tx: &mut Tx<'_>, client: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM client_signing_secrets WHERE client = $1";
    Ok(tx.query_one(sql, &[Value::from(client)], |_| Ok(()))?.is_some())
}

/// Stores the first signing secret of a client.
pub(crate) fn insert(tx: &mut Tx<'_>, client: &str, sealed: &[u8]) -> Result<()> {
    let sql = "INSERT INTO client_signing_secrets (client, sealed) VALUES ($1, $2)";
    tx.send(sql, &[Value::from(client), Value::from(sealed)])
}

/// Replaces the signing secret of a client. The former one expires at the instant.
pub(crate) fn replace(
    tx: &mut Tx<'_>,
    client: &str,
    sealed: &[u8],
    former_expires: Timestamp,
) -> Result<()> {
    tx.send(
        "UPDATE client_signing_secrets SET former = sealed, former_expires_ms = $1, sealed = $2 \
         WHERE client = $3",
        &[Value::from(former_expires.milliseconds()), Value::from(sealed), Value::from(client)],
    )
}

/// Deletes the signing secrets of a client.
pub(crate) fn delete(tx: &mut Tx<'_>, client: &str) -> Result<()> {
    tx.send("DELETE FROM client_signing_secrets WHERE client = $1", &[Value::from(client)])
}

/// The valid signing secrets of a client, sealed.
pub(crate) fn valid(tx: &mut Tx<'_>, now: Timestamp, client: &str) -> Result<Vec<Vec<u8>>> {
    let mut valid = Vec::new();
    tx.query(
        "SELECT sealed, former, former_expires_ms FROM client_signing_secrets WHERE client = $1",
        &[Value::from(client)],
        |row| {
            valid.push(row.blob(0)?.to_owned());
            if row.opt_int(2)?.is_some_and(|expires| expires > now.milliseconds()) {
                valid.push(row.blob(1)?.to_owned());
            }
            Ok(true)
        },
    )?;
    Ok(valid)
}

/// Stores a nonce; false if the client used it with this time stamp before.
pub(crate) fn add_nonce(
    tx: &mut Tx<'_>,
    client: &str,
    timestamp_s: i64,
    nonce: &str,
) -> Result<bool> {
    let added = tx.execute(
        "INSERT INTO signed_request_nonces (client, timestamp_s, nonce) VALUES ($1, $2, $3) \
         ON CONFLICT (client, timestamp_s, nonce) DO NOTHING",
        &[Value::from(client), Value::from(timestamp_s), Value::from(nonce)],
    )?;
    Ok(added == 1)
}

/// Deletes the nonces of earlier time stamps.
pub(crate) fn delete_nonces_before(tx: &mut Tx<'_>, timestamp_s: i64) -> Result<()> {
    let sql = "DELETE FROM signed_request_nonces WHERE timestamp_s < $1";
    tx.send(sql, &[Value::from(timestamp_s)])
}
