//! A fact, as runs store it.

use std::cmp::Ordering;

use lyceum_runs::{PackedNumbers, RunRecord, pack};

use super::KEY;
use crate::facts::MeasureSums;

/// The fact of an event in a quarter hour: actor, bucket, number of the event and context.
#[derive(Clone, Copy, Debug)]
pub(in crate::repository) struct Fact {
    pub(super) key: [i64; KEY],
    pub(super) sums: MeasureSums,
}

impl Fact {
    pub(super) fn actor(&self) -> i64 {
        self.key[0]
    }

    pub(super) fn bucket(&self) -> i64 {
        self.key[1]
    }

    pub(super) fn seq(&self) -> i64 {
        self.key[2]
    }

    pub(super) fn context(&self) -> i64 {
        self.key[3]
    }
}

impl RunRecord for Fact {
    const IN_CHUNK: usize = 64;
    const FIRST: Self = Self { key: [0; KEY], sums: MeasureSums { events: 0, measures: [0; 9] } };

    fn lookup_key(&self) -> i64 {
        self.actor()
    }

    fn time(&self) -> i64 {
        self.bucket()
    }

    /// Writes the key as differences, then the measures other than zero, after a bit set of these measures.
    fn write(&self, before: &Self, out: &mut Vec<u8>) {
        for (part, before) in self.key.iter().zip(before.key) {
            pack(part.wrapping_sub(before), out);
        }
        pack(self.sums.events, out);
        let which = self.sums.measures.iter().rev();
        pack(which.fold(0_u64, |bits, sum| bits << 1 | u64::from(*sum != 0)), out);
        for sum in self.sums.measures.iter().filter(|sum| **sum != 0) {
            pack(*sum, out);
        }
    }

    fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
        let mut fact = *before;
        for part in &mut fact.key {
            *part = part.wrapping_add(packed.number()?);
        }
        fact.sums.events = packed.number()?;
        let which: u64 = packed.number()?;
        for (at, sum) in fact.sums.measures.iter_mut().enumerate() {
            *sum = if which >> at & 1 == 1 { packed.number()? } else { 0 };
        }
        Some(fact)
    }
}

impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Fact {}

impl PartialOrd for Fact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fact {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}
