//! The head of a run, which tells which chunks may contain a key.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use lyceum_core::{Problem, Result};
use sha2::{Digest as _, Sha256};

use crate::limits::RUN_HEADS_MAX_BYTES;

/// An index of the chunks of a run that may contain a key.
pub(crate) struct RunHead {
    /// The first key of each chunk.
    first_keys: Vec<i64>,
    filter: KeyFilter,
}

impl RunHead {
    /// The head of chunks with these first keys. `all` are the sorted keys of all records.
    pub(crate) fn new(first_keys: Vec<i64>, all: impl Iterator<Item = i64>) -> Self {
        let mut all: Vec<i64> = all.collect();
        all.dedup();
        Self { first_keys, filter: KeyFilter::new(&all) }
    }

    /// The chunks that may contain a key, counted from 0.
    pub(crate) fn chunks_of(&self, key: i64) -> Range<usize> {
        if !self.filter.may_contain(key) {
            return 0..0;
        }
        // The records of a key may begin in the chunk before the first one that starts with it.
        let from = self.first_keys.partition_point(|first| *first < key).saturating_sub(1);
        from..self.first_keys.partition_point(|first| *first <= key).max(from)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let keys = self.first_keys.iter().flat_map(|key| key.to_le_bytes());
        keys.chain(self.filter.0.iter().flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Parses what [`RunHead::to_bytes`] wrote, for that number of chunks. Errors: the bytes are malformed.
    pub(crate) fn from_bytes(bytes: &[u8], chunks: usize) -> Result<Self> {
        let Some((first_keys, filter)) = bytes.split_at_checked(chunks * size_of::<i64>()) else {
            return Err(Problem::internal("the head of a run is too short"));
        };
        let (first_keys, _) = first_keys.as_chunks();
        let (words, _) = filter.as_chunks();
        Ok(Self {
            first_keys: first_keys.iter().map(|key| i64::from_le_bytes(*key)).collect(),
            filter: KeyFilter(words.iter().map(|word| u32::from_le_bytes(*word)).collect()),
        })
    }

    fn size(&self) -> usize {
        size_of_val(&self.first_keys[..]) + size_of_val(&self.filter.0[..])
    }
}

/// 32-bit words in one block of a filter: half a cache line.
const BLOCK: usize = 8;
/// Bits of a filter per key. About one in a thousand missing keys is reported as possibly present.
const BITS: usize = 16;
/// An odd number per word, which determines the bit of a key (the split block Bloom filter of Parquet).
const SALTS: [u32; BLOCK] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// A Bloom filter: it reports a key as certainly missing, or as possibly present.
struct KeyFilter(Vec<u32>);

impl KeyFilter {
    fn new(keys: &[i64]) -> Self {
        let blocks = (keys.len() * BITS).div_ceil(BLOCK * 32).max(1);
        let mut filter = Self(vec![0; blocks * BLOCK]);
        for key in keys {
            let (block, bits) = filter.block_and_bits(*key);
            for (word, bit) in filter.0[block..block + BLOCK].iter_mut().zip(bits) {
                *word |= bit;
            }
        }
        filter
    }

    fn may_contain(&self, key: i64) -> bool {
        if self.0.len() < BLOCK {
            return true;
        }
        let (block, bits) = self.block_and_bits(key);
        self.0[block..block + BLOCK].iter().zip(bits).all(|(word, bit)| word & bit != 0)
    }

    /// The first word of a key's block, and its bit in each word. The bits are computed lazily, because the first
    /// two already reveal most missing keys.
    #[expect(clippy::cast_possible_truncation, reason = "halves of a hash are meant")]
    fn block_and_bits(&self, key: i64) -> (usize, impl Iterator<Item = u32> + use<>) {
        let hash = spread(key.cast_unsigned());
        let blocks = (self.0.len() / BLOCK) as u64;
        let block = ((hash >> 32) * blocks) >> 32;
        let bits = SALTS.into_iter().map(move |salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27));
        (block as usize * BLOCK, bits)
    }
}

/// Spreads neighbouring numbers far apart (the end of a round of `SplitMix64`).
fn spread(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The first 64 bits of a head's hash. Heads with equal marks are equal.
pub(crate) fn mark(head: &[u8]) -> i64 {
    let digest = Sha256::digest(head);
    i64::from_le_bytes(digest[..8].try_into().expect("a SHA-256 has more than 8 bytes"))
}

/// A cache of heads by their marks. Heads never change, whatever happens to their runs, and are the same in every
/// database.
#[derive(Default)]
struct HeadCache {
    heads: HashMap<i64, Arc<RunHead>>,
    bytes: usize,
}

static HEADS: LazyLock<Mutex<HeadCache>> = LazyLock::new(Mutex::default);

/// The cached head with that mark.
pub(crate) fn cached_head(mark: i64) -> Option<Arc<RunHead>> {
    HEADS.lock().unwrap_or_else(PoisonError::into_inner).heads.get(&mark).cloned()
}

/// Caches a head. If there are too many, the cache is cleared, and heads in use are read again.
pub(crate) fn cache(mark: i64, head: RunHead) -> Arc<RunHead> {
    let mut cache = HEADS.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.bytes + head.size() > RUN_HEADS_MAX_BYTES {
        *cache = HeadCache::default();
    }
    let head = Arc::new(head);
    cache.bytes += head.size();
    if let Some(same) = cache.heads.insert(mark, Arc::clone(&head)) {
        cache.bytes -= same.size();
    }
    head
}

/// Removes a head from the cache that no run of this database uses any more.
pub(crate) fn forget(mark: i64) {
    let mut cache = HEADS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(head) = cache.heads.remove(&mark) {
        cache.bytes -= head.size();
    }
}

/// Removes all heads from the cache except those with these marks.
pub fn forget_all_but(marks: &BTreeSet<i64>) {
    let mut cache = HEADS.lock().unwrap_or_else(PoisonError::into_inner);
    cache.heads.retain(|mark, _| marks.contains(mark));
    cache.bytes = cache.heads.values().map(|head| head.size()).sum();
}
