//! Watches which installation owns the S3 bucket. Only its servers delete objects there.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lyceum_blob::DeletionRight;
use lyceum_core::Result;
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_hosting::owners::{self, OwnerState};
use lyceum_replica::{BucketOwner, ReplicaStore};
use lyceum_store::{Db, Tx};

use crate::blocking::run_blocking;
use crate::limits;

/// Gives and withdraws the right to delete objects of the bucket.
pub(crate) struct OwnerWatch {
    s3: S3Settings,
    store: ReplicaStore,
    right: DeletionRight,
    found: Mutex<Found>,
}

/// What the last check found.
#[derive(Default)]
struct Found {
    /// `None` before the first check that succeeded.
    state: Option<OwnerState>,
    /// Since when each check of this process has found that its installation owns the bucket.
    owns_since: Option<Instant>,
}

impl OwnerWatch {
    /// `store` is the place of the owner in the bucket of the settings.
    pub(crate) fn new(s3: S3Settings, store: ReplicaStore, right: DeletionRight) -> Self {
        Self { s3, store, right, found: Mutex::default() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last check found that the installation does not own the bucket.
    pub(crate) fn lacks_bucket(&self) -> bool {
        let state = &self.found().state;
        state.as_ref().is_some_and(|state| !matches!(state, OwnerState::Own | OwnerState::Free))
    }

    /// Reads the owner, and replaces its mark if that is due. Without an answer, nothing may be deleted. `at` is the same
    /// instant as `now`, by a clock that makes no steps.
    pub(crate) async fn check(&self, db: &Db, now: Timestamp, at: Instant) {
        let checked = self.checked(db, now).await;
        if let Err(problem) = &checked {
            tracing::warn!(%problem, "the owner of the S3 bucket is unknown, so nothing is deleted there; trying again");
        }
        let mut found = self.found();
        match checked {
            Ok((OwnerState::Own, _)) => {
                found.owns_since.get_or_insert(at);
            }
            _ => found.owns_since = None,
        }
        let proof = Duration::from_secs(limits::BUCKET_OWNER_PROOF_S);
        // In a bucket that had no files, there is nothing that others need.
        let is_first = matches!(checked, Ok((OwnerState::Own, true)));
        let is_proven = found.owns_since.is_some_and(|since| at - since >= proof);
        let keeps = found.owns_since.is_some() && self.right.is_given();
        self.right.set(is_first || is_proven || keeps);
        if let Ok((state, _)) = checked
            && found.state.as_ref() != Some(&state)
        {
            report(&state);
            found.state = Some(state);
        }
    }

    /// The state, and whether it is certain that only this server has just claimed a bucket without files.
    async fn checked(&self, db: &Db, now: Timestamp) -> Result<(OwnerState, bool)> {
        let (state, stored, is_in_doubt) = self.read(db).await?;
        match &state {
            OwnerState::Own => self.renew(db, now, stored).await?,
            OwnerState::Free => {
                let s3 = self.s3.clone();
                let has_files = run_blocking(move || owners::has_files(&s3)).await?;
                let is_alone = self.claim(db, now).await?;
                // Another server may have claimed the bucket at the same time.
                let (state, ..) = self.read(db).await?;
                return Ok((state, is_alone && !has_files));
            }
            OwnerState::InDoubt if !is_in_doubt => self.set_in_doubt().await?,
            OwnerState::InDoubt | OwnerState::Unclaimed | OwnerState::Other(_) => {}
        }
        Ok((state, false))
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

    /// Stores the own installation as the owner of a bucket that has none. Returns whether it is certain that no other server
    /// did at the same time.
    async fn claim(&self, db: &Db, now: Timestamp) -> Result<bool> {
        let made = db.write(move |tx| owners::renewed(tx, now, None, true)).await?;
        let (owner, store) = (made.expect("no stored one is recent"), self.store.clone());
        run_blocking(move || store.claim_owner(&owner)).await
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

    async fn set_in_doubt(&self) -> Result<()> {
        self.right.set(false);
        let store = self.store.clone();
        run_blocking(move || store.set_owner_in_doubt(true)).await
    }
}

fn report(state: &OwnerState) {
    let remedy = "stop the other server or give it another bucket or prefix, and run `lyceum admin take-over` here; or \
        give this server another bucket or prefix";
    let remedy_of_doubt = "stop the other server or give it another bucket or prefix, and run `lyceum admin take-over \
        --others-stopped` on the one that stays";
    match state {
        OwnerState::Own | OwnerState::Free => {}
        OwnerState::Unclaimed => tracing::warn!(
            "this database was restored or copied, and its original may use the same S3 bucket, so this server deletes \
             nothing there; {remedy}"
        ),
        OwnerState::Other(installation) => tracing::warn!(
            installation,
            "another installation owns the S3 bucket, so this server deletes nothing there; {remedy}"
        ),
        OwnerState::InDoubt => tracing::warn!(
            "a server with a copy of this database uses the same S3 bucket, so nothing is deleted there; {remedy_of_doubt}"
        ),
    }
}

#[cfg(test)]
mod tests;
