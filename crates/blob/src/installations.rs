//! The installations whose objects a process uses in the S3 bucket.
//!
//! The key of an object contains the id of the installation that wrote it, and only its servers delete it. A database that was
//! restored or copied also names objects of the installation of its original, which it may read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::{Problem, ProblemKind, Result};

/// The installation of objects that were stored before keys contained an id.
pub const EARLIER: &str = "earlier";

/// Ids of the installations of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallationIds {
    /// Writes its objects, and deletes them.
    pub present: String,
    /// Nobody else needs the objects of these, as an operator said. They are deleted like those of the present one.
    pub adopted: Vec<String>,
    /// Others may need the objects of these, so they are only read. The last one first.
    pub former: Vec<String>,
}

/// The installations whose objects of the bucket this process reads, writes and deletes. All clones are the same. Stores on
/// disk do not use it.
#[derive(Clone, Debug, Default)]
pub struct BucketInstallations(Arc<Mutex<InstallationState>>);

#[derive(Debug, Default)]
struct InstallationState {
    ids: InstallationIds,
    /// Until then, no other database is assumed to use the present installation.
    proven_until: Option<Instant>,
}

impl BucketInstallations {
    /// These installations. Nothing is deleted before [`BucketInstallations::prove`].
    pub fn new(ids: InstallationIds) -> Self {
        let installations = Self::default();
        installations.set(ids);
        installations
    }

    /// Uses these installations from now on.
    pub fn set(&self, ids: InstallationIds) {
        self.known().ids = ids;
    }

    /// Allows deletions for a time, because no other database used the present installation a moment ago.
    pub fn prove(&self, time: Duration) {
        self.known().proven_until = Some(Instant::now() + time);
    }

    /// Forbids deletions until [`BucketInstallations::prove`].
    pub fn withdraw(&self) {
        self.known().proven_until = None;
    }

    fn known(&self) -> MutexGuard<'_, InstallationState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The installation that writes. Errors: `Unavailable` before it is known.
    pub(crate) fn present(&self) -> Result<String> {
        let present = self.known().ids.present.clone();
        if present.is_empty() {
            let message = "this server does not know its installation yet; try again later";
            return Err(Problem::new(ProblemKind::Unavailable, message));
        }
        Ok(present)
    }

    /// The installations whose objects are read, the most likely one first.
    pub(crate) fn readable(&self) -> Vec<String> {
        let InstallationIds { present, adopted, former } = self.known().ids.clone();
        let mut all: Vec<String> = [vec![present], adopted, former].concat();
        if !all.iter().any(|id| id == EARLIER) {
            all.push(EARLIER.to_owned());
        }
        all.retain(|id| !id.is_empty());
        all
    }

    /// The installations whose objects are deleted. Empty if deletions are not allowed now.
    pub(crate) fn deletable(&self) -> Vec<String> {
        let known = self.known();
        match known.proven_until.is_some_and(|until| Instant::now() < until) {
            true => [vec![known.ids.present.clone()], known.ids.adopted.clone()].concat(),
            false => Vec::new(),
        }
    }

    /// The installations whose objects are read and never deleted.
    pub(crate) fn read_only(&self) -> Vec<String> {
        let InstallationIds { present, adopted, .. } = self.known().ids.clone();
        let is_own = |id: &String| *id == present || adopted.contains(id);
        self.readable().into_iter().filter(|id| !is_own(id)).collect()
    }
}
