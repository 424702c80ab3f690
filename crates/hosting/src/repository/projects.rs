//! Projects.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};
use schemars::JsonSchema;
use serde::Serialize;

use super::{leases, ms};
use crate::limits;

/// A project that is served.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Its name in URLs.
    pub slug: String,
    /// A number that increases with every change.
    pub revision: i64,
    /// The version that is served.
    pub version: i64,
    /// The number of the latest version.
    #[serde(skip)]
    pub latest: i64,
    /// The name of its database file, unless it is the first one.
    #[serde(skip)]
    pub database: Option<String>,
    /// When it was first deployed.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

columns!(Project {
    slug: "slug",
    revision: "revision",
    version: "active",
    latest: "latest",
    created_at: "created_ms",
    updated_at: "updated_ms",
    database: "database",
});

/// The tables with the rows of a project.
const TABLES: [&str; 6] = [
    "class_apps",
    "deployment_secrets",
    "deployments",
    "project_restore_points",
    "project_homes",
    "projects",
];

const COLUMNS: &str = Project::COLUMNS;

pub(crate) fn find(tx: &mut Tx<'_>, slug: &str) -> Result<Option<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects WHERE slug = $1");
    tx.row(&sql, &[slug.into()])
}

pub(crate) fn list(tx: &mut Tx<'_>) -> Result<Vec<Project>> {
    let sql = format!("SELECT {COLUMNS} FROM projects ORDER BY slug LIMIT $1");
    tx.rows(&sql, &[limits::PROJECTS_MAX_COUNT.into()])
}

pub(crate) fn count(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.query_one("SELECT COUNT(*) FROM projects", &[], |row| row.int(0))?.unwrap_or(0))
}

/// Deletes the project, and remembers its last version number.
pub(crate) fn delete(tx: &mut Tx<'_>, project: &Project) -> Result<()> {
    let slug = project.slug.as_str();
    leases::count_move(tx, slug, None)?;
    for table in TABLES {
        tx.send(&format!("DELETE FROM {table} WHERE slug = $1"), &[slug.into()])?;
    }
    let sql = "INSERT INTO deleted_projects (slug, latest) VALUES ($1, $2) \
               ON CONFLICT (slug) DO UPDATE SET latest = $2";
    tx.send(sql, &[slug.into(), project.latest.into()])
}

/// The last version number of a deleted project; 0 if no project with the slug was deleted.
pub(crate) fn last_deleted(tx: &mut Tx<'_>, slug: &str) -> Result<i64> {
    let sql = "SELECT latest FROM deleted_projects WHERE slug = $1";
    Ok(tx.query_one(sql, &[slug.into()], |row| row.int(0))?.unwrap_or(0))
}

/// Makes the project serve a version, if it is still at the revision `base`; 0 creates it. Returns whether it was.
pub(crate) fn move_on(
    tx: &mut Tx<'_>,
    now: Timestamp,
    slug: &str,
    base: i64,
    version: i64,
    latest: i64,
) -> Result<bool> {
    let changed = if base == 0 {
        tx.execute(
            "INSERT INTO projects (slug, revision, active, latest, created_ms, updated_ms) \
             VALUES ($1, 1, $2, $3, $4, $4) ON CONFLICT DO NOTHING",
            &[slug.into(), version.into(), latest.into(), ms(now)],
        )?
    } else {
        tx.execute(
            "UPDATE projects SET revision = revision + 1, active = $1, latest = $2, \
             updated_ms = $3 WHERE slug = $4 AND revision = $5",
            &[version.into(), latest.into(), ms(now), slug.into(), base.into()],
        )?
    };
    Ok(changed == 1)
}
