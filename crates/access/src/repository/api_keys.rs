//! API keys.

use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::{Tx, Value, columns, parsed};

use super::people::Role;
use super::{of_ids, reach};
use crate::secret::SecretHash;

/// A stored key. The store has only a hash of its text, which was shown once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: String,
    /// Its name for people, unique among active keys.
    pub name: String,
    /// The environment whose servers accept it.
    pub environment: Environment,
    /// Its role.
    pub role: Role,
    /// The slug of the one project that it may change; `None` for every project.
    pub project: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last used, to [`limits::LAST_USE_RESOLUTION_S`].
    pub used: Option<Timestamp>,
    /// Since when it is refused.
    pub revoked: Option<Timestamp>,
    /// The id of the person who made it; `None` if a command made it.
    pub maker: Option<String>,
    /// Whether it is refused because the person who made it may not change its project any more: the person left the
    /// project, or the account is disabled or deleted.
    pub is_stopped: bool,
    /// The part of the roster that it has access to.
    pub reach: Reach,
}

columns!(ApiKey {
    id: "id",
    name: "name",
    environment: "environment" => environment,
    role: "role" => parsed,
    project: "project",
    created: "created_ms",
    used: "used_ms",
    revoked: "revoked_ms",
    maker: "maker",
    is_stopped: "maker IS NOT NULL AND NOT EXISTS (SELECT 1 FROM people p WHERE p.id = maker \
        AND p.disabled_ms IS NULL AND (p.role = 'administrator' OR EXISTS (SELECT 1 FROM project_members m \
        WHERE m.project = api_keys.project AND m.person = p.id)))",
    // A key never reaches further than the person who made it.
    reach: "COALESCE((SELECT p.reach FROM people p WHERE p.id = maker), reach)" => reach::parsed,
});

const COLUMNS: &str = ApiKey::COLUMNS;

#[expect(clippy::unnecessary_wraps, reason = "columns are read by functions of this form")]
fn environment(name: &str) -> Result<Environment> {
    Ok(if name == "staging" { Environment::Staging } else { Environment::Production })
}

/// Every key in the order of its making, revoked ones too.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<ApiKey>> {
    tx.rows(&format!("SELECT {COLUMNS} FROM api_keys ORDER BY created_ms, id"), &[])
}

/// The key of a text's hash.
pub(crate) fn find(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<Option<ApiKey>> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE hash = $1");
    tx.row(&sql, &[hash.as_slice().into()])
}

/// The key of an id.
pub(crate) fn by_id(tx: &mut Tx<'_>, id: &str) -> Result<Option<ApiKey>> {
    tx.row(&format!("SELECT {COLUMNS} FROM api_keys WHERE id = $1"), &[id.into()])
}

/// The keys of these ids.
pub(crate) fn with_ids(tx: &mut Tx<'_>, ids: &[&str]) -> Result<Vec<ApiKey>> {
    let (sql, list) = of_ids(tx, "api_keys", COLUMNS, ids)?;
    tx.rows(&sql, &[list.as_str().into()])
}

/// Adds a key.
pub(crate) fn insert(tx: &mut Tx<'_>, key: &ApiKey, hash: &SecretHash) -> Result<()> {
    tx.send(
        "INSERT INTO api_keys (id, name, hash, environment, role, project, created_ms, maker) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            Value::from(&key.id),
            Value::from(&key.name),
            Value::from(hash.as_slice()),
            Value::from(key.environment.name()),
            Value::from(key.role.name()),
            Value::from(key.project.as_deref()),
            Value::from(key.created.milliseconds()),
            Value::from(key.maker.as_deref()),
        ],
    )?;
    Ok(())
}

/// Sets the reach of a key.
pub(crate) fn set_reach(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<()> {
    let text = reach::text(reach)?;
    tx.send("UPDATE api_keys SET reach = $1 WHERE id = $2", &[text.as_deref().into(), id.into()])
}

/// Gives a key another text; the former one is refused from now on.
pub(crate) fn replace(tx: &mut Tx<'_>, id: &str, hash: &SecretHash) -> Result<()> {
    let sql = "UPDATE api_keys SET hash = $1, used_ms = NULL WHERE id = $2";
    tx.send(sql, &[hash.as_slice().into(), id.into()])?;
    Ok(())
}

/// Revokes the keys that a person made.
pub(crate) fn revoke_all_of(tx: &mut Tx<'_>, person: &str, now: Timestamp) -> Result<()> {
    let sql = "UPDATE api_keys SET revoked_ms = $1 WHERE maker = $2 AND revoked_ms IS NULL";
    tx.send(sql, &[now.milliseconds().into(), person.into()])?;
    Ok(())
}

/// Revokes a key.
pub(crate) fn revoke(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<()> {
    let sql = "UPDATE api_keys SET revoked_ms = $1 WHERE id = $2";
    tx.send(sql, &[now.milliseconds().into(), id.into()])?;
    Ok(())
}

/// Keeps when the key was used.
pub(crate) fn touch(tx: &mut Tx<'_>, hash: &SecretHash, now: Timestamp) -> Result<()> {
    let sql = "UPDATE api_keys SET used_ms = $1 WHERE hash = $2 AND COALESCE(used_ms, 0) < $1";
    tx.send(sql, &[now.milliseconds().into(), hash.as_slice().into()])?;
    Ok(())
}
