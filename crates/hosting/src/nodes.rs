//! Nodes: the servers that share a database, each with its own data folder. A file in that folder identifies the
//! node, so a moved folder is still the same node.

pub mod report;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use hyper::header::HeaderName;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{SqlDialect, Tx};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits;
use crate::repository::nodes as repository;

pub use crate::repository::nodes::KnownNode;

/// The file in the folder `hosting` that identifies the node.
const FILE: &str = "node.json";
const LOCK: &str = "node.lock";

/// The header on a request that one node forwards to another.
pub const FORWARD_HEADER: HeaderName = HeaderName::from_static("lyceum-forwarded");

/// The node that this process works for.
#[derive(Debug)]
pub struct Node {
    id: String,
    name: String,
    address: String,
    generation: AtomicI64,
    /// The folder `hosting` in the data folder.
    folder: PathBuf,
    shares_blobs: bool,
}

/// The settings of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeSettings<'a> {
    /// Its name; if it is empty, the host's name is used.
    pub name: &'a str,
    /// The address at which people reach it.
    pub address: &'a str,
    /// Whether all nodes share the files of versions in an S3 bucket.
    pub shares_blobs: bool,
}

/// The content of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NodeIdentity {
    id: String,
    generation: i64,
}

/// Locked while a node starts or its file is created, so that one process at a time changes the file.
#[derive(Debug)]
pub struct NodeLock {
    _lock: File,
}

/// The name of a node whose setting this is: the host's if it is empty.
pub fn name_of(setting: &str) -> String {
    match setting {
        "" => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        name => name.to_owned(),
    }
}

impl Node {
    /// The node of the folder `hosting`. Gives the folder an identity if it has none.
    pub fn of_folder(folder: &Path, about: &NodeSettings<'_>) -> Result<(Self, NodeLock)> {
        let made = |fault: io::Error| lyceum_blob::failed("read the identity of the node", &fault);
        fs::create_dir_all(folder).map_err(made)?;
        let lock = File::options().create(true).append(true).open(folder.join(LOCK));
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(made)?;
        let identity = match read(folder)? {
            Some(identity) => identity,
            None => NodeIdentity { id: Uuid::new_v4().to_string(), generation: 0 }.write(folder)?,
        };
        Ok((Self::of(identity, folder, about), NodeLock { _lock: lock }))
    }

    /// The node of the folder, read without creating a file. A folder without an identity is a node that holds
    /// nothing.
    pub fn read(folder: &Path, about: &NodeSettings<'_>) -> Result<Self> {
        let none = || NodeIdentity { id: String::new(), generation: 0 };
        Ok(Self::of(read(folder)?.unwrap_or_else(none), folder, about))
    }

    fn of(identity: NodeIdentity, folder: &Path, about: &NodeSettings<'_>) -> Self {
        Self {
            id: identity.id,
            name: name_of(about.name),
            address: about.address.to_owned(),
            generation: AtomicI64::new(identity.generation),
            folder: folder.to_owned(),
            shares_blobs: about.shares_blobs,
        }
    }

    /// Begins a generation. It is written to the folder first, so that after a crash the folder is ahead of the
    /// database; a copied folder never is.
    pub fn advance(&self, _alone: &NodeLock) -> Result<()> {
        let generation = self.generation.load(Relaxed) + 1;
        NodeIdentity { id: self.id.clone(), generation }.write(&self.folder)?;
        self.generation.store(generation, Relaxed);
        Ok(())
    }

    /// Gives a folder that is a copy of another node's folder a new identity, without projects.
    pub fn renewed(&self, _alone: &NodeLock) -> Result<Self> {
        let identity = NodeIdentity { id: Uuid::new_v4().to_string(), generation: 1 };
        let NodeIdentity { id, generation } = identity.write(&self.folder)?;
        Ok(Self {
            id,
            name: self.name.clone(),
            address: self.address.clone(),
            generation: AtomicI64::new(generation),
            folder: self.folder.clone(),
            shares_blobs: self.shares_blobs,
        })
    }

    /// A UUID.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The random end of its id, which distinguishes its uploads from those of other nodes.
    pub fn tag(&self) -> &str {
        tag_of(&self.id)
    }

    /// Whether all nodes share the files of versions.
    pub(crate) fn shares_blobs(&self) -> bool {
        self.shares_blobs
    }

