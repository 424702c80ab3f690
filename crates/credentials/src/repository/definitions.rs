//! Definitions of badges.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx};

use crate::documents::BadgeDefinition;

/// A definition with its ids.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its id, a URI.
    pub id: String,
    /// The id of the achievement that it defines: its `credentialSubject.id`.
    pub achievement: String,
    /// The document as it was sent.
    pub document: BadgeDefinition,
}

/// A definition as it is stored.
#[derive(Clone, Debug)]
pub struct StoredDefinition {
    /// The definition.
    pub definition: Definition,
    /// The number of its version, from 1.
    pub version: i64,
    /// When it was first stored.
    pub created: String,
    /// When this version was stored.
    pub updated: String,
    /// When it was deleted.
    pub deleted: Option<String>,
}

const COLUMNS: &str = "id, achievement, body, version, created, updated, deleted";

fn read(row: &Row<'_>) -> Result<StoredDefinition> {
    let document = serde_json::from_str(row.text(2)?).map_err(Problem::internal)?;
    Ok(StoredDefinition {
        definition: Definition {
            id: row.text(0)?.to_owned(),
            achievement: row.text(1)?.to_owned(),
            document,
        },
        version: row.int(3)?,
        created: row.text(4)?.to_owned(),
        updated: row.text(5)?.to_owned(),
        deleted: row.opt_text(6)?.map(str::to_owned),
    })
}

/// The definition with that id, or of that achievement; deleted ones too.
pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<StoredDefinition>> {
    let sql = format!("SELECT {COLUMNS} FROM badge_definitions WHERE id = $1");
    match tx.query_one(&sql, &[id.into()], read)? {
        None => of_achievement(tx, id),
        found => Ok(found),
    }
}

pub(crate) fn of_achievement(tx: &mut Tx<'_>, id: &str) -> Result<Option<StoredDefinition>> {
    let sql = format!("SELECT {COLUMNS} FROM badge_definitions WHERE achievement = $1");
    tx.query_one(&sql, &[id.into()], read)
}

/// A page in the order of creation, and how many there are.
pub(crate) fn list(
    tx: &mut Tx<'_>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<StoredDefinition>, i64)> {
    let sql = format!(
        "SELECT {COLUMNS} FROM badge_definitions WHERE deleted IS NULL ORDER BY seq LIMIT $1 OFFSET $2"
    );
    let mut found = Vec::new();
    tx.query(&sql, &[limit.into(), offset.into()], |row| {
        found.push(read(row)?);
        Ok(true)
    })?;
    let count = "SELECT COUNT(*) FROM badge_definitions WHERE deleted IS NULL";
    let total = tx.query_one(count, &[], |row| row.int(0))?.unwrap_or(0);
    Ok((found, total))
}

/// Adds a definition, or puts it in the place of the one with its id, deleted or not; its version.
pub(crate) fn put(tx: &mut Tx<'_>, definition: &Definition, now: Timestamp) -> Result<i64> {
    let now = tx.stamp(now)?.to_string();
    let body = serde_json::to_string(&definition.document).map_err(Problem::internal)?;
    let version = tx.query_one(
        "INSERT INTO badge_definitions (id, achievement, body, version, created, updated) \
         VALUES ($1, $2, $3, 1, $4, $4) ON CONFLICT (id) DO UPDATE SET \
         achievement = excluded.achievement, body = excluded.body, \
         version = badge_definitions.version + 1, updated = excluded.updated, deleted = NULL \
         RETURNING version",
        &[(&definition.id).into(), (&definition.achievement).into(), (&body).into(), (&now).into()],
        |row| row.int(0),
    )?;
    version.ok_or_else(|| Problem::internal("a definition was not put"))
}

/// Marks a definition as deleted.
pub(crate) fn delete(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<()> {
    let now = tx.stamp(now)?.to_string();
    let sql = "UPDATE badge_definitions SET deleted = $1, updated = $1, version = version + 1 \
               WHERE id = $2 AND deleted IS NULL";
    tx.send(sql, &[(&now).into(), id.into()])?;
    Ok(())
}
