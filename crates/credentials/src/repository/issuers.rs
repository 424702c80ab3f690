//! Profiles of issuers.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

/// A row: the issuer's id, its client, its profile as JSON.
pub(crate) struct StoredIssuer {
    pub(crate) id: String,
    pub(crate) client: Option<String>,
    pub(crate) profile: String,
}

fn read(row: &lyceum_store::Row<'_>) -> Result<StoredIssuer> {
    Ok(StoredIssuer {
        id: row.text(0)?.to_owned(),
        client: row.opt_text(1)?.map(str::to_owned),
        profile: row.text(2)?.to_owned(),
    })
}

pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<StoredIssuer>> {
    let sql = "SELECT id, client, profile FROM credential_issuers WHERE id = $1";
    tx.query_one(sql, &[id.into()], read)
}

pub(crate) fn of_client(tx: &mut Tx<'_>, client: &str) -> Result<Option<StoredIssuer>> {
    let sql = "SELECT id, client, profile FROM credential_issuers WHERE client = $1";
    tx.query_one(sql, &[client.into()], read)
}

pub(crate) fn list(tx: &mut Tx<'_>) -> Result<Vec<StoredIssuer>> {
    let sql = "SELECT id, client, profile FROM credential_issuers ORDER BY created, id";
    let mut found = Vec::new();
    tx.query(sql, &[], |row| {
        found.push(read(row)?);
        Ok(true)
    })?;
    Ok(found)
}

/// Adds an issuer. Returns false if the id is taken or the client has one already.
pub(crate) fn insert(tx: &mut Tx<'_>, issuer: &StoredIssuer, now: Timestamp) -> Result<bool> {
    let now = now.to_string();
    let added = tx.execute(
        "INSERT INTO credential_issuers (id, client, profile, created) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING",
        &[
            (&issuer.id).into(),
            issuer.client.as_deref().into(),
            (&issuer.profile).into(),
            (&now).into(),
        ],
    )?;
    Ok(added == 1)
}

pub(crate) fn set_profile(tx: &mut Tx<'_>, id: &str, profile: &str) -> Result<()> {
    let sql = "UPDATE credential_issuers SET profile = $1 WHERE id = $2";
    tx.send(sql, &[profile.into(), id.into()])?;
    Ok(())
}
