//! Files by their content. A blob is found by the SHA-256 of its bytes, so equal files are stored and sent once, and a
//! name that a user chose never becomes a path.
//!
//! A blob exists completely or not at all: its bytes are written and synced elsewhere, renamed into place, and the folder
//! is synced. Uploads continue where they stopped, also after a crash.
//!
//! If the settings name an S3 bucket, the bucket is the store: a blob is in it before its upload is confirmed. The disk
//! then holds unfinished uploads and copies of blobs read recently.
//!
//! | what | where |
//! |---|---|
//! | the SHA-256 that names a blob | `digest` |
//! | the store on disk and its clean-up | `disk` |
//! | a blob written at once; a blob that arrives in pieces | `writer`, `upload` |
//! | the S3 bucket; the installations whose objects it has | `remote`, `installations` |
//! | all blobs in a bucket | `stored` |
//! | files by name, in a folder or a bucket | `location` |
//! | limits | `limits` |

mod digest;
mod disk;
mod installations;
pub mod limits;
mod location;
mod remote;
mod stored;
mod upload;
mod writer;

pub use digest::{Digest, Hasher};
pub use disk::{Blob, Blobs, SweepReport};
pub use installations::{BucketInstallations, EARLIER, InstallationIds};
pub use location::{FileLocation, NewFile, OpenFile};
pub use remote::{key_prefix, open_bucket, wait};
pub use stored::{StoredBlob, StoredBlobs};
pub use writer::Writer;

use lyceum_core::{Problem, ProblemKind};

/// A disk error is internal, except that a full disk is a temporary condition.
pub fn failed(what: &str, fault: &std::io::Error) -> Problem {
    let cause = format!("{what}: {fault}");
    if fault.kind() == std::io::ErrorKind::StorageFull {
        let full = "the server's disk is full; nothing was stored";
        return Problem::new(ProblemKind::Unavailable, full).because(cause);
    }
    Problem::internal(cause)
}
