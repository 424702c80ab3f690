//! Objects in the S3 bucket that nobody owns, which no sweep reaches: those of installations that ended long ago, and what
//! deleted projects left.

use std::collections::{BTreeMap, HashSet};

use lyceum_blob::{Digest, EARLIER, InstallationIds, StoredBlob, StoredBlobs};
use lyceum_core::Result;
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde::Serialize;

use crate::installations::{self, StoredMarks};
use crate::limits::{BUCKET_SPARED_S, INSTALLATION_OWNS_S};
use crate::repository;
use crate::sweep::referenced_blobs;

/// The objects that the database knows.
#[derive(Clone, Debug)]
pub struct NamedObjects {
    ids: InstallationIds,
    /// The files of versions, items and imports.
    files: HashSet<Digest>,
    projects: HashSet<String>,
}

/// Objects of an installation that nobody owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnownedObjects {
    /// The number of objects.
    pub objects: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The time of the last one.
    pub last: Option<Timestamp>,
}

/// When installations other than those of the database last stored a mark, by id.
pub type OtherInstallations = BTreeMap<String, Timestamp>;

/// The other installations that use the store of replicas or the bucket. Errors: `Unavailable`.
pub fn others(config: &Config, ids: &InstallationIds) -> Result<OtherInstallations> {
    let stores = installations::mark_stores(config)?;
    let mut found = BTreeMap::new();
    for store in &stores {
        for id in store.folders("")? {
            if id == ids.present || ids.adopted.contains(&id) || found.contains_key(&id) {
                continue;
            }
            if let Some(at) = StoredMarks::read(&stores, &id)?.last_seen() {
                found.insert(id, at);
            }
        }
    }
    Ok(found)
}

/// The other installation that gave a sign of life last, if it may need objects of others: it is one of another database, or
/// its servers may come back.
pub fn possible_owner(
    others: &OtherInstallations,
    now: Timestamp,
) -> Option<(&String, &Timestamp)> {
    let since = now.plus_seconds(-INSTALLATION_OWNS_S);
    others.iter().filter(|(_, at)| **at >= since).max_by_key(|(_, at)| **at)
}

/// The objects that the database names. `others` returns files that are not of projects, by SHA-256.
pub fn named(
    tx: &mut Tx<'_>,
    others: impl FnOnce(&mut Tx<'_>) -> Result<Vec<String>>,
) -> Result<NamedObjects> {
    let mut files = referenced_blobs(tx)?;
    for digest in others(tx)? {
        files.insert(digest.parse()?);
    }
    let projects = repository::projects::list(tx)?.into_iter().map(|project| project.slug);
    Ok(NamedObjects { ids: installations::bucket_ids(tx)?, files, projects: projects.collect() })
}

/// The blobs that nobody owns: the database does not name them, and no other installation may need them.
pub fn find(
    blobs: Vec<StoredBlob>,
    named: &NamedObjects,
    others: &OtherInstallations,
    now: Timestamp,
) -> Vec<StoredBlob> {
    let (aged, ended) =
        (now.plus_seconds(-BUCKET_SPARED_S), now.plus_seconds(-INSTALLATION_OWNS_S));
    // Servers that could not store a mark are found by their objects.
    let recent = blobs.iter().filter(|blob| blob.written >= ended);
    let recent: HashSet<String> = recent.map(|blob| blob.installation.clone()).collect();
    let NamedObjects { ids, files, projects } = named;
    let is_own = |id: &String| ids.present == *id || ids.adopted.contains(id);
    let is_readable = |id: &String| ids.former.contains(id) || id == EARLIER;
    let is_shared = possible_owner(others, now).is_some()
        || recent.iter().any(|id| !is_own(id) && !is_readable(id));
    let is_unowned = |blob: &StoredBlob| {
        let project = blob.store.strip_prefix("projects/");
        let is_named = match project {
            Some(slug) => projects.contains(slug),
            None => files.contains(&blob.digest),
        };
        let id = &blob.installation;
        if is_own(id) {
            // Sweeps reach all others.
            return project.is_some() && !is_named && blob.written < aged;
        }
        let is_needed = is_readable(id) && is_named;
        !(is_shared || recent.contains(id) || is_needed)
    };
    blobs.into_iter().filter(is_unowned).collect()
}

/// The number and size of blobs, by installation.
pub fn by_installation(blobs: &[StoredBlob]) -> BTreeMap<String, UnownedObjects> {
    let mut all: BTreeMap<String, UnownedObjects> = BTreeMap::new();
    for blob in blobs {
        let of = all.entry(blob.installation.clone()).or_default();
        of.objects += 1;
        of.bytes += blob.bytes;
        of.last = of.last.max(Some(blob.written));
    }
    all
}

/// Deletes blobs, and calls `progress` with the number of those that were deleted. Errors: `Unavailable`.
pub fn delete(
    stored: &StoredBlobs,
    blobs: &[StoredBlob],
    mut progress: impl FnMut(u64),
) -> Result<()> {
    for (done, blob) in (1..).zip(blobs) {
        stored.delete(blob)?;
        progress(done);
    }
    Ok(())
}
