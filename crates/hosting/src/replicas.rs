//! Replicas of the files of projects: databases, keys and indexes of buckets. The objects of buckets and the files of
//! versions are in the S3 bucket already, if there is one.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_replica::{
    ReplicaStore, Replicator, RestorableTimes, RestoredState, names, remove_old, restorable_times,
    restore,
};
use lyceum_store::Tx;

use crate::databases::{self, FIRST};
use crate::nodes::{self, Node};
use crate::{homes, projects, repository};

/// The replica of the server's own SQLite database.
pub const SERVER_DATABASE: &str = "lyceum.db";
/// The prefix of the replicas of projects.
const PROJECTS: &str = "projects";

/// The store of replicas that the settings select: a folder, or their S3 bucket; `None` without both.
///
/// Errors: `Invalid` if the folder or bucket cannot be used.
pub fn store(config: &Config) -> Result<Option<ReplicaStore>> {
    match (config.replica.folder.as_str(), config.s3.bucket.as_str()) {
        ("", "") => Ok(None),
        ("", _) => ReplicaStore::in_s3(&config.s3, "replicas").map(Some),
        (folder, _) => ReplicaStore::in_folder(Path::new(folder)).map(Some),
    }
}

/// The replica of a project's file.
fn name_of(slug: &str, file: &str) -> String {
    format!("{PROJECTS}/{slug}/{file}")
}

/// Replicates the files of the projects that a node holds.
pub struct Replicas {
    store: ReplicaStore,
    replicator: Arc<Replicator>,
    /// The folder with the folders of projects.
    projects: PathBuf,
    epoch_of: Box<dyn Fn(&str) -> u64 + Send + Sync>,
}

impl fmt::Debug for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicas").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Replicas {
    /// The replicas of a node. `epoch_of` returns a number for a slug that is larger than that of each other server
    /// that held the project before.
    pub fn new(
        store: ReplicaStore,
        replicator: Arc<Replicator>,
        node: &Node,
        epoch_of: impl Fn(&str) -> u64 + Send + Sync + 'static,
    ) -> Self {
        let projects = node.folder_of("");
        Self { store, replicator, projects, epoch_of: Box::new(epoch_of) }
    }

    /// Replicates a file of a project from now on, until the file is deleted or the server stops.
    pub(crate) fn follow(&self, file: &Path) {
        let inside = file.strip_prefix(&self.projects).ok().and_then(Path::to_str);
        let Some((slug, name)) = inside.and_then(|inside| inside.split_once('/')) else { return };
        self.replicator.add(file, &name_of(slug, name), (self.epoch_of)(slug));
    }

    /// Replicates the files of a project that changed since they were replicated, such as before a crash of the server, or
    /// since their last snapshot: without a new one, what was deleted from them would stay in the replica.
    pub fn follow_changed(&self, files: &[PathBuf]) -> Result<()> {
        for file in files {
            let changed =
                ["", "-wal"].map(|end| changed(Path::new(&format!("{}{end}", file.display()))));
            let Some(changed) = changed.into_iter().flatten().max() else { continue };
            let Ok(name) = file.strip_prefix(&self.projects) else { continue };
            let name = format!("{PROJECTS}/{}", name.display());
            let times = restorable_times(&self.store, &name)?;
            if times.is_none_or(|times| times.latest < changed || times.snapshot < times.latest) {
                self.follow(file);
            }
        }
        Ok(())
    }

    /// Stops replicating a file after everything in it is stored.
    pub fn stop(&self, file: &Path) -> Result<()> {
        self.replicator.remove(file)
    }

    /// Returns once everything that was committed to a file is stored. Errors: `Unavailable`.
    pub(crate) fn flush(&self, file: &Path) -> Result<()> {
        self.replicator.flush(file)
    }

    /// Restores the newest state of a project's file as the new file `target`.
    ///
    /// Errors: `NotFound` if it has no replica.
    pub(crate) fn restore_newest(&self, slug: &str, file: &str, target: &Path) -> Result<()> {
        restore(&self.store, &name_of(slug, file), None, target, &mut |_, _| {}).map(drop)
    }

    /// Restores the database that a project had at a time as the new file `target`.
    ///
    /// Errors: `NotFound` if no replica is that old.
    pub fn restore_database(
        &self,
        slug: &str,
        file: &str,
        at: Timestamp,
        target: &Path,
    ) -> Result<RestoredState> {
        restore(&self.store, &name_of(slug, file), Some(at), target, &mut |_, _| {})
    }

    /// Deletes what no restore to the last `keep_days` days needs. Of a file that no project uses, that is everything if it
    /// did not change in these days. `used` has the names of the replicas of all files that projects use.
    pub fn remove_expired(
        &self,
        now: Timestamp,
        keep_days: u32,
        used: &HashSet<String>,
    ) -> Result<()> {
        let cutoff = now.plus_seconds(-i64::from(keep_days) * 24 * 60 * 60);
        for slug in self.store.folders(PROJECTS)? {
            for name in names(&self.store, &format!("{PROJECTS}/{slug}"))? {
                remove_old(&self.store, &name, cutoff)?;
                let times = restorable_times(&self.store, &name)?;
                if !used.contains(&name) && times.is_some_and(|times| times.latest < cutoff) {
                    lyceum_replica::delete(&self.store, &name)?;
                }
            }
        }
        Ok(())
    }
}

