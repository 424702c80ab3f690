//! Files that nobody needs any more.

use std::collections::HashSet;
use std::time::Duration;

use lyceum_blob::{Blobs, Digest, Swept};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, Tx};

use crate::repository::deployments as repository;

/// Removes the files that no kept version of any project needs and that nobody else needs either, as `is_needed` says, but
/// for those that a deploy asked for in the time `spared` before `now`: it may be under way. Blocks.
pub fn sweep(
    db: &Db,
    blobs: &Blobs,
    now: Timestamp,
    spared: Duration,
    is_needed: impl Fn(&Digest) -> bool,
) -> Result<Swept> {
    let seconds = i64::try_from(spared.as_secs()).unwrap_or(i64::MAX);
    let before = now.plus_seconds(-seconds);
    let wanted = db.write_blocking(|tx| {
        repository::forget_frontends(tx, before)?;
        wanted(tx)
    })?;
    blobs.sweep(now, spared, |digest| wanted.contains(digest) || is_needed(digest))
}

/// What versions are made of: zips, what was in them, modules.
fn wanted(tx: &mut Tx<'_>) -> Result<HashSet<Digest>> {
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
