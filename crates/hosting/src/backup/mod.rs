//! A backup of the whole server in one file: the database, and the files of projects that this node holds. It is a tar
//! archive, compressed with zstd and perhaps encrypted.
//!
//! | entry | what |
//! |---|---|
//! | `backup.json` | what the backup contains: [`BackupCover`] |
//! | `database` | a SQLite file, or an archive from `pg_dump` |
//! | `projects/<slug>/…` | databases, restore points, keys and the bucket index of a project |
//! | `projects/<slug>/objects/<sha256>` | the bytes of an object of its bucket |
//! | `blobs/<sha256>` | the files of versions and imports |
//! | `manifest.json` | the SHA-256 of each entry that is not named by it, and the number of the others |
//!
//! The database is copied first, then the files that it names. A hard link keeps the bytes of a file that is
//! deleted meanwhile. Only names are kept in memory.

mod encryption;
mod file;
mod names;
mod read;
mod restore;
pub mod runs;
mod write;

use std::collections::BTreeMap;

use lyceum_blob::Digest;
use serde::{Deserialize, Serialize};

pub use encryption::BackupKey;
pub use file::{BackupFile, OpenBackup};
pub use names::{NamedFiles, blobs_of, named_files};
pub use read::{BackupReport, check, remove_unfinished_checks};
pub use restore::{RestoreReport, UnpackedBackup, unpack};
pub use write::{Backup, WrittenBackup};

/// The contents of a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupCover {
    /// Format of this description: 1.
    pub format: u32,
    /// The release that made the backup.
    pub release: String,
    /// When it was made, in RFC 3339.
    pub made_at: String,
    /// `sqlite` or `postgresql`.
    pub store: String,
    /// Whether the database is in the backup. Of several nodes, one backs it up on schedule.
    pub has_database: bool,
    /// The id of the node that made it.
    pub node: String,
    /// The projects whose files are in the backup.
    pub projects: Vec<String>,
    /// The projects whose files are on other nodes, with the node. Each node makes its own backup.
    pub elsewhere: BTreeMap<String, String>,
    /// The S3 bucket with the files of versions and the objects of buckets; `None` if they are in the backup.
    pub s3_bucket: Option<String>,
}

/// The format that this release writes and reads.
pub const FORMAT: u32 = 1;

/// The last entry: checksums of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackupManifest {
    /// Entries that are not named by their SHA-256.
    files: BTreeMap<String, FileChecksum>,
    /// Number of entries that are named by their SHA-256.
    blobs: u64,
    /// The SHA-256 of those names, one per line, in order.
    blobs_sha256: Option<Digest>,
    /// Entries that should be in the backup but were missing on the server.
    missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileChecksum {
    size: u64,
    sha256: Digest,
}

/// The beginning of the names of folders in which backups are prepared.
const PREFIX: &str = "backup-";
/// The beginning of the names of folders in which backups are checked.
const CHECK: &str = "backup-check-";
const COVER: &str = "backup.json";
const DATABASE: &str = "database";
const MANIFEST: &str = "manifest.json";

/// The kind of an entry, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackupEntry {
    Cover,
    Database,
    /// A file in the folder of a project.
    File(String, String),
    /// An object of a project's bucket.
    Object(String, Digest),
    Blob(Digest),
    Manifest,
}

impl BackupEntry {
    fn path(&self) -> String {
        match self {
            Self::Cover => COVER.to_owned(),
            Self::Database => DATABASE.to_owned(),
            Self::File(slug, file) => format!("projects/{slug}/{file}"),
            Self::Object(slug, digest) => format!("projects/{slug}/objects/{digest}"),
            Self::Blob(digest) => format!("blobs/{digest}"),
            Self::Manifest => MANIFEST.to_owned(),
        }
    }

    /// `None` if a backup cannot have an entry with that path, so that no path leads out of the restored folder.
    fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let is_plain = |name: &str| {
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
            !name.starts_with('.') && !name.is_empty() && name.bytes().all(is_plain)
        };
        Some(match parts.as_slice() {
            [COVER] => Self::Cover,
            [DATABASE] => Self::Database,
            [MANIFEST] => Self::Manifest,
            ["blobs", digest] => Self::Blob(digest.parse().ok()?),
            ["projects", slug, "objects", digest] if is_plain(slug) => {
                Self::Object((*slug).to_owned(), digest.parse().ok()?)
            }
            ["projects", slug, file @ ..]
                if is_plain(slug)
                    && (1..=2).contains(&file.len())
                    && file.iter().all(|f| is_plain(f)) =>
            {
                Self::File((*slug).to_owned(), file.join("/"))
            }
            _ => return None,
        })
    }

    /// The digest in the path.
    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Object(_, digest) | Self::Blob(digest) => Some(*digest),
            _ => None,
        }
    }
}
