//! Files to which nobody writes are closed, so that they need no descriptors. The file system says when they change.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use lyceum_core::time::Timestamp;

use crate::chain::{identity, log_of};
use crate::resume::StoredEnd;

/// The identity of a file, with the size and time of its log. It changes with each write that is at least a tick of the
/// file system's clock later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    file: (u64, u64),
    log: Option<LogStamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogStamp {
    inode: u64,
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl FileStamp {
    /// `None` if the file cannot be looked at.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let log = match fs::metadata(log_of(file)) {
            Ok(log) => Some(LogStamp {
                inode: log.ino(),
                bytes: log.len(),
                seconds: log.mtime(),
                nanoseconds: log.mtime_nsec(),
            }),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        Some(Self { file: identity(file).ok()?, log })
    }
}

/// A file that is closed, and has not changed since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestingFile {
    pub(crate) stamp: FileStamp,
    /// Where its chain goes on, so that nothing is read from the store then; `None` if only the store says that.
    pub(crate) end: Option<StoredEnd>,
    /// When it needs a snapshot, so that what was deleted from it leaves the replica.
    pub(crate) snapshot_due: Option<Timestamp>,
}

impl RestingFile {
    /// Whether it must be opened again.
    pub(crate) fn is_over(&self, file: &Path, now: Timestamp) -> bool {
        self.snapshot_due.is_some_and(|due| due <= now) || FileStamp::of(file) != Some(self.stamp)
    }
}
