//! The file format of SQLite's write-ahead log (<https://sqlite.org/fileformat2.html#the_write_ahead_log>).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of a log before its first frame.
pub(crate) const LOG_HEADER_BYTES: u64 = HEADER_BYTES as u64;
const HEADER_BYTES: usize = 32;
/// Bytes of a frame before its page.
const FRAME_HEADER_BYTES: usize = 24;
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 256 * 1024;

const MAGIC: u32 = 0x377f_0682;

/// A checksum of SQLite: two words.
pub(crate) type Checksum = [u32; 2];
/// The two words that distinguish a log from those before it in the same file.
pub(crate) type Salt = [u32; 2];

/// The beginning of a log, which is different each time that SQLite restarts the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogHeader {
    pub(crate) page_bytes: u32,
    pub(crate) is_big_endian: bool,
    pub(crate) salt: Salt,
    pub(crate) checksum: Checksum,
}

impl LogHeader {
    /// The header of a log file; `None` if the log is empty or its header is being written.
    pub(crate) fn read(log: &File) -> io::Result<Option<Self>> {
        let mut bytes = [0; HEADER_BYTES];
        if read_up_to(log, &mut bytes, 0)? < bytes.len() {
            return Ok(None);
        }
        let is_big_endian = word(&bytes, 0) == MAGIC | 1;
        let header = Self {
            page_bytes: word(&bytes, 8),
            is_big_endian,
            salt: words(&bytes, 16),
            checksum: words(&bytes, 24),
        };
        let is_valid = word(&bytes, 0) | 1 == MAGIC | 1
            && header.page_bytes >= 512
            && checksum(is_big_endian, [0, 0], &bytes[..24]) == header.checksum;
        Ok(is_valid.then_some(header))
    }

    /// Whether this is the log that SQLite restarted directly after the other one.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        self.salt[0] == before.salt[0].wrapping_add(1)
    }

    pub(crate) fn frame_bytes(&self) -> usize {
        FRAME_HEADER_BYTES + self.page_bytes as usize
    }

    /// Checks a frame that follows frames with the checksum `before`; `None` if it does not belong to this log.
    pub(crate) fn check<'a>(&self, before: Checksum, frame: &'a [u8]) -> Option<Frame<'a>> {
        let sum = checksum(self.is_big_endian, before, &frame[..8]);
        let page = &frame[FRAME_HEADER_BYTES..];
        if words(frame, 8) != self.salt || word(frame, 0) == 0 {
            return None;
        }
        let sum = checksum(self.is_big_endian, sum, page);
        let (number, pages) = (word(frame, 0), word(frame, 4));
        (words(frame, 16) == sum).then_some(Frame { number, pages, checksum: sum, page })
    }
}

/// A page in a log.
pub(crate) struct Frame<'a> {
    /// The number of the page, from 1.
    pub(crate) number: u32,
    /// If a transaction ends here, the number of pages of the database; otherwise 0.
    pub(crate) pages: u32,
    /// The checksum of the log up to this frame.
    pub(crate) checksum: Checksum,
    pub(crate) page: &'a [u8],
}

/// The end of a transaction in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    pub(crate) offset: u64,
    pub(crate) checksum: Checksum,
}

impl LogEnd {
    /// The beginning of a log.
    pub(crate) fn start(header: &LogHeader) -> Self {
        Self { offset: LOG_HEADER_BYTES, checksum: header.checksum }
    }

    /// Whether the log still has the transaction that ended here.
    pub(crate) fn is_in(&self, log: &File, header: &LogHeader) -> io::Result<bool> {
        if self.offset == LOG_HEADER_BYTES {
            return Ok(true);
        }
        let mut bytes = [0; FRAME_HEADER_BYTES];
        let at = self.offset - header.frame_bytes() as u64;
        let size = read_up_to(log, &mut bytes, at)?;
        let is_same = words(&bytes, 8) == header.salt && words(&bytes, 16) == self.checksum;
        Ok(size == bytes.len() && is_same)
    }
}

/// The transactions that follow a position.
pub(crate) struct Scan {
    /// Their frames, unless they are only counted.
    pub(crate) frames: Vec<u8>,
    pub(crate) end: LogEnd,
    /// The end of the last valid frame: of a transaction that goes on or was rolled back, or the same as `end`.
    pub(crate) last_frame: LogEnd,
    /// Whether the scan ended at its limit.
    pub(crate) has_more: bool,
}

/// Frames behind the last transaction in a log while nobody writes: those of transactions that were rolled back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RolledBackFrames {
    /// The end of the last one that a repeated transaction could have, too.
    last: LogEnd,
    /// The checksum of the frame after it, which belongs to an earlier transaction.
    next: Option<Checksum>,
}