    /// The folder with a project's database, keys and bucket.
    pub fn folder_of(&self, slug: &str) -> PathBuf {
        self.folder.join("projects").join(slug)
    }

    /// The folder with files that are being restored from replicas.
    pub(crate) fn draft_folder(&self) -> PathBuf {
        self.folder.join("restoring")
    }

    /// The folder with folders of projects that other nodes have taken.
    pub(crate) fn stale_folder(&self) -> PathBuf {
        self.folder.join("stale")
    }

    /// The folder with the folders of projects that are being deleted.
    pub(crate) fn deleted_folder(&self) -> PathBuf {
        self.folder.join("deleted")
    }

    /// Whether the folder is the one that the database knows under this id, rather than a copy of it. The file is
    /// read again, because another process on the same folder may have begun a later generation.
    pub(crate) fn is_current(&self, known: i64) -> Result<bool> {
        if known <= self.generation.load(Relaxed) {
            return Ok(true);
        }
        let identity = read(&self.folder)?.filter(|identity| identity.id == self.id);
        let here = identity.map_or(0, |identity| identity.generation);
        self.generation.fetch_max(here, Relaxed);
        Ok(known <= here)
    }
}

impl NodeIdentity {
    fn write(self, folder: &Path) -> Result<Self> {
        let text = serde_json::to_vec(&self).map_err(Problem::internal)?;
        write_durably(&folder.join(FILE), &text)?;
        Ok(self)
    }
}

fn read(folder: &Path) -> Result<Option<NodeIdentity>> {
    match fs::read(folder.join(FILE)) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|fault| {
            Problem::internal(format!("{} is damaged: {fault}", folder.join(FILE).display()))
        }),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(lyceum_blob::failed("read the identity of the node", &fault)),
    }
}

/// Writes a small file durably. After a crash, the file is either complete or unchanged.
pub(crate) fn write_durably(file: &Path, text: &[u8]) -> Result<()> {
    let written = || -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let draft = file.with_extension("new");
        let mut new = File::create(&draft)?;
        new.write_all(text)?;
        new.sync_all()?;
        fs::rename(&draft, file)?;
        File::open(folder)?.sync_all()
    };
    written().map_err(|fault| lyceum_blob::failed(&format!("write {}", file.display()), &fault))
}

/// Records that the node works on the database. Returns `false` if the database knows a later generation than the
/// node's previous one, so the folder is a copy or an old state.
pub fn enter(tx: &mut Tx<'_>, node: &Node) -> Result<bool> {
    repository::forget(tx, limits::NODE_REMEMBERED_S)?;
    repository::enter(tx, &entry_of(node))
}

/// Records a node that does not serve yet. A node that is already recorded stays unchanged.
pub fn note(tx: &mut Tx<'_>, now: Timestamp, node: &Node) -> Result<()> {
    repository::note(tx, now, &entry_of(node))
}

/// Whether the database knows no other node.
pub fn is_alone(tx: &mut Tx<'_>, node: &Node) -> Result<bool> {
    // A SQLite database has a single node, even if its identity was lost.
    Ok(tx.dialect() == SqlDialect::Sqlite || !repository::has_others(tx, &node.id)?)
}

/// Whether the database knows a later generation than the node's folder has, because a server was started on a copy
/// of the folder later.
pub(crate) fn is_passed(tx: &mut Tx<'_>, node: &Node) -> Result<bool> {
    match repository::generation(tx, &node.id)? {
        None => Ok(false),
        Some(known) => Ok(!node.is_current(known)?),
    }
}

fn entry_of(node: &Node) -> KnownNode {
    KnownNode {
        id: node.id.clone(),
        name: node.name.clone(),
        address: node.address.clone(),
        generation: node.generation.load(Relaxed),
    }
}

/// The node with that tag; `None` if this database does not know it.
pub fn of_tag(tx: &mut Tx<'_>, tag: &str) -> Result<Option<KnownNode>> {
    repository::of_tag(tx, tag)
}

/// Number of hexadecimal digits in a tag.
pub(crate) const TAG_LENGTH: usize = 12;

fn tag_of(id: &str) -> &str {
    id.get(id.len().saturating_sub(TAG_LENGTH)..).unwrap_or_default()
}
