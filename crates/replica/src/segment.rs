//! Segments: transactions of a write-ahead log as one compressed object, with the times at which they were found.

use std::io::{Cursor, Read, Write};

use lyceum_core::{Problem, Result};
use serde::{Deserialize, Serialize};

use crate::key::Position;
use crate::log::{Checksum, LogEnd, LogHeader, Salt, last_checksum};

/// The header before the frames, as a line of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SegmentHeader {
    /// The position of the chain that these transactions follow. At the beginning of a log it is the end of the
    /// previous log.
    pub(crate) after: Position,
    /// The offset of the first frame, and the checksum of the log before it.
    pub(crate) from: (u64, Checksum),
    pub(crate) page_bytes: u32,
    pub(crate) is_big_endian: bool,
    pub(crate) salt: Salt,
    /// When transactions were found in milliseconds since 1970, and the offset up to which they were complete.
    pub(crate) found: Vec<(i64, u64)>,
}

impl SegmentHeader {
    pub(crate) fn new(
        after: Position,
        from: LogEnd,
        log: &LogHeader,
        found: Vec<(i64, u64)>,
    ) -> Self {
        Self {
            after,
            from: (from.offset, from.checksum),
            page_bytes: log.page_bytes,
            is_big_endian: log.is_big_endian,
            salt: log.salt,
            found,
        }
    }

    /// The header of the log, as far as frames need it.
    pub(crate) fn log(&self) -> LogHeader {
        LogHeader {
            page_bytes: self.page_bytes,
            is_big_endian: self.is_big_endian,
            salt: self.salt,
            checksum: self.from.1,
        }
    }

    /// The place in the log after the frames.
    pub(crate) fn end(&self, frames: &[u8]) -> LogEnd {
        let checksum = last_checksum(frames, self.log().frame_bytes()).unwrap_or(self.from.1);
        LogEnd { offset: self.from.0 + frames.len() as u64, checksum }
    }

    /// The segment with these frames.
    pub(crate) fn encode(&self, frames: &[u8]) -> Result<Vec<u8>> {
        let written = || -> std::io::Result<Vec<u8>> {
            let mut packed = zstd::Encoder::new(Vec::new(), zstd::DEFAULT_COMPRESSION_LEVEL)?;
            packed.include_checksum(true)?;
            serde_json::to_writer(&mut packed, self)?;
            packed.write_all(b"\n")?;
            packed.write_all(frames)?;
            packed.finish()
        };
        written().map_err(Problem::internal)
    }

    /// Header and frames of a segment; an error if its bytes are damaged.
    pub(crate) fn decode(bytes: &[u8]) -> std::io::Result<(Self, Vec<u8>)> {
        let mut plain = Vec::new();
        zstd::Decoder::new(Cursor::new(bytes))?.read_to_end(&mut plain)?;
        let end = plain.iter().position(|byte| *byte == b'\n').unwrap_or(plain.len());
        let header: Self = serde_json::from_slice(&plain[..end])?;
        plain.drain(..plain.len().min(end + 1));
        if header.page_bytes < 512 || plain.len() % header.log().frame_bytes() != 0 {
            return Err(std::io::Error::other("its length is wrong"));
        }
        Ok((header, plain))
    }
}
