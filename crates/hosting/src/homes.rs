//! The node that has the files of a project. The project's rows are in the shared database, but its database, keys and
//! bucket index are files in the data folder of one node. Other nodes forward requests for the project to it. If they
//! created empty files instead, a deploy would be planned from those.
//!
//! The home record names the node and a mark. The mark is also stored in the project's folder, so that the node
//! notices if the folder was lost, or if it is an old one left behind after a move.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use lyceum_blob::{Blobs, Digest};
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_project::{Binding, Uses};
use lyceum_store::{SqlDialect, Tx};
use uuid::Uuid;

use crate::deployments::Deployment;
use crate::nodes::{self, KnownNode, Node, write_durably};
use crate::repository::homes::FilesLocation;
use crate::{databases, leases, repository};

/// The folder with a project's bucket.
pub const BUCKET: &str = Binding::Bucket.names().on_server;
/// The index of a bucket, in its folder.
pub(crate) const INDEX: &str = "index.sqlite";
/// The file with the mark. After a move it also has the previous mark.
const MARK: &str = "home";

/// The node that holds a project, as people see it.
#[derive(Clone, Debug)]
pub struct ProjectHome {
    /// The node.
    pub node: KnownNode,
    /// Rises with each node that becomes the holder.
    pub token: i64,
    /// Whether the node's lease has not ended, by the clock of the database; `None` on SQLite, where a node needs no lease.
    pub has_lease: Option<bool>,
}

impl FilesLocation {
    /// Whether any node can serve the project, because it has no files except those that all nodes share.
    pub(crate) fn needs_no_home(&self, node: &Node) -> bool {
        let keeps_nothing = self.home.as_ref().is_some_and(|home| home.kept == Uses::default());
        node.shares_blobs() && keeps_nothing && self.database.is_none()
    }
}

/// Refuses a project whose files are on another node. A project that is not deployed belongs to no node yet.
///
/// Errors: `Misdirected`, with the node that holds the files, or with what is missing here.
pub fn admit(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<()> {
    active_version(tx, node, slug).map(drop)
}

/// The number of the served version; `None` if the project is not deployed. It is cheap enough for every request.
/// Errors: those of [`admit`].
pub fn active_version(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<Option<i64>> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(None) };
    if known.needs_no_home(node) {
        return Ok(Some(known.version));
    }
    let Some(home) = &known.home else { return Err(nowhere(node, slug)) };
    if home.node.id != node.id() {
        return Err(match tx.dialect() {
            SqlDialect::Sqlite => elsewhere(node, slug, &home.node),
            // The request was not forwarded, so the project moved a moment ago.
            SqlDialect::Postgres => leases::moved(slug),
        });
    }
    if !node.is_current(home.node.generation)? {
        return Err(copied(node, slug));
    }
    let folder = node.folder_of(slug);
    if !marks(&folder)?.contains(&home.mark) {
        return Err(missing(node, slug, MARK));
    }
    match absent(&folder, home.kept, known.database.as_deref()) {
        Some(file) => Err(missing(node, slug, &file)),
        None => Ok(Some(known.version)),
    }
}

/// Records which files a version needs, so that this node must have them from now on. A new project belongs to this
/// node. Files that were not used before are created now, so that a missing file later means a loss. Creating them again,
/// after the transaction was repeated, changes nothing.
pub(crate) fn hold(tx: &mut Tx<'_>, node: &Node, slug: &str, uses: Uses) -> Result<()> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(()) };
    let folder = node.folder_of(slug);
    let before = known.home.as_ref().map(|home| home.kept);
    let kept = before.unwrap_or_default();
    let kept = Uses::with_bindings(|binding| kept.has(binding) || uses.has(binding));
    if before == Some(kept) {
        return Ok(());
    }
    for file in files(&folder, kept, known.database.as_deref()) {
        make(&file)?;
    }
    let Some(home) = known.home else { return claim(tx, node, slug, kept).map(drop) };
    if home.node.id != node.id() {
        // The project had no files until now, see `needs_no_home`.
        let mark = mark_of(&folder)?;
        repository::homes::move_to(tx, slug, node.id(), &mark)?;
    }
    repository::homes::keep(tx, slug, kept)
}

/// The projects by slug, with the home of each.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<(String, Option<ProjectHome>)>> {
    let projects = repository::projects::list(tx)?.into_iter();
    projects.map(|project| Ok((project.slug.clone(), find(tx, &project.slug)?))).collect()
}

/// The home of a project; `None` if it is unknown.
pub fn find(tx: &mut Tx<'_>, slug: &str) -> Result<Option<ProjectHome>> {
    let home = repository::homes::find(tx, slug)?.and_then(|known| known.home);
    let is_shared = tx.dialect() == SqlDialect::Postgres;
    Ok(home.map(|home| ProjectHome {
        node: home.node,
        token: home.token,
        has_lease: is_shared.then_some(home.has_lease),
    }))
}

