//! Which node holds the files of a project. Its rows are in the shared database, but its database, keys and
//! bucket index are files in one node's data folder. Every other node refuses it: a file that it made anew
//! would be empty, and a deploy would be planned from that.
//!
//! The record names the node and a mark, which stands in the project's folder, too. So a folder that was lost
//! is noticed, and so is one that stayed behind when the files were moved.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use lyceum_blob::{Blobs, Digest};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_project::Uses;
use lyceum_store::{Dialect, Tx};
use uuid::Uuid;

use crate::bindings::copies;
use crate::deployments::{self, Deployment};
use crate::nodes::{self, Known, Node, write_durably};
use crate::{databases, repository};

/// The file of a project's keys.
pub const KV: &str = "kv.sqlite";
/// The folder of a project's bucket.
pub const BUCKET: &str = "bucket";
/// The index of a bucket, in its folder.
const INDEX: &str = "index.sqlite";
/// The file that holds the mark; after a move also the mark before it.
const MARK: &str = "home";

/// The node that holds a project's files.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) node: Known,
    pub(crate) mark: String,
    /// What must be there.
    pub(crate) kept: Uses,
}

/// What is known of a project's files.
#[derive(Clone, Debug)]
pub(crate) struct Whereabouts {
    /// The version that is served.
    pub(crate) version: i64,
    /// The file of its database, where that is not the first one.
    pub(crate) database: Option<String>,
    /// None: nobody knows, as of projects that were deployed before nodes were recorded.
    pub(crate) home: Option<Home>,
}

impl Whereabouts {
    /// Whether any node can serve the project: it has nothing in files but what all nodes have.
    fn needs_no_home(&self, node: &Node) -> bool {
        let keeps_nothing = self.home.as_ref().is_some_and(|home| home.kept == Uses::default());
        node.shares_blobs() && keeps_nothing && self.database.is_none()
    }
}

