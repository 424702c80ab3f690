//! Takes projects of a node whose lease has ended. Their files come from the replicas that all nodes share.
//!
//! The restored files are in place, with a new mark, before the database names this node as the holder. A crash in between
//! leaves a folder whose mark the database does not know, which the next try moves aside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lyceum_blob::failed;
use lyceum_core::Result;
use lyceum_store::Tx;
use uuid::Uuid;

use crate::bindings::begin_log;
use crate::homes::{self};
use crate::leases::{HeldProject, NodeLease};
use crate::nodes::Node;
use crate::replicas::Replicas;
use crate::repository;
use crate::repository::homes::HomeNode;

/// A project with the names of the files that its holder has.
#[derive(Clone, Debug)]
pub struct HeldFiles {
    slug: String,
    token: i64,
    /// The epoch that the next holder must find in the replicas.
    replicated_token: i64,
    /// Their paths in the project's folder.
    names: Vec<String>,
}

/// A project whose files were restored in place. It belongs to this node once [`take`] returns true.
#[derive(Clone, Debug)]
pub struct RestoredProject {
    slug: String,
    /// The token of the former holder.
    token: i64,
    /// The epoch that the replicas had at least.
    replicated_token: i64,
    mark: String,
}

/// The files of the projects with these slugs that the node holds.
pub fn held_files(tx: &mut Tx<'_>, node: &Node, slugs: &[String]) -> Result<Vec<HeldFiles>> {
    let mut all = Vec::new();
    for slug in slugs {
        let Some(known) = repository::homes::find(tx, slug)? else { continue };
        let Some(home) = known.home.filter(|home| home.node.id == node.id()) else { continue };
        all.push(HeldFiles::new(slug, &home, known.database.as_deref()));
    }
    Ok(all)
}

/// The project, if the lease of its node has ended, so that this node may take it.
pub fn left_project(
    tx: &mut Tx<'_>,
    node: &Node,
    lease: &NodeLease,
    slug: &str,
) -> Result<Option<HeldFiles>> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(None) };
    let has_left = |home: &HomeNode| {
        home.node.id != node.id() && lease.has_ended(&home.node.id, home.lease_until_ms)
    };
    let home = known.home.filter(has_left);
    Ok(home.map(|home| HeldFiles::new(slug, &home, known.database.as_deref())))
}

/// Makes this node the holder of a project whose files it has restored. `false` if another node was faster, or the former
/// holder has renewed its lease or stored a first replica. The node acknowledges nothing before
/// [`crate::leases::set_replicated`].
pub fn become_holder(
    tx: &mut Tx<'_>,
    node: &Node,
    lease: &NodeLease,
    restored: &RestoredProject,
) -> Result<bool> {
    let left = left_project(tx, node, lease, &restored.slug)?;
    let is_same = |left: HeldFiles| {
        (left.token, left.replicated_token) == (restored.token, restored.replicated_token)
    };
    if !left.is_some_and(is_same) {
        return Ok(false);
    }
    repository::homes::move_to(tx, &restored.slug, node.id(), &restored.mark)?;
    repository::homes::await_replica(tx, &restored.slug, restored.replicated_token)?;
    Ok(true)
}

/// Replicates the project's files from now on.
pub fn follow(node: &Node, replicas: &Replicas, project: &HeldFiles) -> Result<()> {
    for (_, file) in project.paths(node).filter(|(_, file)| file.exists()) {
        begin_log(&file)?;
        replicas.follow(&file);
    }
    Ok(())
}

/// Returns once everything that was committed to the project's files is replicated. Errors: `Unavailable`.
pub fn flush(node: &Node, replicas: &Replicas, project: &HeldFiles) -> Result<()> {
    project.paths(node).try_for_each(|(_, file)| replicas.flush(&file))
}

/// Restores the project's files in their place. A folder that is there is moved aside.
///
/// Errors: `NotFound` if a file has no replica; `Unavailable`.
pub fn restore(node: &Node, replicas: &Replicas, project: &HeldFiles) -> Result<RestoredProject> {
    let mark = Uuid::new_v4().to_string();
    let draft = node.draft_folder().join(&mark);
    let restored = restore_in(replicas, project, &draft, &mark);
    let placed = restored.and_then(|()| {
        set_aside(node, &project.slug)?;
        move_folder(&draft, &node.folder_of(&project.slug))
    });
    if placed.is_err() {
        let _ = fs::remove_dir_all(&draft);
    }
    placed.map(|()| RestoredProject {
        slug: project.slug.clone(),
        token: project.token,
        replicated_token: project.replicated_token,
        mark,
    })
}

fn restore_in(replicas: &Replicas, project: &HeldFiles, draft: &Path, mark: &str) -> Result<()> {
    for name in &project.names {
        let target = draft.join(name);
        let folder = target.parent().unwrap_or(draft);
        fs::create_dir_all(folder).map_err(|error| failed("create a folder", &error))?;
        let epoch = project.replicated_token;
        replicas.restore_newest((&project.slug, epoch), name, &target)?;
    }
    homes::write_marks(draft, &[mark])
}

impl HeldFiles {
    fn new(slug: &str, home: &HomeNode, database: Option<&str>) -> Self {
        Self {
            slug: slug.to_owned(),
            token: home.token,
            replicated_token: home.replicated_token,
            names: homes::names(home.kept, database),
        }
    }

    /// The project and its token.
    pub fn project(&self) -> HeldProject {
        HeldProject::new(&self.slug, self.token)
    }

    fn paths<'a>(&'a self, node: &Node) -> impl Iterator<Item = (&'a str, PathBuf)> {
        let folder = node.folder_of(&self.slug);
        self.names.iter().map(move |name| (name.as_str(), folder.join(name)))
    }
}

impl RestoredProject {
    /// Removes the files, because another node holds the project.
    pub fn discard(&self, node: &Node) -> Result<()> {
        fs::remove_dir_all(node.folder_of(&self.slug))
            .map_err(|error| failed("remove the files of a project", &error))
    }
}

/// Moves the project's folder aside, so that it is never served. Returns its new place; `None` if there was no folder.
pub fn set_aside(node: &Node, slug: &str) -> Result<Option<PathBuf>> {
    let folder = node.folder_of(slug);
    if !folder.exists() {
        return Ok(None);
    }
    let aside = node.stale_folder().join(format!("{slug}-{}", Uuid::now_v7()));
    move_folder(&folder, &aside).map(|()| Some(aside))
}

/// Whether another node holds the project, and the folder here does not have its current files.
pub fn is_stale(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<bool> {
    let home = repository::homes::find(tx, slug)?.and_then(|known| known.home);
    let Some(home) = home.filter(|home| home.node.id != node.id()) else { return Ok(false) };
    Ok(!homes::marks(&node.folder_of(slug))?.contains(&home.mark))
}

/// The slugs of the folders on this node.
pub fn folders(node: &Node) -> Result<Vec<String>> {
    entries(&node.folder_of(""))
}

/// The folders that were moved aside, because another node has taken their projects.
pub fn stale_folders(node: &Node) -> Result<Vec<String>> {
    entries(&node.stale_folder())
}

fn entries(folder: &Path) -> Result<Vec<String>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("list the folders of projects", &error)),
    }
}

fn move_folder(from: &Path, to: &Path) -> Result<()> {
    let moved = || -> io::Result<()> {
        fs::create_dir_all(to.parent().unwrap_or(Path::new(".")))?;
        fs::rename(from, to)
    };
    moved().map_err(|error| failed("move the folder of a project", &error))
}
