//! The right to delete objects of the S3 bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Whether this process may delete objects of the bucket. It may not at first. Servers with a copy of the database may use
/// the same bucket and need objects that this database does not name. All clones are the same right. It does not matter
/// for files on disk.
#[derive(Clone, Debug, Default)]
pub struct DeletionRight(Arc<AtomicBool>);

impl DeletionRight {
    /// A right that is given.
    pub fn given() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Gives or withdraws the right.
    pub fn set(&self, is_given: bool) {
        self.0.store(is_given, SeqCst);
    }

    /// Whether the right is given.
    pub fn is_given(&self) -> bool {
        self.0.load(SeqCst)
    }
}