/// Refuses a project whose files are not on this node. What is not deployed anywhere belongs to no node yet.
///
/// Errors: `Misdirected`, with the node that holds them, or with what is missing here.
pub fn admit(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<()> {
    active_version(tx, node, slug).map(drop)
}

/// The number of the version that is served; none: the project is not deployed. Cheap enough to be asked for at
/// every request. Errors: those of [`admit`].
pub fn active_version(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<Option<i64>> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(None) };
    if known.needs_no_home(node) {
        return Ok(Some(known.version));
    }
    let Some(home) = &known.home else { return Err(nowhere(node, slug)) };
    if home.node.id != node.id() {
        return Err(elsewhere(node, slug, &home.node));
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

/// Notes what a version keeps in files, which this node must have from now on; a new project is this node's.
/// What it did not use before is made, so that its absence says later that it was lost.
pub(crate) fn hold(tx: &mut Tx<'_>, node: &Node, slug: &str, uses: Uses) -> Result<()> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(()) };
    let folder = node.folder_of(slug);
    let before = known.home.as_ref().map(|home| home.kept);
    let kept = before.unwrap_or_default();
    let kept = Uses {
        database: kept.database || uses.database,
        kv: kept.kv || uses.kv,
        bucket: kept.bucket || uses.bucket,
        lms: false,
    };
    if before == Some(kept) {
        return Ok(());
    }
    for file in files(&folder, kept, known.database.as_deref()) {
        make(&file)?;
    }
    let Some(home) = known.home else { return claim(tx, node, slug, kept).map(drop) };
    if home.node.id != node.id() {
        // It kept nothing until now, see `needs_no_home`.
        let mark = mark_of(&folder)?;
        repository::homes::move_to(tx, slug, node.id(), &mark)?;
    }
    repository::homes::keep(tx, slug, kept)
}

/// The projects by slug, each with the node that holds its files; none: nobody knows.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<(String, Option<Known>)>> {
    let mut all = Vec::new();
    for project in repository::projects::list(tx)? {
        let known = repository::homes::find(tx, &project.slug)?;
        all.push((project.slug, known.and_then(|known| known.home).map(|home| home.node)));
    }
    Ok(all)
}

/// A project of which nobody knows where its files are.
#[derive(Clone, Debug)]
pub struct Unclaimed {
    /// The project.
    pub slug: String,
    database: Option<String>,
    served: Option<Deployment>,
}

/// The projects that were deployed before nodes were recorded.
pub fn unclaimed(tx: &mut Tx<'_>) -> Result<Vec<Unclaimed>> {
    let mut unclaimed = Vec::new();
    for slug in repository::homes::unclaimed(tx)? {
        let served = deployments::active(tx, &slug)?;
        let database = repository::homes::find(tx, &slug)?.and_then(|known| known.database);
        unclaimed.push(Unclaimed { slug, database, served });
    }
    Ok(unclaimed)
}

impl Unclaimed {
    /// What of the project is in files of this node; none: the files are on another node, as far as can be
    /// told. A database of SQLite has one node, which has whatever there is.
    pub fn found(&self, node: &Node, blobs: &Blobs, dialect: Dialect) -> Result<Option<Uses>> {
        let folder = node.folder_of(&self.slug);
        let named = self.database.as_deref();
        let kept = kept_in(&folder, named);
        let is_here = if dialect == Dialect::Sqlite {
            true
        } else if named.is_some() {
            kept.database
        } else if kept != Uses::default() {
            // Earlier releases made empty files on every node that a request came to.
            holds_rows(&files(&folder, kept, named))?
        } else {
            // A backend makes its files when it is first started, which is when it is deployed.
            let has_files = self.served.as_ref().is_some_and(|served| {
                let Uses { database, kv, bucket, .. } = served.uses;
                served.backend.is_some() && (database || kv || bucket)
            });
            !has_files && lacks(blobs, self.served.iter())? == 0
        };
        Ok(is_here.then_some(kept))
    }
}

/// Notes that an unclaimed project is this node's, unless another one was faster. Answers whether it is.
pub fn claim(tx: &mut Tx<'_>, node: &Node, slug: &str, kept: Uses) -> Result<bool> {
    let mark = mark_of(&node.folder_of(slug))?;
    repository::homes::insert(tx, slug, (node.id(), &mark), kept)
}

/// Makes this node the holder of a project's files, which are here, as after a restore or a move. The files that
/// another node may still have are stale from then on. Answers the node that held them before.
///
/// With `is_forced` the files need not carry the project's mark.
///
/// Errors: `NotFound`; `Conflict` where files are missing here, or are not the project's, or where the node's own
/// folder is a copy that fell behind.
pub fn adopt(
    tx: &mut Tx<'_>,
    (node, blobs): (&Node, &Blobs),
    slug: &str,
    is_forced: bool,
) -> Result<Option<Known>> {
    let refuse = |message: String| Err(Problem::new(ProblemKind::Conflict, message));
    if nodes::is_passed(tx, node)? {
        return refuse(format!(
            "the data folder of the node '{}' was copied, and a server was started on the other copy later; restart \
             the server on this folder, which makes it a new node, and adopt the project then",
            node.name()
        ));
    }
    let Some(known) = repository::homes::find(tx, slug)? else {
        let message = format!("There is no project '{slug}' in this database");
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    let folder = node.folder_of(slug);
    let found = marks(&folder)?;
    let kept = match &known.home {
        Some(home) => home.kept,
        None => kept_in(&folder, known.database.as_deref()),
    };
    if let Some(file) = absent(&folder, kept, known.database.as_deref()) {
        return refuse(format!(
            "the file '{file}' of the project '{slug}' is missing in '{}'; copy the project's folder there first",
            folder.display()
        ));
    }
    let versions = repository::deployments::list(tx, slug)?;
    let lacking = lacks(blobs, versions.iter())?;
    if lacking > 0 {
        return refuse(format!(
            "{lacking} files that the versions of '{slug}' are made of are missing here; copy the folder \
             'hosting/blobs' of the node that has them"
        ));
    }
    let before = known.home.as_ref().map(|home| home.mark.as_str());
    if !is_forced && before.is_some_and(|mark| !found.iter().any(|here| here == mark)) {
        return refuse(format!(
            "the files in '{}' are not those that the database knows of '{slug}': they carry another mark, or \
             none; name --force if they are the right ones all the same",
            folder.display()
        ));
    }
    let mark = Uuid::new_v4().to_string();
    // Both, until the database has the new one for certain.
    write_marks(&folder, &[&mark, before.unwrap_or_default()])?;
    if known.home.is_none() {
        repository::homes::insert(tx, slug, (node.id(), &mark), kept)?;
    } else {
        repository::homes::move_to(tx, slug, node.id(), &mark)?;
    }
    Ok(known.home.map(|home| home.node))
}

/// How many of the files that versions are made of are not here.
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

/// The index of a bucket, from the project's folder.
pub(crate) fn index() -> String {
    format!("{BUCKET}/{INDEX}")
}

/// The files of what is kept, from the project's folder.
pub(crate) fn names(kept: Uses, database: Option<&str>) -> Vec<String> {
    let of = |is_kept: bool, file: &str| is_kept.then(|| file.to_owned());
    [
        of(kept.database || database.is_some(), database.unwrap_or(databases::FIRST)),
        of(kept.kv, KV),
        of(kept.bucket, &index()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn files(folder: &Path, kept: Uses, database: Option<&str>) -> Vec<PathBuf> {
    names(kept, database).into_iter().map(|name| folder.join(name)).collect()
}

/// Notes that this node holds a project whose files were restored here. Whatever another node has is stale.
pub(crate) fn restored(tx: &mut Tx<'_>, node: &Node, slug: &str) -> Result<()> {
    let Some(known) = repository::homes::find(tx, slug)? else { return Ok(()) };
    let (folder, mark) = (node.folder_of(slug), Uuid::new_v4().to_string());
    let before = known.home.as_ref().map(|home| home.mark.as_str());
    // Both: a database that is put back once more, as with the next node, knows the former one.
    write_marks(&folder, &[&mark, before.unwrap_or_default()])?;
    if known.home.is_some() {
        return repository::homes::move_to(tx, slug, node.id(), &mark);
    }
    let kept = kept_in(&folder, known.database.as_deref());
    repository::homes::insert(tx, slug, (node.id(), &mark), kept).map(drop)
}

/// Notes that this node holds a project whose files were restored here, beside a database that stays as it is.
///
/// Errors: those of [`adopt`]; `Conflict` where the database names another node than the one of the backup, `of`.
pub(crate) fn restored_beside(
    tx: &mut Tx<'_>,
    (node, blobs): (&Node, &Blobs),
    slug: &str,
    of: &str,
) -> Result<()> {
    let home = repository::homes::find(tx, slug)?.and_then(|known| known.home);
    if let Some(home) = home.filter(|home| home.node.id != of && home.node.id != node.id()) {
        let message = format!(
            "the node {} holds the project '{slug}', and the backup is of another node; run `lyceum admin project \
             adopt {slug} --force` if the files here are the right ones",
            shown(&home.node)
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    adopt(tx, (node, blobs), slug, true).map(drop)
}

/// What of a project is in its folder.
fn kept_in(folder: &Path, database: Option<&str>) -> Uses {
    Uses {
        database: databases::named(folder, database).exists(),
        kv: folder.join(KV).exists(),
        bucket: folder.join(BUCKET).join(INDEX).exists(),
        lms: false,
    }
}

/// Whether any of the databases has a row.
fn holds_rows(files: &[PathBuf]) -> Result<bool> {
    for file in files {
        if copies::holds_rows(file, file.ends_with(INDEX))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first file of what is kept that is not there.
fn absent(folder: &Path, kept: Uses, database: Option<&str>) -> Option<String> {
    let mut files = files(folder, kept, database).into_iter();
    let file = files.find(|file| !file.exists())?;
    Some(file.strip_prefix(folder).unwrap_or(&file).display().to_string())
}

/// Makes an empty file, which SQLite takes for an empty database, unless it is there.
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
    made().map_err(|fault| lyceum_blob::failed(&format!("make {}", file.display()), &fault))
}

/// The marks in a project's folder.
fn marks(folder: &Path) -> Result<Vec<String>> {
    match fs::read_to_string(folder.join(MARK)) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(fault) => Err(lyceum_blob::failed("read the mark of a project", &fault)),
    }
}

/// The mark in a project's folder, which is made where there is none.
fn mark_of(folder: &Path) -> Result<String> {
    if let Some(mark) = marks(folder)?.into_iter().next() {
        return Ok(mark);
    }
    let mark = Uuid::new_v4().to_string();
    write_marks(folder, &[&mark])?;
    Ok(mark)
}

fn write_marks(folder: &Path, marks: &[&str]) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|fault| lyceum_blob::failed(&format!("make {}", folder.display()), &fault))?;
    write_durably(&folder.join(MARK), (marks.join("\n") + "\n").as_bytes())
}

fn refused(message: String) -> Problem {
    Problem::new(ProblemKind::Misdirected, message)
}

/// What the holder of files answers for is asked of another node.
pub fn elsewhere(node: &Node, slug: &str, holder: &Known) -> Problem {
    refused(format!(
        "the node {} holds the files of the project '{slug}', and this is the node '{}'; send the request to that \
         node, or move the files here and run `lyceum admin project adopt {slug}`",
        shown(holder),
        node.name()
    ))
}

/// A node as messages name it.
pub fn shown(node: &Known) -> String {
    match node.address.as_str() {
        "" => format!("'{}'", node.name),
        address => format!("'{}' ({address})", node.name),
    }
}

fn nowhere(node: &Node, slug: &str) -> Problem {
    refused(format!(
        "no node is known to hold the files of the project '{slug}', and the node '{}' does not have them; start \
         the node that has them, or run `lyceum admin project adopt {slug}` there",
        node.name()
    ))
}

fn copied(node: &Node, slug: &str) -> Problem {
    refused(format!(
        "the data folder of the node '{}' was copied, and a server was started on the other copy later, which holds \
         the project '{slug}' now; if this folder has the right files, stop the other server, restart this one and run \
         `lyceum admin project adopt {slug}` here",
        node.name()
    ))
}

fn missing(node: &Node, slug: &str, file: &str) -> Problem {
    refused(format!(
        "the node '{}' holds the files of the project '{slug}', but '{file}' is missing in the project's folder; put \
         the files back and run `lyceum admin project adopt {slug}` there",
        node.name()
    ))
}
