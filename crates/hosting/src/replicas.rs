//! Replicas of the files of projects: databases, keys and indexes of buckets. The objects of buckets and the files of
//! versions are in the S3 bucket already, if there is one.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_replica::{
    Replicator, RestoredState, delete_unfinished, names, remove_old, restorable_times, restore,
};
use lyceum_store::{SqlDialect, Tx};

pub use lyceum_replica::{ReplicaStore, RestorableTimes};

use crate::databases::{self, FIRST};
use crate::installations::{self, FormerInstallation};
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
        ("", _) => in_bucket(config).map(Some),
        (folder, _) => ReplicaStore::in_folder(Path::new(folder)).map(Some),
    }
}

/// The folder of replicas in the S3 bucket, which has the marks of its installations even if the replicas are elsewhere.
pub(crate) fn in_bucket(config: &Config) -> Result<ReplicaStore> {
    ReplicaStore::in_s3(&config.s3, "replicas")
}

/// The stores with the replicas of a database: that of its present installation, and those of former ones.
#[derive(Clone, Debug)]
pub struct InstallationStores {
    present: ReplicaStore,
    /// The last one first. Each counts up to a time.
    former: Vec<(ReplicaStore, Timestamp)>,
}

impl InstallationStores {
    /// The stores of these installations, in the store that the settings select.
    pub fn new(root: &ReplicaStore, present: &str, former: &[FormerInstallation]) -> Self {
        let former = former.iter().map(|former| (root.below(&former.id), former.ended));
        Self { present: root.below(present), former: former.collect() }
    }

    /// Restores the newest state up to a time as the new file `target`, from the last installation that has one.
    ///
    /// Errors: those of [`restore`].
    fn restore(
        &self,
        name: &str,
        until: Option<Timestamp>,
        target: &Path,
    ) -> Result<RestoredState> {
        let is_missing = |problem: &Problem| problem.kind == ProblemKind::NotFound;
        let missing = match restore(&self.present, name, until, target, &mut |_, _| {}) {
            Err(problem) if is_missing(&problem) => problem,
            restored => return restored,
        };
        for (store, ended) in &self.former {
            let until = until.map_or(*ended, |until| until.min(*ended));
            match restore(store, name, Some(until), target, &mut |_, _| {}) {
                Err(problem) if is_missing(&problem) => {}
                restored => return restored,
            }
        }
        Err(missing)
    }
}

/// The replica of a project's file.
fn name_of(slug: &str, file: &str) -> String {
    format!("{PROJECTS}/{slug}/{file}")
}

/// Replicates the files of the projects that a node holds.
pub struct Replicas {
    /// `None` until the server knows its installation.
    stores: Mutex<Option<InstallationStores>>,
    replicator: Arc<Replicator>,
    /// The folder with the folders of projects.
    projects: PathBuf,
    epoch_of: EpochOf,
}

/// Returns a number for a slug that is larger than that of each other server that held the project before; `None` if this
/// server alone has the project.
type EpochOf = Box<dyn Fn(&str) -> Option<u64> + Send + Sync>;

impl fmt::Debug for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicas").field("stores", &self.stores).finish_non_exhaustive()
    }
}

impl Replicas {
    /// The replicas of a node.
    pub fn new(
        replicator: Arc<Replicator>,
        node: &Node,
        epoch_of: impl Fn(&str) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        let projects = node.folder_of("");
        Self { stores: Mutex::default(), replicator, projects, epoch_of: Box::new(epoch_of) }
    }

    /// Replicates into the store of the present installation from now on.
    pub fn replicate_into(&self, stores: InstallationStores) {
        self.replicator.replicate_into(stores.present.clone());
        self.restore_from(stores);
    }

    /// Restores from these stores from now on, whose present installation is the known one.
    pub fn restore_from(&self, stores: InstallationStores) {
        *self.stores.lock().unwrap_or_else(PoisonError::into_inner) = Some(stores);
    }

