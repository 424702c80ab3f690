//! The current database file of each project, and its restore points.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;

/// A restore point: a previous database file of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestorePoint {
    /// File name.
    #[serde(rename = "id")]
    pub file: String,
    /// When the file was replaced.
    pub at: Timestamp,
    /// The version that was served with it.
    pub version: i64,
    /// Why it was replaced: `deploy`, `restore`, `seed`, …
    pub what: String,
}

pub(crate) fn note(tx: &mut Tx<'_>, slug: &str, point: &RestorePoint) -> Result<()> {
    let RestorePoint { file, at, version, what } = point;
    tx.send(
        "INSERT INTO project_restore_points (slug, file, at_ms, version, what) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        &[slug.into(), file.into(), ms(*at), (*version).into(), what.into()],
    )
}

pub(crate) fn serve(tx: &mut Tx<'_>, slug: &str, file: &str) -> Result<()> {
    tx.send("UPDATE projects SET database = $1 WHERE slug = $2", &[file.into(), slug.into()])
}

pub(crate) fn points(tx: &mut Tx<'_>, slug: &str) -> Result<Vec<RestorePoint>> {
    let sql = "SELECT file, at_ms, version, what FROM project_restore_points WHERE slug = $1 \
               ORDER BY at_ms DESC, file DESC";
    tx.all(sql, &[slug.into()], |row| {
        Ok(RestorePoint {
            file: row.string(0)?,
            at: row.time(1)?,
            version: row.int(2)?,
            what: row.string(3)?,
        })
    })
}

/// Deletes all restore points except the newest `kept`.
pub(crate) fn forget(tx: &mut Tx<'_>, slug: &str, kept: usize) -> Result<()> {
    for point in points(tx, slug)?.into_iter().skip(kept) {
        let sql = "DELETE FROM project_restore_points WHERE slug = $1 AND file = $2";
        tx.send(sql, &[slug.into(), (&point.file).into()])?;
    }
    Ok(())
}
