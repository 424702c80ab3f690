//! Remembers ids in bounded memory.
//!
//! An id is remembered as a 64-bit keyed hash. The chance that an unknown id is taken for a known one is 1 in 10¹³.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

/// The maximum number of remembered ids. Beyond it, all are forgotten. This many fill a table of 1 MB, and one more
/// would double it.
const MAX_IDS: usize = (1 << 17) / 8 * 7;

/// A set of ids, which may be cleared.
#[derive(Default)]
pub(super) struct RememberedIds {
    keys: RandomState,
    has_forgotten: bool,
    ids: HashSet<u64, BuildHasherDefault<HashPassthrough>>,
}

impl RememberedIds {
    /// The hash of an id of a record kind.
    pub(super) fn hash(&self, kind: &str, id: &str) -> u64 {
        self.keys.hash_one((kind, id))
    }

    /// Whether the id is remembered.
    pub(super) fn has(&self, hash: u64) -> bool {
        self.ids.contains(&hash)
    }

    /// Clears the set unless there is room for that many further ids.
    pub(super) fn make_room(&mut self, ids: usize) {
        if self.ids.len() + ids > MAX_IDS {
            self.ids.clear();
            self.has_forgotten = true;
        }
    }

    /// Whether the set was cleared, so that ids may be missing.
    pub(super) fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Remembers an id; returns `false` if it was already remembered.
    pub(super) fn add(&mut self, hash: u64) -> bool {
        self.ids.insert(hash)
    }
}

/// A hasher that returns its input, because the keys are hashes.
#[derive(Default)]
pub(super) struct HashPassthrough(u64);

impl Hasher for HashPassthrough {
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
