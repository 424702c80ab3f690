//! Packs records as bytes: each one as the differences to the record before.

use integer_encoding::VarInt;
use lyceum_core::{Problem, Result};

use super::RunRecord;

/// Packed numbers, one after the other.
pub(in crate::repository) struct PackedNumbers<'a>(&'a [u8]);

impl PackedNumbers<'_> {
    /// The next number.
    pub(in crate::repository) fn next<N: VarInt>(&mut self) -> Option<N> {
        let (number, size) = N::decode_var(self.0)?;
        self.0 = &self.0[size..];
        Some(number)
    }
}

/// Packs a number. Small numbers take one byte.
pub(in crate::repository) fn pack(number: impl VarInt, out: &mut Vec<u8>) {
    let at = out.len();
    // The maximum length of a number. Copying a constant length is faster than copying the exact one.
    out.extend_from_slice(&[0; 10]);
    let size = number.encode_var(&mut out[at..]);
    out.truncate(at + size);
}

/// The bytes of a chunk with these records.
pub(in crate::repository) fn packed<R: RunRecord>(records: &[R]) -> Vec<u8> {
    let mut out = Vec::with_capacity(records.len() * 16);
    let mut before = R::FIRST;
    for record in records {
        record.put(&before, &mut out);
        before = *record;
    }
    out
}

/// The records of a chunk, in order.
pub(in crate::repository) struct ChunkRecords<'a, R> {
    packed: PackedNumbers<'a>,
    before: R,
}

impl<'a, R: RunRecord> ChunkRecords<'a, R> {
    pub(in crate::repository) fn of(chunk: &'a [u8]) -> Self {
        Self { packed: PackedNumbers(chunk), before: R::FIRST }
    }
}

impl<R: RunRecord> Iterator for ChunkRecords<'_, R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        if self.packed.0.is_empty() {
            return None;
        }
        let Some(record) = R::take(&self.before, &mut self.packed) else {
            // After damaged bytes, nothing can be read.
            self.packed = PackedNumbers(&[]);
            return Some(Err(Problem::internal("a chunk of a run is damaged")));
        };
        self.before = record;
        Some(Ok(record))
    }
}
