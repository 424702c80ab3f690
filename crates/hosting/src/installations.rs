//! Installations: the servers that work with a database. Each has replicas, and objects in the S3 bucket, below keys with its
//! id, so that a copy of a database never writes or deletes what its original has.
//!
//! A restore ends the installation, and the next server begins a new one. A database that was copied in another way still
//! names the installation of its original. So servers replace a *mark* every minute, in the database first, then beside the
//! replicas and in the bucket. If a mark is there that the database does not know, another database uses the same installation.
//! No server can tell which of the two is the original, so both leave it: the first one that notices stores that, and both
//! begin new ones. What the left installation has is only read from then on.

use lyceum_blob::{BucketInstallations, InstallationIds};
use lyceum_core::Result;
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_replica::ReplicaStore;
use lyceum_store::{Db, Tx, record_clock};
use uuid::Uuid;

use crate::limits::{INSTALLATION_MARK_EVERY_S, INSTALLATION_MARK_KEPT_S};
use crate::replicas;
use crate::repository::installations as repository;
use crate::repository::nodes;

pub use lyceum_replica::StoreMark;

pub use crate::repository::installations::FormerInstallation;

/// The stores in which installations have folders with their marks: the one of replicas, and the S3 bucket.
///
/// Errors: `Invalid` if a folder or the bucket cannot be used.
pub fn mark_stores(config: &Config) -> Result<Vec<ReplicaStore>> {
    let mut stores: Vec<ReplicaStore> = replicas::store(config)?.into_iter().collect();
    if !config.replica.folder.is_empty() && !config.s3.bucket.is_empty() {
        stores.push(replicas::in_bucket(config)?);
    }
    Ok(stores)
}

/// The marks of an installation in its stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMarks {
    /// The mark in each store, if there is one.
    marks: Vec<Option<StoreMark>>,
    /// Whether servers of two databases have used the installation.
    is_left: bool,
}

impl StoredMarks {
    /// Reads the marks of an installation. Errors: `Unavailable`.
    pub fn read(stores: &[ReplicaStore], id: &str) -> Result<Self> {
        let mut found = Self { marks: Vec::new(), is_left: false };
        for store in stores.iter().map(|store| store.below(id)) {
            found.marks.push(store.mark()?);
            found.is_left |= store.is_left()?;
        }
        Ok(found)
    }

    /// When a server of the installation last stored a mark; `None` if there is none.
    pub fn last_seen(&self) -> Option<Timestamp> {
        self.marks.iter().flatten().map(StoreMark::at).max()
    }

    fn is_recent(&self, now: Timestamp) -> bool {
        // After a step of the clock, a mark of the future would last.
        let lasts = |mark: &StoreMark| {
            mark.at() <= now && now < mark.at().plus_seconds(INSTALLATION_MARK_EVERY_S)
        };
        self.marks.iter().all(|mark| mark.as_ref().is_some_and(lasts))
    }
}

/// The result of comparing the stored marks with the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkComparison {
    /// Servers of this database stored the marks a moment ago.
    Recent,
    /// Servers of this database stored the marks. They must be replaced by this one, which the database knows.
    Due(StoreMark),
    /// Servers of another database use the installation, too, or did.
    Foreign,
    /// The database has begun another installation.
    Ended,
}

/// Compares the stored marks of the installation with those of the database. A server that starts or stops replaces each mark,
/// so that a copy of the database from before does not know it.
pub fn compare(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    stored: &StoredMarks,
    is_start_or_stop: bool,
) -> Result<MarkComparison> {
    if self::id(tx)?.as_deref() != Some(id) {
        return Ok(MarkComparison::Ended);
    }
    let mut is_foreign = stored.is_left;
    for mark in stored.marks.iter().flatten() {
        is_foreign |= !repository::knows(tx, &mark.mark)?;
    }
    if is_foreign {
        return Ok(MarkComparison::Foreign);
    }
    if !is_start_or_stop && stored.is_recent(now) {
        return Ok(MarkComparison::Recent);
    }
    let kept: Vec<&str> = stored.marks.iter().flatten().map(|mark| mark.mark.as_str()).collect();
    repository::forget(tx, now.plus_seconds(-INSTALLATION_MARK_KEPT_S), &kept)?;
    let mark = StoreMark::new(&Uuid::new_v4().to_string(), now);
    repository::remember(tx, &mark.mark, now)?;
    Ok(MarkComparison::Due(mark))
}

/// The id of the present installation. Begins one if there is none.
pub fn present(tx: &mut Tx<'_>, now: Timestamp) -> Result<String> {
    if let Some(id) = id(tx)? {
        return Ok(id);
    }
    let id = new_id();
    repository::begin(tx, now, &id)?;
    Ok(id)
}

/// The id of an installation that has not begun. It is short, because file systems and services limit the length of names.
pub fn new_id() -> String {
    let mut id = Uuid::new_v4().simple().to_string();
    id.truncate(10);
    id
}

/// The installations that have ended, the last one first.
pub fn former(tx: &mut Tx<'_>) -> Result<Vec<FormerInstallation>> {
    repository::former(tx)
}

/// The id of the present installation; `None` before a server with a bucket or a store of replicas has started.
pub fn id(tx: &mut Tx<'_>) -> Result<Option<String>> {
    repository::present(tx)
}

/// Below which keys of the S3 bucket the objects of the database are.
pub fn bucket_ids(tx: &mut Tx<'_>) -> Result<InstallationIds> {
    let present = id(tx)?.unwrap_or_default();
    let (adopted, former): (Vec<_>, Vec<_>) =
        former(tx)?.into_iter().partition(|former| former.is_adopted);
    let ids = |all: Vec<FormerInstallation>| all.into_iter().map(|former| former.id).collect();
    Ok(InstallationIds { present, adopted: ids(adopted), former: ids(former) })
}

/// The installations of the database in the S3 bucket, if the settings name one. Begins one if there is none. Blocks the
/// thread.
pub fn in_bucket(db: &Db, config: &Config, now: Timestamp) -> Result<BucketInstallations> {
    if config.s3.bucket.is_empty() {
        return Ok(BucketInstallations::default());
    }
    let mut ids = db.read_blocking(bucket_ids)?;
    if ids.present.is_empty() {
        ids.present = db.write_blocking(move |tx| present(tx, now))?;
    }
    Ok(BucketInstallations::new(ids))
}

/// Ends the present installation, because the database was restored or copied. The servers that reported to the original
/// do not use it.
pub fn end(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    nodes::stop_all(tx)?;
    record_clock::forget_past(tx, now)?;
    repository::end(tx, now)
}

/// Ends the present installation like [`end`] and begins another one.
pub fn begin_anew(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    end(tx, now)?;
    repository::begin(tx, now, id)
}

/// Ends the installation that another database uses, too, and begins a new one, unless another server did already.
pub fn replace(tx: &mut Tx<'_>, now: Timestamp, shared: &str) -> Result<()> {
    if id(tx)?.as_deref() == Some(shared) {
        record_clock::forget_past(tx, now)?;
        repository::end(tx, now)?;
        repository::begin(tx, now, &new_id())?;
    }
    Ok(())
}

/// Records that nobody else needs the objects and replicas of another installation than the present one.
pub fn adopt(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    repository::adopt(tx, now, id)
}