/// Records that this node holds a new project. Returns whether it does.
fn claim(tx: &mut Tx<'_>, node: &Node, slug: &str, kept: Uses) -> Result<bool> {
    let mark = mark_of(&node.folder_of(slug))?;
    repository::homes::insert(tx, slug, (node.id(), &mark), kept)
}

/// Makes this node the holder of a project whose files are here, such as after a restore or a move. Files that
/// another node may still have are stale from then on. Returns the node that held them before.
///
/// With `is_forced`, the files need not carry the project's mark.
///
/// Errors: `NotFound`; `Conflict` if files are missing here or belong to another project, or if the node's own folder
/// is an outdated copy.
pub fn adopt(
    tx: &mut Tx<'_>,
    (node, blobs): (&Node, &Blobs),
    slug: &str,
    is_forced: bool,
) -> Result<Option<KnownNode>> {
    let refuse = |message: Message| Err(Problem::new(ProblemKind::Conflict, message));
    if nodes::is_passed(tx, node)? {
        return refuse(message!(
            "the data folder of the node '{node}' was copied, and a server was started on the other copy later; \
            restart the server on this folder, which makes it a new node, then adopt the project",
            node = node.name()
        ));
    }
    let Some(known) = repository::homes::find(tx, slug)? else {
        let message = message!("there is no project '{slug}' in this database");
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    let folder = node.folder_of(slug);
    let found = marks(&folder)?;
    let kept = match &known.home {
        Some(home) => home.kept,
        None => stored_uses(&folder, known.database.as_deref()),
    };
    if let Some(file) = absent(&folder, kept, known.database.as_deref()) {
        return refuse(message!(
            "the file '{file}' of the project '{slug}' is missing in '{folder}'; copy the project's folder there first",
            folder = folder.display()
        ));
    }
    let versions = repository::deployments::list(tx, slug)?;
    let lacking = lacks(blobs, versions.iter())?;
    if lacking > 0 {
        return refuse(message!(
            "{lacking} files of versions of '{slug}' are missing here; copy the folder 'hosting/blobs' from \
            the node that has them"
        ));
    }
    let before = known.home.as_ref().map(|home| home.mark.as_str());
    if !is_forced && before.is_some_and(|mark| !found.iter().any(|here| here == mark)) {
        return refuse(message!(
            "the files in '{folder}' may not belong to the project '{slug}': their mark is not the one in the \
            database; use `--force` if they are the right files",
            folder = folder.display()
        ));
    }
    let mark = Uuid::new_v4().to_string();
    // Both marks, because the commit that stores the new one may still fail.
    write_marks(&folder, &[&mark, before.unwrap_or_default()])?;
    if known.home.is_none() {
        repository::homes::insert(tx, slug, (node.id(), &mark), kept)?;
    } else {
        repository::homes::move_to(tx, slug, node.id(), &mark)?;
    }
    Ok(known.home.map(|home| home.node))
}

/// The number of the versions' files that are missing here.
fn lacks<'a>(blobs: &Blobs, versions: impl Iterator<Item = &'a Deployment>) -> Result<usize> {
    let mut lacking = 0;
    for version in versions {
        let zip = version.frontend.iter().map(|frontend| &frontend.sha256);
        let modules = version.backend.iter().flat_map(|backend| &backend.modules);
        for sha256 in zip.chain(modules.map(|module| &module.sha256)) {
            lacking += usize::from(!blobs.has(&sha256.parse::<Digest>()?)?);
        }
    }
    Ok(lacking)
}

/// The path of a bucket's index in the project's folder.
pub(crate) fn index() -> String {
    format!("{BUCKET}/{INDEX}")
}

/// The paths of the recorded files in the project's folder.
pub(crate) fn names(kept: Uses, database: Option<&str>) -> Vec<String> {
    let is_kept = |binding| match binding {
        Binding::Database => kept.database || database.is_some(),
        other => kept.has(other),
    };
    let all = Binding::ALL.into_iter().filter(|binding| is_kept(*binding));
    all.map(|binding| file_of(binding, database)).collect()
}

/// The path of a binding's SQLite file in the project's folder.
fn file_of(binding: Binding, database: Option<&str>) -> String {
    match binding {
        Binding::Database => database.unwrap_or(databases::FIRST).to_owned(),
        Binding::Bucket => index(),
        other @ Binding::Kv => other.names().on_server.to_owned(),
    }
}

fn files(folder: &Path, kept: Uses, database: Option<&str>) -> Vec<PathBuf> {
    names(kept, database).into_iter().map(|name| folder.join(name)).collect()
}

