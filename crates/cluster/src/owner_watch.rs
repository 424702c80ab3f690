//! Watches which installation owns the S3 bucket. Only its servers delete objects there.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lyceum_blob::DeletionRight;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_hosting::owners::{self, OwnerState};
use lyceum_replica::{BucketOwner, ReplicaStore};
use lyceum_store::{Db, Tx, run_blocking};
use tokio::time::timeout;

use crate::limits;

/// The time after which a check without an answer has failed.
const CHECK_MAX: Duration = Duration::from_secs(30);

/// Gives and withdraws the right to delete objects of the bucket.
pub(crate) struct OwnerWatch {
    store: ReplicaStore,
    right: DeletionRight,
    check_max: Duration,
    found: Mutex<Found>,
}

/// The findings of the last check.
#[derive(Default)]
struct Found {
    /// `None` before the first check that succeeded.
    state: Option<OwnerState>,
    /// Since when each check of this process has found that its installation owns the bucket.
    owns_since: Option<Instant>,
}

impl OwnerWatch {
    /// `store` is the place of the owner in the bucket of the settings.
    pub(crate) fn new(store: ReplicaStore, right: DeletionRight) -> Self {
        Self { store, right, check_max: CHECK_MAX, found: Mutex::default() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last check that succeeded found that the installation does not own the bucket.
    pub(crate) fn lacks_bucket(&self) -> bool {
        let state = &self.found().state;
        state.as_ref().is_some_and(|state| !matches!(state, OwnerState::Own | OwnerState::Free))
    }

    /// Reads the owner, and replaces its mark if that is due. Without an answer, nothing may be deleted. `instant` is a
    /// clock that makes no steps. It is read when the answer has arrived.
    pub(crate) async fn check(&self, db: &Db, now: Timestamp, instant: impl FnOnce() -> Instant) {
        let checked = timeout(self.check_max, self.checked(db, now)).await.unwrap_or_else(|_| {
            Err(Problem::new(ProblemKind::Unavailable, "the answer took too long"))
        });
        if let Err(problem) = &checked {
            tracing::warn!(%problem, "the owner of the S3 bucket is unknown, so nothing is deleted there; trying again");
        }
        let (mut found, at) = (self.found(), instant());
        match &checked {
            Ok(OwnerState::Own) => {
                found.owns_since.get_or_insert(at);
            }
            _ => found.owns_since = None,
        }
        let proof = Duration::from_secs(limits::BUCKET_OWNER_PROOF_S);
        match found.owns_since.is_some_and(|since| at - since >= proof) {
            true => self.right.give(Duration::from_secs(limits::BUCKET_RIGHT_S)),
            false => self.right.withdraw(),
        }
        if let Ok(state) = checked
            && found.state.as_ref() != Some(&state)
        {
            report(&state);
            found.state = Some(state);
        }
    }

    async fn checked(&self, db: &Db, now: Timestamp) -> Result<OwnerState> {
        let (state, stored, is_in_doubt) = self.read(db).await?;
        match &state {
            OwnerState::Own => self.renew(db, now, stored).await?,
            OwnerState::Free => {
                self.renew(db, now, None).await?;
                // Another server may have claimed the bucket at the same time. If it stores its claim after this, the
                // next look finds it, long before the proof is over.
                let (state, ..) = self.read(db).await?;
                return Ok(state);
            }
            OwnerState::InDoubt if !is_in_doubt => {
                self.withdraw();
                // An operator may have taken the bucket over meanwhile.
                let (again, owner, _) = self.read(db).await?;
                if again != OwnerState::InDoubt || owner != stored {
                    return Ok(again);
                }
                self.set_in_doubt().await?;
            }
            OwnerState::InDoubt | OwnerState::Unclaimed | OwnerState::Other(_) => {}
        }
        Ok(state)
    }

    /// The state, the owner that the bucket names, and whether the bucket says that it is in doubt.
    async fn read(&self, db: &Db) -> Result<(OwnerState, Option<BucketOwner>, bool)> {
        let store = self.store.clone();
        let read = move || Ok((store.owner()?, store.is_owner_in_doubt()?));
        let (stored, is_in_doubt) = run_blocking(read).await?;
        let known = stored.clone();
        let state = db.read(move |tx| owners::state(tx, known.as_ref(), is_in_doubt)).await?;
        Ok((state, stored, is_in_doubt))
    }

    /// Stores the own installation as the owner with a new mark, unless the stored one is recent.
    async fn renew(&self, db: &Db, now: Timestamp, stored: Option<BucketOwner>) -> Result<()> {
        let is_start = self.found().state.is_none();
        let renewed = move |tx: &mut Tx<'_>| owners::renewed(tx, now, stored.as_ref(), is_start);
        if let Some(owner) = db.write(renewed).await? {
            let store = self.store.clone();
            run_blocking(move || store.set_owner(&owner)).await?;
        }
        Ok(())
    }

    /// Notes that servers of two databases have used the bucket as this installation, if it owns the bucket.
    pub(crate) async fn doubt(&self, installation: &str) -> Result<()> {
        let store = self.store.clone();
        let owner = run_blocking(move || store.owner()).await?;
        match owner.is_some_and(|owner| owner.installation == installation) {
            true => self.set_in_doubt().await,
            false => Ok(()),
        }
    }

    /// Withdraws the right. The proof begins again.
    fn withdraw(&self) {
        self.found().owns_since = None;
        self.right.withdraw();
    }

    async fn set_in_doubt(&self) -> Result<()> {
        self.withdraw();
        let store = self.store.clone();
        run_blocking(move || store.set_owner_in_doubt(true)).await
    }
}

fn report(state: &OwnerState) {
    if let Some((found, remedy)) = state.warning() {
        tracing::warn!("{found}; {remedy}");
    }
}

#[cfg(test)]
mod tests;
