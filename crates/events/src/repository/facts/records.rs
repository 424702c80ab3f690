//! Facts, packed.

use lyceum_runs::{PackedNumbers, PackedRecord, pack};

use super::KEY;
use crate::facts::MeasureSums;

/// The fact of an event in a quarter hour: actor, bucket, number of the event and context. No two have one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

impl PackedRecord for Fact {
    const FIRST: Self = Self { key: [0; KEY], sums: MeasureSums { events: 0, measures: [0; 9] } };

    /// Writes the key as differences, then the measures other than zero, after a bit set of these measures.
    fn write(&self, before: &Self, out: &mut Vec<u8>) {
        write_differences(&self.key, &before.key, out);
        pack(self.sums.events, out);
        let which = self.sums.measures.iter().rev();
        pack(which.fold(0_u64, |bits, sum| bits << 1 | u64::from(*sum != 0)), out);
        for sum in self.sums.measures.iter().filter(|sum| **sum != 0) {
            pack(*sum, out);
        }
    }

    fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self> {
        let mut fact = Self { key: read_differences(before.key, packed)?, ..*before };
        fact.sums.events = packed.number()?;
        let which: u64 = packed.number()?;
        for (at, sum) in fact.sums.measures.iter_mut().enumerate() {
            *sum = if which >> at & 1 == 1 { packed.number()? } else { 0 };
        }
        Some(fact)
    }
}

/// Writes numbers as differences.
fn write_differences(numbers: &[i64], before: &[i64], out: &mut Vec<u8>) {
    for (number, before) in numbers.iter().zip(before) {
        pack(number.wrapping_sub(*before), out);
    }
}

/// Reads what [`write_differences`] wrote.
fn read_differences<const N: usize>(
    mut numbers: [i64; N],
    packed: &mut PackedNumbers<'_>,
) -> Option<[i64; N]> {
    for number in &mut numbers {
        *number = number.wrapping_add(packed.number()?);
    }
    Some(numbers)
}
