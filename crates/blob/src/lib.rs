//! Files by what is in them. A blob is found by the SHA-256 of its bytes, so that the same file is
//! kept and sent once, and a name that somebody chose is never a path.
//!
//! A blob appears whole or not at all: its bytes are written and synced elsewhere, then renamed into
//! place, then the folder is synced. Uploads go on where they stopped, also after a crash.
//!
//! Where the settings name a bucket of S3, it is what keeps blobs: a blob is there before anybody is told
//! that it is kept. The disk has uploads on their way, and copies of what was read lately.

mod digest;
mod disk;
mod remote;
mod upload;
mod writer;

pub use digest::{Digest, Hasher};
pub use disk::{Blob, Blobs, Swept};
pub use writer::Writer;

use lyceum_core::{Problem, ProblemKind};

/// A disk that fails is a failure of ours, one that is full passes.
pub fn failed(what: &str, fault: &std::io::Error) -> Problem {
    let cause = format!("{what}: {fault}");
    if fault.kind() == std::io::ErrorKind::StorageFull {
        let full = "there is no room left on the server's disk; nothing was kept";
        return Problem::new(ProblemKind::Unavailable, full).because(cause);
    }
    Problem::internal(cause)
}
