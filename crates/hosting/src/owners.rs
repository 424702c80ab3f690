//! The owner of the S3 bucket: the installation whose servers may delete objects of it. Servers with a copy of the database
//! may use the same bucket, and their databases do not name what the original stored since.
//!
//! The bucket names the owner, with a mark that its servers replace every minute and remember in their database. A mark
//! that they do not remember was stored by servers with a copy of the database, which has the same installation id. Whichever
//! server sees such a mark first stores that the owner is in doubt. From then on, no server deletes anything in the bucket until
//! an operator runs `lyceum admin take-over --others-stopped`.

use lyceum_core::Result;
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_replica::ReplicaStore;
use lyceum_store::Tx;

pub use lyceum_replica::BucketOwner;

use crate::installations;
use crate::limits::{BUCKET_MARK_EVERY_S, BUCKET_MARK_KEPT_S};
use crate::replicas;
use crate::repository::installations as installation_rows;
use crate::repository::owners as repository;

/// The folder of the bucket with the objects that name its owner.
const FOLDER: &str = "installation";

/// The state of the bucket's owner as a database knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// Its installation owns the bucket.
    Own,
    /// Nobody has claimed the bucket, and this installation may.
    Free,
    /// Nobody has claimed the bucket. This database was restored or copied, so its original may use the bucket, unless an
    /// operator said that it never runs again.
    Unclaimed,
    /// Another installation owns the bucket.
    Other(String),
    /// Servers with a copy of this database use the bucket as the same installation.
    InDoubt,
}

impl OwnerState {
    /// Why servers delete nothing in the bucket, and what an operator can do about it. `None` if they may delete.
    pub fn warning(&self) -> Option<(String, &'static str)> {
        let remedy = "run `lyceum admin take-over` if the servers of the original will never run again; else give this \
            server another bucket or prefix, and another `replica.folder`";
        match self {
            Self::Own | Self::Free => None,
            Self::Unclaimed => {
                let found = "this database was restored or copied, and its original may use the same S3 bucket, so this \
                    server deletes nothing there";
                Some((found.to_owned(), remedy))
            }
            Self::Other(installation) => {
                let found = format!(
                    "the installation '{installation}' owns the S3 bucket, so this server deletes nothing there"
                );
                Some((found, remedy))
            }
            Self::InDoubt => {
                let found = "a server with a copy of this database uses the same S3 bucket, so nothing is deleted there";
                let remedy = "stop the other server or give it another bucket or prefix, and another `replica.folder`, \
                    then run `lyceum admin take-over --others-stopped` on the one that stays";
                Some((found.to_owned(), remedy))
            }
        }
    }
}

/// The place of the objects that name the owner; `None` if the settings name no bucket.
///
/// Errors: `Invalid` if the bucket cannot be used.
pub fn store(config: &Config) -> Result<Option<ReplicaStore>> {
    let is_used = !config.s3.bucket.is_empty();
    is_used.then(|| ReplicaStore::in_s3(&config.s3, FOLDER)).transpose()
}

/// When servers of an installation last gave signs of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeSigns {
    /// When they stored their mark in the bucket. They do not while the owner is in doubt.
    pub in_bucket: Timestamp,
    /// When they stored the mark of their replicas; `None` if the settings name no place with replicas of them.
    pub with_replicas: Option<Timestamp>,
}

/// When servers of the owner last gave signs of life. The two times are separate, because a wrong clock may have
/// set one of them.
/// Errors: `Unavailable`.
pub fn last_seen(config: &Config, owner: &BucketOwner) -> Result<LifeSigns> {
    let with_replicas = match replicas::store(config)? {
        Some(store) => store.below(&owner.installation).mark()?.map(|mark| mark.at()),
        None => None,
    };
    Ok(LifeSigns { in_bucket: owner.mark.at(), with_replicas })
}

/// The state of the owner that the bucket names, as the database knows it.
pub fn state(
    tx: &mut Tx<'_>,
    stored: Option<&BucketOwner>,
    is_in_doubt: bool,
) -> Result<OwnerState> {
    let Some(owner) = stored else {
        let former = installations::former(tx)?;
        let is_original = former.iter().all(|former| former.is_replaced);
        return Ok(if is_original { OwnerState::Free } else { OwnerState::Unclaimed });
    };
    if installations::id(tx)?.as_ref() != Some(&owner.installation) {
        return Ok(OwnerState::Other(owner.installation.clone()));
    }
    let is_known = repository::knows(tx, &owner.mark.mark)?;
    Ok(if is_known && !is_in_doubt { OwnerState::Own } else { OwnerState::InDoubt })
}

/// The owner with a new mark, which the database remembers before it is stored. `None` if the stored one is recent.
pub fn renewed(
    tx: &mut Tx<'_>,
    now: Timestamp,
    stored: Option<&BucketOwner>,
    is_start: bool,
) -> Result<Option<BucketOwner>> {
    let is_recent = |owner: &BucketOwner| {
        // After a step of the clock, a mark of the future would last.
        let (from, to) = (owner.mark.at(), owner.mark.at().plus_seconds(BUCKET_MARK_EVERY_S));
        !is_start && from <= now && now < to
    };
    if stored.is_some_and(is_recent) {
        return Ok(None);
    }
    let kept = stored.map_or("", |owner| owner.mark.mark.as_str());
    repository::forget(tx, now.plus_seconds(-BUCKET_MARK_KEPT_S), kept)?;
    with_new_mark(tx, now).map(Some)
}

fn with_new_mark(tx: &mut Tx<'_>, now: Timestamp) -> Result<BucketOwner> {
    let (installation, mark) = (installations::present(tx, now)?.id, installations::new_mark(now));
    repository::add(tx, &mark.mark, now)?;
    Ok(BucketOwner { installation, mark })
}

/// Records that the servers of all former installations never run again. Returns the owner to store in the bucket, and the
/// number of former installations.
pub fn take_over(tx: &mut Tx<'_>, now: Timestamp) -> Result<(BucketOwner, u64)> {
    let replaced = installation_rows::set_replaced(tx, now)?;
    // It forgets no mark: if the command is interrupted, the bucket still has the former one.
    Ok((with_new_mark(tx, now)?, replaced))
}