/// When a file was last written; `None` if it is missing or empty.
fn changed(file: &Path) -> Option<Timestamp> {
    let data = fs::metadata(file).ok().filter(|data| data.len() > 0)?;
    let since = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_milliseconds(i64::try_from(since.as_millis()).ok()?))
}

/// The names of the replicas of all files that projects use, restore points included.
pub fn used_names(tx: &mut Tx<'_>) -> Result<HashSet<String>> {
    let mut used = HashSet::new();
    for project in repository::projects::list(tx)? {
        let Some(known) = repository::homes::find(tx, &project.slug)? else { continue };
        let kept = known.home.map(|home| home.kept).unwrap_or_default();
        let mut files = homes::names(kept, known.database.as_deref());
        files.extend(databases::points(tx, &project.slug)?.into_iter().map(|point| point.file));
        used.extend(files.iter().map(|file| name_of(&project.slug, file)));
    }
    Ok(used)
}

/// The files of all projects that the node holds.
pub fn held_files(tx: &mut Tx<'_>, node: &Node) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for project in repository::projects::list(tx)? {
        let Some(known) = repository::homes::find(tx, &project.slug)? else { continue };
        let Some(home) = known.home.filter(|home| home.node.id == node.id()) else { continue };
        let folder = node.folder_of(&project.slug);
        let names = homes::names(home.kept, known.database.as_deref());
        files.extend(names.iter().map(|name| folder.join(name)));
    }
    Ok(files)
}

/// The name of the database file that a project had at a time. Errors: `NotFound` without such a project.
pub fn database_at(tx: &mut Tx<'_>, slug: &str, at: Timestamp) -> Result<String> {
    let project = projects::find(tx, slug)?;
    let points = databases::points(tx, slug)?;
    let replaced_later = points.into_iter().rev().find(|point| point.at > at);
    let present = || project.database.unwrap_or_else(|| FIRST.to_owned());
    Ok(replaced_later.map_or_else(present, |point| point.file))
}

/// Restores the server's SQLite database as the new file `target`.
///
/// Errors: `NotFound` if no replica is that old.
pub fn restore_server(
    store: &ReplicaStore,
    at: Timestamp,
    target: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RestoredState> {
    restore(store, SERVER_DATABASE, Some(at), target, progress)
}

/// The times to which the server's SQLite database can be restored; `None` if it has no replica.
pub fn server_times(store: &ReplicaStore) -> Result<Option<RestorableTimes>> {
    restorable_times(store, SERVER_DATABASE)
}

/// A project of a restored database, with its files.
#[derive(Clone, Debug)]
pub struct ProjectFiles {
    slug: String,
    /// The files that it needs.
    present: Vec<String>,
    /// Its earlier databases.
    earlier: Vec<String>,
}

/// The files of all projects.
pub fn project_files(tx: &mut Tx<'_>) -> Result<Vec<ProjectFiles>> {
    let mut all = Vec::new();
    for project in repository::projects::list(tx)? {
        let slug = project.slug;
        let Some(known) = repository::homes::find(tx, &slug)? else { continue };
        let kept = known.home.map(|home| home.kept).unwrap_or_default();
        let present = homes::names(kept, known.database.as_deref());
        let points = databases::points(tx, &slug)?;
        let earlier = points.into_iter().map(|point| point.file).collect();
        all.push(ProjectFiles { slug, present, earlier });
    }
    Ok(all)
}

/// Restores files of projects into the node's folder. Returns the number of files, and the replicas that have no state
/// that old.
pub fn restore_files(
    store: &ReplicaStore,
    node: &Node,
    projects: &[ProjectFiles],
    at: Timestamp,
) -> Result<(usize, Vec<String>)> {
    let (mut restored, mut missing) = (0, Vec::new());
    for ProjectFiles { slug, present, earlier } in projects {
        for file in present.iter().chain(earlier) {
            let target = node.folder_of(slug).join(file);
            fs::create_dir_all(target.parent().unwrap_or(Path::new(".")))
                .map_err(|fault| lyceum_blob::failed("restore a project", &fault))?;
            let name = name_of(slug, file);
            match restore(store, &name, Some(at), &target, &mut |_, _| {}) {
                Ok(_) => restored += 1,
                Err(problem) if problem.kind != ProblemKind::NotFound => return Err(problem),
                Err(_) if present.contains(file) => missing.push(name),
                // An earlier database may be older than all replicas.
                Err(_) => {}
            }
        }
    }
    Ok((restored, missing))
}

/// Records that the node holds the projects whose files were restored.
pub fn adopt_restored(
    tx: &mut Tx<'_>,
    now: Timestamp,
    node: &Node,
    projects: &[ProjectFiles],
) -> Result<()> {
    nodes::note(tx, now, node)?;
    projects.iter().try_for_each(|project| homes::restored(tx, node, &project.slug))
}

/// The problem of a restore to a time on a server without replicas.
pub fn not_replicated() -> Problem {
    let message = "this server has no replicas: neither 'replica.folder' nor 's3.bucket' is set";
    Problem::new(ProblemKind::Conflict, message)
}
