//! The files that belong to a database.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_blob::Digest;
use lyceum_core::Result;
use lyceum_project::Uses;
use lyceum_store::{SqlDialect, Tx};

use crate::nodes::Node;
use crate::{databases, homes, repository};

/// The files that a database names.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles {
    /// The projects on this node, each with the files in its folder.
    pub projects: BTreeMap<String, Vec<String>>,
    /// The projects on other nodes, with the node.
    pub elsewhere: BTreeMap<String, String>,
    /// The files of these projects' versions, and of items.
    pub blobs: BTreeSet<Digest>,
    /// Files that may be missing here: those of imports, and without a bucket those of items, are only on the node that
    /// received them.
    pub others: BTreeSet<Digest>,
}

/// The files that belong to the database and to this node. `others` are files that belong to no project, by SHA-256.
pub fn named_files(tx: &mut Tx<'_>, node: &Node, others: Vec<String>) -> Result<NamedFiles> {
    let mut named = NamedFiles::default();
    for digest in others {
        named.others.insert(digest.parse()?);
    }
    for project in repository::projects::list(tx)? {
        let slug = project.slug;
        let Some(known) = repository::homes::find(tx, &slug)? else { continue };
        // A SQLite database has a single node, even if its identity was lost.
        let is_alone = tx.dialect() == SqlDialect::Sqlite;
        let is_here = match &known.home {
            Some(home) => is_alone || home.node.id == node.id(),
            None => is_alone || node.folder_of(&slug).exists(),
        };
        if !is_here {
            let holder = known.home.map(|home| homes::describe_node(&home.node));
            named.elsewhere.insert(slug, holder.unwrap_or_else(|| "unknown".to_owned()));
            continue;
        }
        let folder = node.folder_of(&slug);
        let kept = known.home.map(|home| home.kept).unwrap_or_default();
        let mut files = homes::names(kept, known.database.as_deref());
        // If no node is recorded yet, all files found belong to the project.
        let there = homes::names(Uses::with_bindings(|_| true), None).into_iter();
        files.extend(there.filter(|file| folder.join(file).exists()));
        files.extend(databases::points(tx, &slug)?.into_iter().map(|point| point.file));
        files.sort();
        files.dedup();
        named.projects.insert(slug, files);
    }
    let projects: Vec<String> = named.projects.keys().cloned().collect();
    named.blobs = blobs_of(tx, &projects)?;
    Ok(named)
}

/// The files of projects' versions.
pub fn blobs_of(tx: &mut Tx<'_>, projects: &[String]) -> Result<BTreeSet<Digest>> {
    let mut blobs = BTreeSet::new();
    for slug in projects {
        for version in repository::deployments::list(tx, slug)? {
            for module in version.backend.iter().flat_map(|backend| &backend.modules) {
                blobs.insert(module.sha256.parse()?);
            }
            let Some(zip) = &version.frontend else { continue };
            blobs.insert(zip.sha256.parse()?);
            let manifest = repository::deployments::manifest(tx, &zip.sha256)?.unwrap_or_default();
            blobs.extend(manifest.0.into_values().map(|file| file.sha256));
        }
    }
    Ok(blobs)
}