impl RolledBackFrames {
    /// Finds the frames after the scan. Nobody may write.
    pub(crate) fn after(scan: &Scan, log: &File, header: &LogHeader) -> io::Result<Self> {
        let last = scan.last_frame;
        Ok(Self { last, next: frame_at(log, header, last.offset)? })
    }

    /// Whether nothing was written since. A transaction that repeats the same frames and is committed has one more.
    pub(crate) fn are_last_in(&self, log: &File, header: &LogHeader) -> io::Result<bool> {
        Ok(self.last.is_in(log, header)? && frame_at(log, header, self.last.offset)? == self.next)
    }
}

/// The checksum of the frame of this log that begins at the offset, if there is one. Its transaction may be unfinished.
pub(crate) fn frame_at(
    log: &File,
    header: &LogHeader,
    offset: u64,
) -> io::Result<Option<Checksum>> {
    let mut bytes = [0; FRAME_HEADER_BYTES];
    let size = read_up_to(log, &mut bytes, offset)?;
    let is_there = size == bytes.len() && words(&bytes, 8) == header.salt;
    Ok(is_there.then(|| words(&bytes, 16)))
}

/// Reads the transactions after `from`. It stops after `max_bytes` of complete transactions, and returns `None` if one
/// transaction is longer than `transaction_max_bytes`.
pub(crate) fn scan(
    log: &File,
    header: &LogHeader,
    from: LogEnd,
    max_bytes: u64,
    transaction_max_bytes: u64,
) -> io::Result<Option<Scan>> {
    let frame_bytes = header.frame_bytes();
    let chunk_bytes = (CHUNK_BYTES / frame_bytes).max(1) * frame_bytes;
    let (mut frames, mut end) = (Vec::new(), from);
    let (mut at, mut sum) = (from.offset, from.checksum);
    loop {
        let begun = frames.len();
        frames.resize(begun + chunk_bytes, 0);
        let size = read_up_to(log, &mut frames[begun..], at)?;
        frames.truncate(begun + size);
        let mut is_valid = size == chunk_bytes;
        for frame in frames[begun..].chunks_exact(frame_bytes) {
            let Some(frame) = header.check(sum, frame) else {
                is_valid = false;
                break;
            };
            (at, sum) = (at + frame_bytes as u64, frame.checksum);
            if frame.pages > 0 {
                end = LogEnd { offset: at, checksum: sum };
                if end.offset - from.offset >= max_bytes {
                    is_valid = false;
                    break;
                }
            }
        }
        if at - end.offset > transaction_max_bytes {
            return Ok(None);
        }
        if !is_valid {
            let bytes = end.offset - from.offset;
            frames.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
            let last_frame = LogEnd { offset: at, checksum: sum };
            return Ok(Some(Scan { frames, end, last_frame, has_more: bytes >= max_bytes }));
        }
    }
}

/// Scans to the end of the last complete transaction in the log. The scan has only the last frames.
pub(crate) fn scan_to_end(log: &File, header: &LogHeader) -> io::Result<Scan> {
    let mut from = LogEnd::start(header);
    loop {
        let scan = scan(log, header, from, CHUNK_BYTES as u64, u64::MAX)?;
        let scan = scan.expect("no transaction is longer than the limit");
        if !scan.has_more {
            return Ok(scan);
        }
        from = scan.end;
    }
}

/// The checksum up to the last of some frames; `None` without frames.
pub(crate) fn last_checksum(frames: &[u8], frame_bytes: usize) -> Option<Checksum> {
    let last = frames.len().checked_sub(frame_bytes)?;
    Some(words(&frames[last..], 16))
}

fn read_up_to(log: &File, to: &mut [u8], from: u64) -> io::Result<usize> {
    let mut size = 0;
    while size < to.len() {
        match log.read_at(&mut to[size..], from + size as u64) {
            Ok(0) => break,
            Ok(more) => size += more,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(size)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn words(bytes: &[u8], at: usize) -> Checksum {
    [word(bytes, at), word(bytes, at + 4)]
}

/// The checksum of bytes whose number is divisible by 8, continued from another one.
fn checksum(is_big_endian: bool, before: Checksum, bytes: &[u8]) -> Checksum {
    let [mut first, mut second] = before;
    for pair in bytes.chunks_exact(8) {
        let read = |at: usize| {
            let bytes = [pair[at], pair[at + 1], pair[at + 2], pair[at + 3]];
            if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        first = first.wrapping_add(read(0)).wrapping_add(second);
        second = second.wrapping_add(read(4)).wrapping_add(first);
    }
    [first, second]
}
