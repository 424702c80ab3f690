//! Stored secrets.

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_store::{Tx, Value};

/// A stored secret: its value is sealed under the master key.
#[derive(Clone, Debug)]
pub(crate) struct SealedSecret {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) value: Vec<u8>,
}

pub(crate) fn digests(
    tx: &mut Tx<'_>,
    slug: &str,
    version: i64,
) -> Result<BTreeMap<String, String>> {
    let sql = "SELECT name, digest FROM deployment_secrets WHERE slug = $1 AND version = $2";
    let rows =
        tx.all(sql, &[slug.into(), version.into()], |row| Ok((row.string(0)?, row.string(1)?)));
    Ok(rows?.into_iter().collect())
}

pub(crate) fn of_version(tx: &mut Tx<'_>, slug: &str, version: i64) -> Result<Vec<SealedSecret>> {
    let sql = "SELECT name, digest, sealed FROM deployment_secrets \
               WHERE slug = $1 AND version = $2 ORDER BY name";
    tx.all(sql, &[slug.into(), version.into()], |row| {
        Ok(SealedSecret {
            name: row.string(0)?,
            digest: row.string(1)?,
            value: row.blob(2)?.to_owned(),
        })
    })
}

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    slug: &str,
    version: i64,
    secrets: &[SealedSecret],
) -> Result<()> {
    let values: Vec<Value<'_>> = secrets
        .iter()
        .flat_map(|secret| {
            [
                slug.into(),
                version.into(),
                (&secret.name).into(),
                (&secret.digest).into(),
                secret.value.as_slice().into(),
            ]
        })
        .collect();
    if values.is_empty() {
        return Ok(());
    }
    let columns = ["slug", "version", "name", "digest", "sealed"];
    tx.send_rows("deployment_secrets", &columns, &values, "")
}
