//! Removes files that are no longer needed.

use std::collections::HashSet;
use std::time::Duration;

use lyceum_blob::{Blobs, Digest, SweepReport};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, Tx};

use crate::repository::deployments as repository;

/// Removes the files that neither a stored version nor one of the `others` needs, by SHA-256. Files that a deploy asked for in the time
/// `spared` before `now` stay, because the deploy may still be running. Blocks the thread.
pub fn sweep(
    db: &Db,
    blobs: &Blobs,
    now: Timestamp,
    spared: Duration,
    others: impl FnOnce(&mut Tx<'_>) -> Result<Vec<String>>,
) -> Result<SweepReport> {
    let seconds = i64::try_from(spared.as_secs()).unwrap_or(i64::MAX);
    let before = now.plus_seconds(-seconds);
    let wanted = db.write_blocking(|tx| {
        repository::forget_frontends(tx, before)?;
        let mut wanted = referenced_blobs(tx)?;
        for digest in others(tx)? {
            wanted.insert(digest.parse()?);
        }
        Ok(wanted)
    })?;
    blobs.sweep(now, spared, |digest| wanted.contains(digest))
}

/// The files of all versions: zips of frontends, the files in them, and modules of backends.
pub(crate) fn referenced_blobs(tx: &mut Tx<'_>) -> Result<HashSet<Digest>> {
    let mut wanted = HashSet::new();
    for (zip, manifest) in repository::frontends(tx)? {
        wanted.insert(zip.parse()?);
        wanted.extend(manifest.0.into_values().map(|file| file.sha256));
    }
    for backend in repository::backends(tx)? {
        for module in backend.modules {
            wanted.insert(module.sha256.parse()?);
        }
    }
    Ok(wanted)
}
