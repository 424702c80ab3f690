//! Where the events of summed facts are: actor, quarter hour and number of the event, in runs.

use lyceum_core::Result;
use lyceum_runs::{PackedNumbers, RunRecord, Runs, pack};
use lyceum_store::Tx;

use super::super::run_lists::PLACES;
use super::EventPosition;

/// The place of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::repository) struct EventPlace {
    pub(super) actor: i64,
    pub(super) bucket: i64,
    pub(super) seq: i64,
}

impl RunRecord for EventPlace {
    const IN_CHUNK: usize = 128;
    const FIRST: Self = Self { actor: 0, bucket: 0, seq: 0 };

    fn lookup_key(&self) -> i64 {
        self.actor
    }

    fn time(&self) -> i64 {
        self.bucket
    }

    fn write(&self, before: &Self, out: &mut Vec<u8>) {
        pack(self.actor.wrapping_sub(before.actor), out);
        pack(self.bucket.wrapping_sub(before.bucket), out);
        pack(self.seq.wrapping_sub(before.seq), out);
    }

    fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
        Some(Self {
            actor: before.actor.wrapping_add(packed.number()?),
            bucket: before.bucket.wrapping_add(packed.number()?),
            seq: before.seq.wrapping_add(packed.number()?),
        })
    }
}

/// Removes a place, in a transaction that holds the list of facts.
pub(super) fn remove(tx: &mut Tx<'_>, [actor, bucket, seq]: EventPosition) -> Result<()> {
    let goes = |place: &EventPlace| place.bucket == bucket && place.seq == seq;
    Runs::<EventPlace>::open_alone(tx, PLACES)?.remove(tx, actor, actor, goes).map(drop)
}