    /// Errors: `Unavailable` until the server knows its installation.
    fn stores(&self) -> Result<InstallationStores> {
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.clone().ok_or_else(|| {
            let message =
                "the store of replicas has not answered since this server started; try again later";
            Problem::new(ProblemKind::Unavailable, message)
        })
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
        let store = self.stores()?.present;
        for file in files {
            let changed =
                ["", "-wal"].map(|end| changed(Path::new(&format!("{}{end}", file.display()))));
            let Some(changed) = changed.into_iter().flatten().max() else { continue };
            let Ok(name) = file.strip_prefix(&self.projects) else { continue };
            let name = format!("{PROJECTS}/{}", name.display());
            let times = restorable_times(&store, &name)?;
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

    /// Restores the newest state of a project's file as the new file `target`. `epoch` is the earliest one that counts: what
    /// an earlier holder or a deleted project stored under the same name does not.
    ///
    /// Errors: `NotFound` if the file has no replica of that epoch or a later one.
    pub(crate) fn restore_newest(
        &self,
        (slug, epoch): (&str, i64),
        file: &str,
        target: &Path,
    ) -> Result<()> {
        let name = name_of(slug, file);
        let state = self.stores()?.restore(&name, None, target)?;
        if state.epoch < epoch.unsigned_abs() {
            let message = message!(
                "the file '{name}' has no replica that is recent enough: its server ended before it stored one"
            );
            return Err(Problem::new(ProblemKind::NotFound, message));
        }
        Ok(())
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
        self.stores()?.restore(&name_of(slug, file), Some(at), target)
    }

    /// Deletes what no restore to the last `keep_days` days needs. Of a file that this database does not use, that is
    /// everything if it did not change in these days. `used` has the names of the replicas of all files in use.
    pub fn remove_expired(
        &self,
        now: Timestamp,
        keep_days: u32,
        used: &HashSet<String>,
    ) -> Result<()> {
        let (store, cutoff) = (self.stores()?.present, days_before(now, keep_days.into()));
        delete_unfinished(&store, now)?;
        let mut all = vec![SERVER_DATABASE.to_owned()];
        for slug in store.folders(PROJECTS)? {
            all.extend(names(&store, &format!("{PROJECTS}/{slug}"))?);
        }
        for name in all {
            remove_old(&store, &name, cutoff)?;
            let times = restorable_times(&store, &name)?;
            if !used.contains(&name) && times.is_some_and(|times| times.latest < cutoff) {
                lyceum_replica::delete(&store, &name)?;
            }
        }
        Ok(())
    }
}

fn days_before(now: Timestamp, days: i64) -> Timestamp {
    now.plus_seconds(-days * 24 * 60 * 60)
}

/// Deletes the replicas of adopted installations `keep_days` after their last use, so that nobody is in them longer than
/// erasures promise. All others may still be needed: those of a stopped original, or of another database.
pub fn remove_adopted_installations(
    root: &ReplicaStore,
    now: Timestamp,
    keep_days: u32,
    former: &[FormerInstallation],
) -> Result<()> {
    let cutoff = days_before(now, keep_days.into());
    for FormerInstallation { id, ended, .. } in former.iter().filter(|former| former.is_adopted) {
        if root.below(id).mark()?.map_or(*ended, |mark| mark.at()) < cutoff {
            tracing::info!(id, "the replicas of an adopted installation are deleted");
            lyceum_replica::delete(root, id)?;
        }
    }
    Ok(())
}

/// When a file was last written; `None` if it is missing or empty.
fn changed(file: &Path) -> Option<Timestamp> {
    let data = fs::metadata(file).ok().filter(|data| data.len() > 0)?;
    let since = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_milliseconds(i64::try_from(since.as_millis()).ok()?))
}

/// The names of the replicas of all files in use: those of projects with their restore points, and the server's database
/// on SQLite.
pub fn used_names(tx: &mut Tx<'_>) -> Result<HashSet<String>> {
    let mut used = HashSet::new();
    if tx.dialect() == SqlDialect::Sqlite {
        used.insert(SERVER_DATABASE.to_owned());
    }
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

/// The installations on SQLite that have replicas, with the times to which their database can be restored.
pub fn restorable_installations(root: &ReplicaStore) -> Result<Vec<(String, RestorableTimes)>> {
    let mut found = Vec::new();
    for id in root.folders("")? {
        if let Some(times) = server_times(root, &id)? {
            found.push((id, times));
        }
    }
    Ok(found)
}

/// Restores the SQLite database of an installation as the new file `target`.
///
/// Errors: `NotFound` if no replica is that old.
pub fn restore_server(
    root: &ReplicaStore,
    id: &str,
    at: Timestamp,
    target: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RestoredState> {
    restore(&root.below(id), SERVER_DATABASE, Some(at), target, progress)
}

/// The times to which the SQLite database of an installation can be restored; `None` if it has no replica.
pub fn server_times(root: &ReplicaStore, id: &str) -> Result<Option<RestorableTimes>> {
    restorable_times(&root.below(id), SERVER_DATABASE)
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

/// The files of all projects of the restored database of an installation, and the stores that have them.
pub fn project_files(
    tx: &mut Tx<'_>,
    root: &ReplicaStore,
    id: &str,
) -> Result<(InstallationStores, Vec<ProjectFiles>)> {
    let stores = InstallationStores::new(root, id, &installations::former(tx)?);
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
    Ok((stores, all))
}

/// Restores files of projects into the node's folder. Returns the number of files, and the replicas that have no state
/// that old.
pub fn restore_files(
    stores: &InstallationStores,
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
            match stores.restore(&name, Some(at), &target) {
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
    // The original server may still write into the replicas of its installation.
    installations::end(tx, now)?;
    projects.iter().try_for_each(|project| homes::restored(tx, node, &project.slug))
}

/// The problem of a restore to a time on a server without replicas.
pub fn not_replicated() -> Problem {
    let message = "this server has no replicas: neither 'replica.folder' nor 's3.bucket' is set";
    Problem::new(ProblemKind::Conflict, message)
}
