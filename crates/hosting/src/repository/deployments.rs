//! Versions and the files of their frontends.

use lyceum_core::{Problem, Result, limits};
use lyceum_project::Artifact;
use lyceum_store::{Row, Tx};

use super::{json_in, json_of, ms};
use crate::deployments::{Deployment, Manifest};

const SELECT: &str = "SELECT d.id, d.slug, d.version, d.frontend, f.size, d.backend, d.uses, \
                      d.made_by, d.made_ms FROM deployments d \
                      LEFT JOIN project_frontends f ON f.sha256 = d.frontend";

fn read(row: &Row<'_>) -> Result<Deployment> {
    let frontend = match row.opt_text(3)? {
        Some(sha256) => {
            let size = u64::try_from(row.int(4)?).map_err(Problem::internal)?;
            Some(Artifact { sha256: sha256.to_owned(), size })
        }
        None => None,
    };
    Ok(Deployment {
        id: row.string(0)?,
        slug: row.string(1)?,
        version: row.int(2)?,
        frontend,
        backend: row.opt_text(5)?.map(json_in).transpose()?,
        uses: json_in(row.text(6)?)?,
        made_by: row.string(7)?,
        made_at: row.time(8)?,
    })
}

pub(crate) fn find(tx: &mut Tx<'_>, slug: &str, version: i64) -> Result<Option<Deployment>> {
    let sql = format!("{SELECT} WHERE d.slug = $1 AND d.version = $2");
    tx.query_one(&sql, &[slug.into(), version.into()], read)
}

pub(crate) fn list(tx: &mut Tx<'_>, slug: &str) -> Result<Vec<Deployment>> {
    let sql = format!("{SELECT} WHERE d.slug = $1 ORDER BY d.version DESC");
    tx.all(&sql, &[slug.into()], read)
}

pub(crate) fn insert(tx: &mut Tx<'_>, deployment: &Deployment) -> Result<()> {
    let backend = deployment.backend.as_ref().map(json_of);
    let frontend = deployment.frontend.as_ref().map(|frontend| frontend.sha256.as_str());
    tx.execute(
        "INSERT INTO deployments (id, slug, version, frontend, backend, uses, made_by, made_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            (&deployment.id).into(),
            (&deployment.slug).into(),
            deployment.version.into(),
            frontend.into(),
            backend.as_deref().into(),
            (&json_of(&deployment.uses)).into(),
            (&deployment.made_by).into(),
            ms(deployment.made_at),
        ],
    )
    .map(drop)
}

/// Forgets the oldest versions beyond those that are kept, but not the one that is served.
pub(crate) fn forget(tx: &mut Tx<'_>, slug: &str, served: i64) -> Result<()> {
    let oldest = served - limits::DEPLOYMENTS_KEPT_MAX_COUNT + 1;
    for table in ["deployments", "deployment_secrets"] {
        let sql = format!("DELETE FROM {table} WHERE slug = $1 AND version < $2");
        tx.execute(&sql, &[slug.into(), oldest.into()])?;
    }
    Ok(())
}

pub(crate) fn manifest(tx: &mut Tx<'_>, zip: &str) -> Result<Option<Manifest>> {
    let sql = "SELECT manifest FROM project_frontends WHERE sha256 = $1";
    tx.query_one(sql, &[zip.into()], |row| json_in(row.text(0)?))
}

pub(crate) fn put_manifest(tx: &mut Tx<'_>, zip: &Artifact, manifest: &Manifest) -> Result<()> {
    let size = i64::try_from(zip.size).map_err(Problem::internal)?;
    tx.execute(
        "INSERT INTO project_frontends (sha256, size, manifest) VALUES ($1, $2, $3) \
         ON CONFLICT DO NOTHING",
        &[(&zip.sha256).into(), size.into(), (&json_of(manifest)).into()],
    )
    .map(drop)
}
