//! Sorted records, packed as bytes: each one as the differences to the record before.

use integer_encoding::VarInt;
use lyceum_core::{Problem, Result};

/// A record that can be packed.
pub trait PackedRecord: Copy {
    /// The predecessor of the first record.
    const FIRST: Self;

    /// Packs it as the difference to the record before.
    fn write(&self, before: &Self, out: &mut Vec<u8>);
    /// Unpacks it. `None` if the bytes are damaged.
    fn read(before: &Self, packed: &mut PackedNumbers<'_>) -> Option<Self>;
}

/// Packed numbers, one after the other.
pub struct PackedNumbers<'a>(&'a [u8]);

impl PackedNumbers<'_> {
    /// The next number.
    pub fn number<N: VarInt>(&mut self) -> Option<N> {
        let (number, size) = N::decode_var(self.0)?;
        self.0 = &self.0[size..];
        Some(number)
    }
}

/// Packs a number. Small numbers take one byte.
pub fn pack(number: impl VarInt, out: &mut Vec<u8>) {
    let at = out.len();
    // The maximum length of a number. Copying a constant length is faster than copying the exact one.
    out.extend_from_slice(&[0; 10]);
    let size = number.encode_var(&mut out[at..]);
    out.truncate(at + size);
}

/// The bytes of these records.
pub fn packed<R: PackedRecord>(records: &[R]) -> Vec<u8> {
    let mut out = Vec::with_capacity(records.len() * 16);
    let mut before = R::FIRST;
    for record in records {
        record.write(&before, &mut out);
        before = *record;
    }
    out
}

/// The records in packed bytes, in order.
pub struct UnpackedRecords<'a, R> {
    packed: PackedNumbers<'a>,
    before: R,
}

impl<'a, R: PackedRecord> UnpackedRecords<'a, R> {
    /// The records of the bytes.
    pub fn of(packed: &'a [u8]) -> Self {
        Self { packed: PackedNumbers(packed), before: R::FIRST }
    }
}

impl<R: PackedRecord> Iterator for UnpackedRecords<'_, R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        if self.packed.0.is_empty() {
            return None;
        }
        let Some(record) = R::read(&self.before, &mut self.packed) else {
            // After damaged bytes, nothing can be read.
            self.packed = PackedNumbers(&[]);
            return Some(Err(Problem::internal("packed records are damaged")));
        };
        self.before = record;
        Some(Ok(record))
    }
}
