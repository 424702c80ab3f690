//! Keys of issuers, sealed.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Row, Tx, Value};

/// A stored key.
#[derive(Clone, Debug)]
pub(crate) struct StoredKey {
    pub(crate) kid: String,
    pub(crate) issuer: String,
    pub(crate) algorithm: String,
    pub(crate) public: Vec<u8>,
    /// `None` once the key is retired: nothing signs with it any more.
    pub(crate) sealed: Option<Vec<u8>>,
    pub(crate) created: Timestamp,
    pub(crate) retired: Option<Timestamp>,
}

const COLUMNS: &str = "kid, issuer, algorithm, public, sealed, created_ms, retired_ms";

fn read(row: &Row<'_>) -> Result<StoredKey> {
    Ok(StoredKey {
        kid: row.text(0)?.to_owned(),
        issuer: row.text(1)?.to_owned(),
        algorithm: row.text(2)?.to_owned(),
        public: row.blob(3)?.to_owned(),
        sealed: row.opt_blob(4)?.map(<[u8]>::to_owned),
        created: Timestamp::from_milliseconds(row.int(5)?),
        retired: row.opt_int(6)?.map(Timestamp::from_milliseconds),
    })
}

/// The key that an issuer signs with.
pub(crate) fn signing(tx: &mut Tx<'_>, issuer: &str, algorithm: &str) -> Result<Option<StoredKey>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM credential_keys \
         WHERE issuer = $1 AND algorithm = $2 AND retired_ms IS NULL"
    );
    tx.query_one(&sql, &[issuer.into(), algorithm.into()], read)
}

/// All keys of an issuer, or of all issuers, in the order of their making.
pub(crate) fn list(tx: &mut Tx<'_>, issuer: Option<&str>) -> Result<Vec<StoredKey>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM credential_keys WHERE CAST($1 AS TEXT) IS NULL OR issuer = $1 \
         ORDER BY issuer, created_ms, kid"
    );
    let mut keys = Vec::new();
    tx.query(&sql, &[issuer.into()], |row| {
        keys.push(read(row)?);
        Ok(true)
    })?;
    Ok(keys)
}

/// Adds a key; `false` where the issuer signs with one of that algorithm already.
pub(crate) fn insert(tx: &mut Tx<'_>, key: &StoredKey) -> Result<bool> {
    let added = tx.execute(
        "INSERT INTO credential_keys (kid, issuer, algorithm, public, sealed, created_ms) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        &[
            (&key.kid).into(),
            (&key.issuer).into(),
            (&key.algorithm).into(),
            key.public.as_slice().into(),
            key.sealed.as_deref().into(),
            key.created.milliseconds().into(),
        ],
    )?;
    Ok(added == 1)
}

/// Ends the keys that an issuer signs with: their public halves stay, the private ones go.
pub(crate) fn retire(tx: &mut Tx<'_>, issuer: &str, at: Timestamp) -> Result<()> {
    tx.send(
        "UPDATE credential_keys SET retired_ms = $1, sealed = NULL \
         WHERE issuer = $2 AND retired_ms IS NULL",
        &[Value::from(at.milliseconds()), issuer.into()],
    )?;
    Ok(())
}
