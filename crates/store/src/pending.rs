//! The values that a transaction has read and collected so far. The modules `tally`, `record_clock` and `outbox` use it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use lyceum_core::time::Timestamp;

/// Bits of `seq` inside a block of level 0.
pub(crate) const BLOCK_BITS: i64 = 8;
/// Bits of a level-0 block number inside a block of level 1.
pub(crate) const SUPER_BITS: i64 = 8;
/// Bits of `seq` inside a block of level 1: the record `seq` is counted in the block `seq >> LARGE_BLOCK_BITS`.
pub const LARGE_BLOCK_BITS: i64 = BLOCK_BITS + SUPER_BITS;

/// Changes of counts that are not yet written, by collection, level and block. Level 1 has only those of parts.
#[derive(Default)]
pub(crate) struct CountDeltas(pub(crate) BTreeMap<(Cow<'static, str>, i64, i64), i64>);

impl CountDeltas {
    pub(crate) fn add(&mut self, collection: &'static str, seq: i64, delta: i64) {
        let key = (Cow::Borrowed(collection), 0, seq >> BLOCK_BITS);
        *self.0.entry(key).or_default() += delta;
    }

    pub(crate) fn add_to_part(&mut self, name: String, seq: i64, delta: i64) {
        let key = (Cow::Owned(name), 1, seq >> LARGE_BLOCK_BITS);
        *self.0.entry(key).or_default() += delta;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (key, delta) in other.0 {
            *self.0.entry(key).or_default() += delta;
        }
    }
}

/// The records that a transaction stamps.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The stamp, once a record needed it.
    pub(crate) taken: Option<Timestamp>,
    /// Whether the records get their stamp when all of them are written.
    pub(crate) at_end: bool,
    /// The least time of the final stamp.
    pub(crate) since: Option<Timestamp>,
    /// The tables whose rows have the stamp of an unfinished write.
    pub(crate) tables: Vec<&'static str>,
}

/// The topics that active webhooks want.
#[derive(Clone, Debug, Default)]
pub struct WantedTopics(pub(crate) Arc<Vec<(String, String)>>);

impl WantedTopics {
    /// Whether no webhook wants anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a webhook wants changes of the topic. `sensor` is empty for changes that no sensor sent.
    pub fn contains(&self, topic: &str, sensor: &str) -> bool {
        self.0.iter().any(|(wanted, from)| wanted == topic && (from.is_empty() || from == sensor))
    }
}
