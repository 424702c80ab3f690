//! Credentials of users in other systems. Their passwords come here sealed; this crate never
//! sees one.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

/// A credential of a user in another system.
#[derive(Clone, Debug)]
pub struct Credential {
    /// Its id.
    pub id: String,
    /// The user's sourcedId.
    pub user: String,
    /// The other system.
    pub application: String,
    /// The user's name there.
    pub username: String,
    /// The password, encrypted by the caller.
    pub sealed: Vec<u8>,
}

/// Keeps a credential; one of the same id is replaced.
pub fn add_credential(tx: &mut Tx<'_>, credential: &Credential, now: Timestamp) -> Result<()> {
    let now = now.to_string();
    tx.send(
        "INSERT INTO user_credentials (id, user_id, application, username, sealed, created) \
         VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, created = excluded.created",
        &[
            (&credential.id).into(),
            (&credential.user).into(),
            (&credential.application).into(),
            (&credential.username).into(),
            credential.sealed.as_slice().into(),
            (&now).into(),
        ],
    )?;
    Ok(())
}

/// A credential of the user.
pub fn credential(tx: &mut Tx<'_>, user: &str, id: &str) -> Result<Option<Credential>> {
    tx.query_one(
        "SELECT id, user_id, application, username, sealed FROM user_credentials \
         WHERE user_id = $1 AND id = $2",
        &[user.into(), id.into()],
        |row| {
            Ok(Credential {
                id: row.text(0)?.to_owned(),
                user: row.text(1)?.to_owned(),
                application: row.text(2)?.to_owned(),
                username: row.text(3)?.to_owned(),
                sealed: row.blob(4)?.to_owned(),
            })
        },
    )
}

/// Forgets the credentials of a user.
pub(super) fn forget(tx: &mut Tx<'_>, user: &str) -> Result<()> {
    tx.send("DELETE FROM user_credentials WHERE user_id = $1", &[user.into()])?;
    Ok(())
}