/// Records that this node holds a project whose files were restored here. Files on other nodes are stale.
pub(crate) fn restored(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<()> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(()) };
    let (folder, mark) = (node.folder_of(slug), Uuid::new_v4().to_string());
    let before = known.home.as_ref().map(|home| home.mark.as_str());
    // Both marks: if the database is restored again, such as for the next node, it has the previous one.
    write_marks(&folder, &[&mark, before.unwrap_or_default()])?;
    if known.home.is_some() {
        return repository::homes::move_to(tx, slug, node.id(), &mark);
    }
    let kept = stored_uses(&folder, known.database.as_deref());
    repository::homes::insert(tx, slug, (node.id(), &mark), kept).map(drop)
}

/// Records that this node holds a project whose files were restored here, without a restore of the database.
///
/// Errors: those of [`adopt`]; `Conflict` if the database names a node other than `of`, the one of the backup.
pub(crate) fn restored_beside(
    tx: &mut Tx<'_>,
    (node, blobs): (&Node, &Blobs),
    slug: &str,
    of: &str,
) -> Result<()> {
    let home = repository::homes::find(tx, slug)?.and_then(|known| known.home);
    if let Some(home) = home.filter(|home| home.node.id != of && home.node.id != node.id()) {
        let message = message!(
            "the node {describe_node} holds the project '{slug}', and the backup is of another node; run `lyceum admin project \
             adopt {slug} --force` if the files here are the right ones",
            describe_node = describe_node(&home.node)
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    adopt(tx, (node, blobs), slug, true).map(drop)
}

/// The files of a project that exist in its folder.
fn stored_uses(folder: &Path, database: Option<&str>) -> Uses {
    Uses::with_bindings(|binding| folder.join(file_of(binding, database)).exists())
}

/// The first recorded file that is missing.
fn absent(folder: &Path, kept: Uses, database: Option<&str>) -> Option<String> {
    let mut files = files(folder, kept, database).into_iter();
    let file = files.find(|file| !file.exists())?;
    Some(file.strip_prefix(folder).unwrap_or(&file).display().to_string())
}

/// Creates the file if it is missing. SQLite treats an empty file as an empty database.
fn make(file: &Path) -> Result<()> {
    let made = || -> io::Result<()> {
        if file.exists() {
            return Ok(());
        }
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        File::options().create(true).append(true).open(file)?.sync_all()?;
        File::open(folder)?.sync_all()
    };
    made().map_err(|fault| lyceum_blob::failed(&format!("create {}", file.display()), &fault))
}

/// The marks in a project's folder.
pub(crate) fn marks(folder: &Path) -> Result<Vec<String>> {
    match fs::read_to_string(folder.join(MARK)) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(fault) => Err(lyceum_blob::failed("read the mark of a project", &fault)),
    }
}

/// The mark in a project's folder. Creates it if it is missing.
fn mark_of(folder: &Path) -> Result<String> {
    if let Some(mark) = marks(folder)?.into_iter().next() {
        return Ok(mark);
    }
    let mark = Uuid::new_v4().to_string();
    write_marks(folder, &[&mark])?;
    Ok(mark)
}

pub(crate) fn write_marks(folder: &Path, marks: &[&str]) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|fault| lyceum_blob::failed(&format!("create {}", folder.display()), &fault))?;
    write_durably(&folder.join(MARK), (marks.join("\n") + "\n").as_bytes())
}

fn refused(message: Message) -> Problem {
    Problem::new(ProblemKind::Misdirected, message)
}

/// The problem of a request for files that another node holds.
pub fn elsewhere(node: &Node, slug: &str, holder: &KnownNode) -> Problem {
    refused(message!(
        "the node {describe_node} holds the files of the project '{slug}', and this is the node '{node}'; send the request to that \
         node, or move the files here and run `lyceum admin project adopt {slug}`",
        describe_node = describe_node(holder),
        node = node.name()
    ))
}

/// A node as messages show it.
pub fn describe_node(node: &KnownNode) -> String {
    match node.address.as_str() {
        "" => format!("'{}'", node.name),
        address => format!("'{}' ({address})", node.name),
    }
}

fn nowhere(node: &Node, slug: &str) -> Problem {
    refused(message!(
        "no node is known to hold the files of the project '{slug}', and the node '{node}' does not have them; start \
         the node that has them, or run `lyceum admin project adopt {slug}` there",
        node = node.name()
    ))
}

fn copied(node: &Node, slug: &str) -> Problem {
    refused(message!(
        "the data folder of the node '{node}' was copied, and a server was started on the other copy later, which holds \
         the project '{slug}' now; if this folder has the right files, stop the other server, restart this one and run \
         `lyceum admin project adopt {slug}` here",
        node = node.name()
    ))
}

fn missing(node: &Node, slug: &str, file: &str) -> Problem {
    refused(message!(
        "the node '{node}' holds the files of the project '{slug}', but '{file}' is missing in the project's folder; put \
         the files back and run `lyceum admin project adopt {slug}` there",
        node = node.name()
    ))
}
