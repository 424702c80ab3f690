//! The objects of a replica that are kept.

use std::collections::BTreeSet;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;

use crate::key::{ObjectKey, ObjectKind, Position};
use crate::limits::REPLICA_UNFINISHED_MAX_S;
use crate::objects::ReplicaStore;

/// The keys of a replica from the oldest on, with their sizes in bytes. Other objects are ignored.
pub(crate) fn keys(store: &ReplicaStore, prefix: &str) -> Result<Vec<(ObjectKey, u64)>> {
    let key = |(key, size): (String, u64)| {
        let key = key.strip_prefix(prefix)?.strip_prefix('/')?.parse().ok()?;
        Some((key, size))
    };
    let mut keys: Vec<_> = store.list(prefix)?.into_iter().filter_map(key).collect();
    keys.sort_unstable();
    Ok(keys)
}

/// Deletes objects from before `cutoff` that no restore to that time or a later one needs.
pub fn remove_old(store: &ReplicaStore, prefix: &str, cutoff: Timestamp) -> Result<()> {
    let keys = keys(store, prefix)?;
    let Some(base) = base(keys.iter().map(|(key, _)| key), cutoff) else { return Ok(()) };
    // A server whose epoch is too small must not lose what it stored since.
    let is_old = |key: &ObjectKey| key.time <= cutoff && is_before(key, &base);
    for (key, _) in keys.iter().filter(|(key, _)| is_old(key)) {
        store.delete(&format!("{prefix}/{key}"))?;
    }
    Ok(())
}

/// The snapshot from which a restore to a time begins: the last one of the last chain that had begun then.
pub(crate) fn base<'a>(
    keys: impl Iterator<Item = &'a ObjectKey>,
    until: Timestamp,
) -> Option<ObjectKey> {
    keys.filter(|key| key.snapshot().is_some() && key.time <= until)
        .max_by_key(|key| (key.chain, key.snapshot()))
        .copied()
}

/// Whether no restore that begins from the snapshot `base`, or a later one, needs the object.
fn is_before(key: &ObjectKey, base: &ObjectKey) -> bool {
    let at = base.snapshot().unwrap_or_default();
    match key.kind {
        ObjectKind::Snapshot(position) => (key.chain, position) < (base.chain, at),
        // An empty segment says where its snapshot is in the log.
        ObjectKind::Segment(from, end) if from.offset == end => {
            (key.chain, from) < (base.chain, at)
        }
        ObjectKind::Segment(from, end) => {
            (key.chain, Position { log: from.log, offset: end }) <= (base.chain, at)
        }
    }
}

impl ObjectKey {
    /// The position of a snapshot.
    pub(crate) fn snapshot(&self) -> Option<Position> {
        match self.kind {
            ObjectKind::Snapshot(position) => Some(position),
            ObjectKind::Segment(..) => None,
        }
    }
}

/// The names of the replicas below a prefix, such as `projects/maths/d1.sqlite` below `projects`.
pub fn names(store: &ReplicaStore, below: &str) -> Result<BTreeSet<String>> {
    let name = |(key, _): (String, u64)| {
        let (chain, _) = key.rsplit_once('/')?;
        let (epoch, _) = chain.rsplit_once('/')?;
        Some(epoch.rsplit_once('/')?.0.to_owned())
    };
    Ok(store.list(below)?.into_iter().filter_map(name).collect())
}

/// Deletes what uploads left that were interrupted long ago, such as by a kill.
pub fn delete_unfinished(store: &ReplicaStore, now: Timestamp) -> Result<()> {
    store.delete_unfinished(now.plus_seconds(-REPLICA_UNFINISHED_MAX_S))
}

/// Deletes a whole replica.
pub fn delete(store: &ReplicaStore, prefix: &str) -> Result<()> {
    let keys = store.list(prefix)?;
    keys.iter().try_for_each(|(key, _)| store.delete(key))
}
