//! The head of a run, which says which chunks may contain a lead.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use lyceum_core::{Problem, Result};
use sha2::{Digest as _, Sha256};

use crate::limits::RUN_HEADS_MAX_BYTES;

/// An index of the chunks of a run that may contain a lead.
pub(crate) struct RunHead {
    /// The first lead of each chunk.
    leads: Vec<i64>,
    filter: LeadFilter,
}

impl RunHead {
    /// The head of chunks with these first leads. `all` are the sorted leads of all records.
    pub(crate) fn of(leads: Vec<i64>, all: impl Iterator<Item = i64>) -> Self {
        let mut all: Vec<i64> = all.collect();
        all.dedup();
        Self { leads, filter: LeadFilter::of(&all) }
    }

    /// The chunks that may contain a lead, counted from 0.
    pub(crate) fn chunks_of(&self, lead: i64) -> Range<usize> {
        if self.filter.may_hold(lead) { self.chunks_within(lead, lead) } else { 0..0 }
    }

    /// The chunks that may contain leads from `first` to `last`, counted from 0.
    pub(crate) fn chunks_within(&self, first: i64, last: i64) -> Range<usize> {
        // The records of a lead may begin in the chunk before the first one that starts with it.
        let from = self.leads.partition_point(|lead| *lead < first).saturating_sub(1);
        from..self.leads.partition_point(|lead| *lead <= last).max(from)
    }

    /// The head of the chunks from `first` on. It has no filter, because it is soon replaced.
    pub(crate) fn rest_from(&self, first: usize) -> Self {
        Self { leads: self.leads[first..].to_vec(), filter: LeadFilter(Vec::new()) }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let leads = self.leads.iter().flat_map(|lead| lead.to_le_bytes());
        leads.chain(self.filter.0.iter().flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Parses what [`Head::to_bytes`] wrote, for that number of chunks. Errors: the bytes are malformed.
    pub(crate) fn read(bytes: &[u8], chunks: usize) -> Result<Self> {
        let Some((leads, filter)) = bytes.split_at_checked(chunks * size_of::<i64>()) else {
            return Err(Problem::internal("the head of a run is too short"));
        };
        let (leads, _) = leads.as_chunks();
        let (words, _) = filter.as_chunks();
        Ok(Self {
            leads: leads.iter().map(|lead| i64::from_le_bytes(*lead)).collect(),
            filter: LeadFilter(words.iter().map(|word| u32::from_le_bytes(*word)).collect()),
        })
    }

    fn size(&self) -> usize {
        size_of_val(&self.leads[..]) + size_of_val(&self.filter.0[..])
    }
}

/// 32-bit words in one block of a filter: half a cache line.
const BLOCK: usize = 8;
/// Bits of a filter per lead. About one in a thousand missing leads is reported as possibly present.
const BITS: usize = 16;
/// An odd number per word, which determines the bit of a lead (the split block Bloom filter of Parquet).
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

/// Says that a lead is certainly missing, or may be present.
struct LeadFilter(Vec<u32>);

impl LeadFilter {
    fn of(leads: &[i64]) -> Self {
        let blocks = (leads.len() * BITS).div_ceil(BLOCK * 32).max(1);
        let mut filter = Self(vec![0; blocks * BLOCK]);
        for lead in leads {
            let (block, bits) = filter.place(*lead);
            for (word, bit) in filter.0[block..block + BLOCK].iter_mut().zip(bits) {
                *word |= bit;
            }
        }
        filter
    }

    fn may_hold(&self, lead: i64) -> bool {
        if self.0.len() < BLOCK {
            return true;
        }
        let (block, bits) = self.place(lead);
        self.0[block..block + BLOCK].iter().zip(bits).all(|(word, bit)| word & bit != 0)
    }

    /// The first word of a lead's block, and its bit in each word. The bits are computed lazily, because the first
    /// two already reveal most missing leads.
    #[expect(clippy::cast_possible_truncation, reason = "halves of a hash are meant")]
    fn place(&self, lead: i64) -> (usize, impl Iterator<Item = u32> + use<>) {
        let hash = spread(lead.cast_unsigned());
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

static KNOWN: LazyLock<Mutex<HeadCache>> = LazyLock::new(Mutex::default);

/// The cached head with that mark.
pub(crate) fn cached_head(mark: i64) -> Option<Arc<RunHead>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).heads.get(&mark).cloned()
}

/// Caches a head. If there are too many, the cache is cleared, and heads in use are read again.
pub(crate) fn keep(mark: i64, head: RunHead) -> Arc<RunHead> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.bytes + head.size() > RUN_HEADS_MAX_BYTES {
        *known = HeadCache::default();
    }
    let head = Arc::new(head);
    known.bytes += head.size();
    if let Some(same) = known.heads.insert(mark, Arc::clone(&head)) {
        known.bytes -= same.size();
    }
    head
}

/// Removes a head from the cache that no run of this database uses any more.
pub(crate) fn forget(mark: i64) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(head) = known.heads.remove(&mark) {
        known.bytes -= head.size();
    }
}

/// Removes all heads from the cache except those with these marks.
pub fn forget_all_but(marks: &BTreeSet<i64>) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.heads.retain(|mark, _| marks.contains(mark));
    known.bytes = known.heads.values().map(|head| head.size()).sum();
}
