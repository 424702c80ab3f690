//! Versions, and the files of their frontends.

use std::collections::BTreeMap;

use lyceum_blob::Digest;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Result};
use lyceum_project::{Artifact, Backend, SchemaWish, Uses};
use lyceum_store::{Row, Tx, dialect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{json_in, json_of, ms};
use crate::limits;

/// The schema of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredSchema {
    /// The schema as DDL.
    pub ddl: String,
    /// The schema as the deploy declared it.
    pub wish: SchemaWish,
}

/// A version of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// A UUID.
    pub id: String,
    /// The project.
    pub slug: String,
    /// Its number: 1, 2, 3, … A project that is deployed again after it was deleted continues the numbers.
    pub version: i64,
    /// The zip with its frontend.
    pub frontend: Option<Artifact>,
    /// The code that answers requests to the backend.
    pub backend: Option<Backend>,
    /// The bindings and services that it uses.
    pub uses: Uses,
    /// The id of the person, API key or client that deployed it.
    pub made_by: String,
    /// The e-mail address of that person, or the name of the key or client. Only lists have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by_name: Option<Message>,
    /// When it was deployed.
    pub made_at: Timestamp,
    /// The database schema that it was deployed with; lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<DeclaredSchema>,
}

impl Deployment {
    /// Whether the file with this SHA-256 is part of the version.
    pub fn is_made_of(&self, sha256: &str) -> bool {
        let zip = self.frontend.iter().map(|frontend| &frontend.sha256);
        let modules = self.backend.iter().flat_map(|backend| &backend.modules);
        zip.chain(modules.map(|module| &module.sha256)).any(|part| part == sha256)
    }
}

/// The files of a frontend by path, without a leading slash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FrontendFiles(pub BTreeMap<String, FrontendFile>);

/// A file of a frontend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontendFile {
    /// Its blob.
    pub sha256: Digest,
    /// Size in bytes.
    pub size: u64,
    /// Its media type, such as `text/html; charset=utf-8`.
    pub media: String,
}

const SELECT: &str = "SELECT d.id, d.slug, d.version, d.frontend, f.size, d.backend, d.uses, \
                      d.made_by, d.made_ms, d.declared FROM deployments d \
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
        made_by_name: None,
        made_at: row.time(8)?,
        declared: row.opt_text(9)?.map(json_in).transpose()?,
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

/// The versions that the projects serve.
pub(crate) fn served_versions(tx: &mut Tx<'_>, slugs: &[&str]) -> Result<Vec<Deployment>> {
    let list = serde_json::to_string(slugs).map_err(Problem::internal)?;
    let sql = format!(
        "{SELECT} JOIN projects p ON p.slug = d.slug AND p.active = d.version WHERE {}",
        dialect::is_one_of(tx.dialect(), "d.slug", "$1")
    );
    tx.all(&sql, &[list.as_str().into()], read)
}

pub(crate) fn insert(tx: &mut Tx<'_>, deployment: &Deployment) -> Result<()> {
    let backend = deployment.backend.as_ref().map(json_of);
    let frontend = deployment.frontend.as_ref().map(|frontend| frontend.sha256.as_str());
    let declared = deployment.declared.as_ref().map(json_of);
    tx.send(
        "INSERT INTO deployments \
         (id, slug, version, frontend, backend, uses, made_by, made_ms, declared) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &[
            (&deployment.id).into(),
            (&deployment.slug).into(),
            deployment.version.into(),
            frontend.into(),
            backend.as_deref().into(),
            (&json_of(&deployment.uses)).into(),
            (&deployment.made_by).into(),
            ms(deployment.made_at),
            declared.as_deref().into(),
        ],
    )
}

/// Deletes the oldest versions beyond the limit, but never the one that is served.
pub(crate) fn forget(tx: &mut Tx<'_>, slug: &str, served: i64) -> Result<()> {
    let oldest = served - limits::DEPLOYMENTS_KEPT_MAX_COUNT + 1;
    for table in ["deployments", "deployment_secrets"] {
        let sql = format!("DELETE FROM {table} WHERE slug = $1 AND version < $2");
        tx.send(&sql, &[slug.into(), oldest.into()])?;
    }
    Ok(())
}

pub(crate) fn manifest(tx: &mut Tx<'_>, zip: &str) -> Result<Option<FrontendFiles>> {
    let sql = "SELECT manifest FROM project_frontends WHERE sha256 = $1";
    tx.query_one(sql, &[zip.into()], |row| json_in(row.text(0)?))
}

/// Deletes the frontends that no version has and that were not asked for since.
pub(crate) fn forget_frontends(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    let sql = "DELETE FROM project_frontends WHERE used_ms < $1 \
               AND sha256 NOT IN (SELECT frontend FROM deployments WHERE frontend IS NOT NULL)";
    tx.send(sql, &[ms(before)])
}

/// All frontends: the SHA-256 of the zip, and its files.
pub(crate) fn frontends(tx: &mut Tx<'_>) -> Result<Vec<(String, FrontendFiles)>> {
    let sql = "SELECT sha256, manifest FROM project_frontends";
    tx.all(sql, &[], |row| Ok((row.string(0)?, json_in(row.text(1)?)?)))
}

/// The backends of all versions.
pub(crate) fn backends(tx: &mut Tx<'_>) -> Result<Vec<Backend>> {
    let sql = "SELECT backend FROM deployments WHERE backend IS NOT NULL";
    tx.all(sql, &[], |row| json_in(row.text(0)?))
}

/// Records that a client asks for a frontend; returns whether it was unpacked.
pub(crate) fn touch_manifest(tx: &mut Tx<'_>, now: Timestamp, zip: &str) -> Result<bool> {
    let sql = "UPDATE project_frontends SET used_ms = $1 WHERE sha256 = $2";
    Ok(tx.execute(sql, &[ms(now), zip.into()])? == 1)
}

pub(crate) fn put_manifest(
    tx: &mut Tx<'_>,
    now: Timestamp,
    zip: &Artifact,
    manifest: &FrontendFiles,
) -> Result<()> {
    let size = i64::try_from(zip.size).map_err(Problem::internal)?;
    tx.send(
        "INSERT INTO project_frontends (sha256, size, manifest, used_ms) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING",
        &[(&zip.sha256).into(), size.into(), (&json_of(manifest)).into(), ms(now)],
    )
}
