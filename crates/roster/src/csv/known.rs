//! Ids that are known, in bounded memory.
//!
//! An id is remembered as a 64-bit keyed hash: that one unknown id passes for a known one has a
//! chance of 1 in 10¹³.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

/// The most ids that are remembered; then all are forgotten and collected again. This number fills a table
/// of 1 MB; one more doubles it.
const MAX_IDS: usize = (1 << 17) / 8 * 7;

/// A set of ids that may forget.
#[derive(Default)]
pub(super) struct RememberedIds {
    keys: RandomState,
    has_forgotten: bool,
    ids: HashSet<u64, BuildHasherDefault<AsIs>>,
}

impl RememberedIds {
    /// The hash of an id of a kind of record.
    pub(super) fn hash(&self, kind: &str, id: &str) -> u64 {
        self.keys.hash_one((kind, id))
    }

    /// Whether the id is remembered.
    pub(super) fn has(&self, hash: u64) -> bool {
        self.ids.contains(&hash)
    }

    /// Forgets all unless so many more ids have a place.
    pub(super) fn make_room(&mut self, ids: usize) {
        if self.ids.len() + ids > MAX_IDS {
            self.ids.clear();
            self.has_forgotten = true;
        }
    }

    /// Whether what is not remembered may have been added all the same.
    pub(super) fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Remembers an id; false where it was remembered before.
    pub(super) fn add(&mut self, hash: u64) -> bool {
        self.ids.insert(hash)
    }
}

/// Hashes are hashed already.
#[derive(Default)]
pub(super) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 is hashed")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
