//! Compresses the text of events in blocks. Events that one transaction appends are compressed together, because
//! events of one sender are very similar.
//!
//! A block contains the number, the length and the text of each of its events; everything is compressed.
//!
//! With 32 events a block and zstd at level 1, an event takes 87 bytes of 875 and 2 to 5 µs. Larger blocks save
//! little and make single reads expensive.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::{Problem, Result};
use lyceum_store::{IN_LIST_MARKS, Tx, Value, in_lists};
use zstd::bulk::{Compressor, Decompressor};

use crate::limits::{EVENT_BLOCK_MAX_BYTES, EVENT_BLOCK_MAX_RECORDS, EVENT_BLOCK_MIN_RECORDS};

/// Bytes before a text: the number of its event, and its length.
const HEAD: usize = 8 + 4;
/// A quarter smaller than the next faster level. Slower levels save nothing more.
const LEVEL: i32 = 1;

thread_local! {
    /// The compressor of each thread. Its memory is large, and creating it costs as much as compressing a block.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// The blocks of events that are appended together.
pub(super) struct Blocks {
    /// The block of each event; `None` if the row contains the text, because there are few events or the text is
    /// long.
    pub(super) of: Vec<Option<i64>>,
    packed: Vec<(i64, Vec<u8>)>,
}

impl Blocks {
    /// Compresses texts, given with the numbers of their events.
    pub(super) fn pack(texts: &[(i64, &str)]) -> Result<Self> {
        let mut blocks = Self { of: vec![None; texts.len()], packed: Vec::new() };
        if texts.len() < EVENT_BLOCK_MIN_RECORDS {
            return Ok(blocks);
        }
        let (mut block, mut size): (Vec<(i64, &str)>, usize) = (Vec::new(), 0);
        for (&(seq, text), of) in texts.iter().zip(&mut blocks.of) {
            let bytes = HEAD + text.len();
            if bytes > EVENT_BLOCK_MAX_BYTES {
                continue;
            }
            if block.len() == EVENT_BLOCK_MAX_RECORDS || size + bytes > EVENT_BLOCK_MAX_BYTES {
                blocks.packed.push((block[0].0, packed(&block)?));
                block.clear();
                size = 0;
            }
            block.push((seq, text));
            size += bytes;
            *of = Some(block[0].0);
        }
        if !block.is_empty() {
            blocks.packed.push((block[0].0, packed(&block)?));
        }
        Ok(blocks)
    }

    pub(super) fn write(&self, tx: &mut Tx<'_>) -> Result<()> {
        let packed = self.packed.iter();
        let rows: Vec<Value<'_>> =
            packed.flat_map(|(id, packed)| [(*id).into(), packed[..].into()]).collect();
        tx.send_rows("event_blocks", &["id", "packed"], &rows, "")
    }
}

/// A block of texts, which fit into one.
pub(super) fn packed(texts: &[(i64, &str)]) -> Result<Vec<u8>> {
    let mut plain = Vec::with_capacity(texts.iter().map(|(_, text)| HEAD + text.len()).sum());
    for (seq, text) in texts {
        let length = u32::try_from(text.len()).expect("a block's text is short");
        plain.extend(seq.to_be_bytes());
        plain.extend(length.to_be_bytes());
        plain.extend(text.as_bytes());
    }
    let packed = COMPRESSOR.with_borrow_mut(|kept| match kept {
        Some(compressor) => compressor.compress(&plain),
        None => kept.insert(Compressor::new(LEVEL)?).compress(&plain),
    });
    packed.map_err(Problem::internal)
}

/// Texts that were read from their blocks, by the numbers of their events.
#[derive(Default)]
pub(super) struct BlockTexts(BTreeMap<i64, String>);

impl BlockTexts {
    /// Reads the texts of events, given by number and block. Each block is decompressed once.
    pub(super) fn read(tx: &mut Tx<'_>, wanted: &[(i64, i64)]) -> Result<Self> {
        let mut texts = Self::default();
        // A withdrawn event may have had the number of a later one, in another block.
        let wanted: BTreeSet<(i64, i64)> = wanted.iter().copied().collect();
        let blocks: BTreeSet<i64> = wanted.iter().map(|(_, block)| *block).collect();
        if blocks.is_empty() {
            return Ok(texts);
        }
        let mut unpack = Decompressor::new().map_err(Problem::internal)?;
        let sql = format!("SELECT id, packed FROM event_blocks WHERE id IN ({})", *IN_LIST_MARKS);
        for list in in_lists(&Vec::from_iter(blocks)) {
            let values: Vec<Value<'_>> = list.into_iter().map(Value::Int).collect();
            tx.query(&sql, &values, |row| {
                let block = row.int(0)?;
                each_text(&mut unpack, row.blob(1)?, |seq, text| {
                    if wanted.contains(&(seq, block)) {
                        texts.0.insert(seq, text.to_owned());
                    }
                })?;
                Ok(true)
            })?;
        }
        Ok(texts)
    }

    /// The text of an event.
    pub(super) fn of(&self, seq: i64) -> Result<&str> {
        let text = self.0.get(&seq).map(String::as_str);
        text.ok_or_else(|| Problem::internal(format!("the text of the event {seq} is missing")))
    }
}

/// Calls `each` with the number and the text of each event in a block.
fn each_text(
    unpack: &mut Decompressor<'_>,
    packed: &[u8],
    mut each: impl FnMut(i64, &str),
) -> Result<()> {
    let plain = unpack.decompress(packed, EVENT_BLOCK_MAX_BYTES).map_err(Problem::internal)?;
    let mut plain = &plain[..];
    let broken = || Problem::internal("a block of events is damaged");
    while let Some((head, rest)) = plain.split_first_chunk::<HEAD>() {
        let (seq, length) = head.split_at(8);
        let seq = i64::from_be_bytes(seq.try_into().expect("it was split there"));
        let length = u32::from_be_bytes(length.try_into().expect("it was split there"));
        let (text, rest) = rest.split_at_checked(length as usize).ok_or_else(broken)?;
        each(seq, str::from_utf8(text).map_err(Problem::internal)?);
        plain = rest;
    }
    if plain.is_empty() { Ok(()) } else { Err(broken()) }
}

/// All texts of a block, with the numbers of their events.
pub(super) fn texts(packed: &[u8]) -> Result<Vec<(i64, String)>> {
    let mut unpack = Decompressor::new().map_err(Problem::internal)?;
    let mut texts = Vec::new();
    each_text(&mut unpack, packed, |seq, text| texts.push((seq, text.to_owned())))?;
    Ok(texts)
}
