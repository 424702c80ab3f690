//! The right to delete objects of the S3 bucket.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether this process may delete objects of the bucket. It may not at first. Servers with a copy of the database may use
/// the same bucket and need objects that this database does not name. All clones are the same right. It does not matter
/// for files on disk.
#[derive(Clone, Debug, Default)]
pub struct DeletionRight(Arc<Mutex<Option<Instant>>>);

impl DeletionRight {
    /// A right that is given for a day.
    pub fn given() -> Self {
        let right = Self::default();
        right.give(Duration::from_hours(24));
        right
    }

    /// Gives the right for a time, so that it ends if nobody can prove it again.
    pub fn give(&self, time: Duration) {
        self.set_end(Some(Instant::now() + time));
    }

    /// Takes the right away.
    pub fn withdraw(&self) {
        self.set_end(None);
    }

    fn set_end(&self, end: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// Whether the right is given.
    pub fn is_given(&self) -> bool {
        let end = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end.is_some_and(|end| Instant::now() < end)
    }
}
