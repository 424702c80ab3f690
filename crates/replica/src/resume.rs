//! Continues the chain of an earlier run of the server, if the log proves that nothing is missing in between.

use std::fs::File;
use std::io;
use std::path::Path;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};

use crate::chain::{Chain, Destination, log_of};
use crate::key::{ChainId, ObjectKey, Position};
use crate::limits::{REPLICA_SEGMENT_MAX_BYTES, REPLICA_TRANSACTION_MAX_BYTES};
use crate::log::{self, LogEnd, LogHeader, Scan};
use crate::segment::SegmentHeader;
use crate::sql::FileConnections;

/// The end of a chain in the store. It is small, so it is remembered while a file rests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredEnd {
    pub(crate) id: ChainId,
    pub(crate) position: Position,
    /// The log that has this end.
    pub(crate) log: LogHeader,
    pub(crate) end: LogEnd,
    /// The latest time in the chain.
    pub(crate) time: Timestamp,
    /// When the last snapshot was made, and where it is in the chain.
    pub(crate) snapshot: (Timestamp, Position),
}

/// A log that continues a chain.
pub(crate) struct ContinuedLog {
    pub(crate) connections: FileConnections,
    pub(crate) log_file: File,
    pub(crate) header: LogHeader,
    /// Its number in the chain, and up to where the store has it.
    pub(crate) number: u64,
    pub(crate) from: LogEnd,
    /// The transactions that the store lacks.
    pub(crate) rest: Scan,
}

impl StoredEnd {
    /// The end of the last chain of an epoch, or of the last one at all; `None` if the store does not say where it is in
    /// its log.
    pub(crate) fn find(
        to: &Destination<'_>,
        keys: &[(ObjectKey, u64)],
        epoch: Option<u64>,
    ) -> Result<Option<Self>> {
        let of_epoch = keys.iter().map(|(key, _)| key);
        let of_epoch = of_epoch.filter(|key| epoch.is_none_or(|epoch| key.chain.epoch == epoch));
        let Some(id) = of_epoch.clone().map(|key| key.chain).max() else { return Ok(None) };
        let objects = || of_epoch.clone().filter(|key| key.chain == id);
        let snapshots = objects().filter_map(|key| Some((key.snapshot()?, key.time)));
        let Some((snapshot, snapshot_time)) = snapshots.max() else { return Ok(None) };
        let end_of = |key: &&ObjectKey| {
            let (from, end) = key.segment()?;
            // Of several with the same end, the shortest one.
            Some((Position { log: from.log, offset: end }, from.offset))
        };
        let Some(last) = objects().max_by_key(end_of) else { return Ok(None) };
        let Some((position, _)) = end_of(&last).filter(|(end, _)| *end >= snapshot) else {
            return Ok(None);
        };
        let Some(bytes) = to.store.get(&to.key(last))? else { return Ok(None) };
        let Ok((header, frames)) = SegmentHeader::decode(&bytes) else { return Ok(None) };
        let time = objects().map(|key| key.time).max().unwrap_or(last.time);
        let (log, end) = (header.log(), header.end(&frames));
        let is_whole = end.offset == position.offset;
        Ok(is_whole.then_some(Self {
            id,
            position,
            log,
            end,
            time,
            snapshot: (snapshot_time, snapshot),
        }))
    }

    /// Opens the file whose log continues the chain; `None` if it does not, or if that is unknown.
    pub(crate) fn continue_with(&self, file: &Path) -> Result<Option<ContinuedLog>> {
        let failed = |fault: io::Error| Problem::internal(format!("{}: {fault}", file.display()));
        let mut connections = FileConnections::open(file)?;
        // Nobody writes meanwhile, so the reading connection sees nothing that is not scanned.
        let found = connections.while_nobody_writes(|reading| {
            reading.renew()?;
            let log_file = File::open(log_of(file)).map_err(failed)?;
            let found = self.find_in(&log_file).map_err(failed)?;
            Ok(found.map(|(header, number, from, rest)| (log_file, header, number, from, rest)))
        })?;
        Ok(found.flatten().map(|(log_file, header, number, from, rest)| ContinuedLog {
            connections,
            log_file,
            header,
            number,
            from,
            rest,
        }))
    }

    fn find_in(&self, log_file: &File) -> io::Result<Option<(LogHeader, u64, LogEnd, Scan)>> {
        let Some(header) = LogHeader::read(log_file)? else { return Ok(None) };
        let has_format = |log: &LogHeader| (log.page_bytes, log.is_big_endian);
        if has_format(&header) != has_format(&self.log) || !self.end.is_in(log_file, &self.log)? {
            return Ok(None);
        }
        let (number, from) = if header.salt == self.log.salt {
            (self.position.log, self.end)
        } else if self.is_followed_by(log_file, &header)? {
            (self.position.log + 1, LogEnd::start(&header))
        } else {
            return Ok(None);
        };
        let (most, longest) = (REPLICA_SEGMENT_MAX_BYTES, REPLICA_TRANSACTION_MAX_BYTES);
        let rest = log::scan(log_file, &header, from, most, longest)?;
        let rest = rest.filter(|rest| !rest.has_more);
        Ok(rest.map(|rest| (header, number, from, rest)))
    }

    /// Whether SQLite restarted the log directly after this end. The file still has the former frames behind the present
    /// ones: the last one that the store has must be there, and none after it.
    fn is_followed_by(&self, log_file: &File, header: &LogHeader) -> io::Result<bool> {
        let is_next = header.follows(&self.log) && self.end.offset > log::LOG_HEADER_BYTES;
        Ok(is_next && log::frame_at(log_file, &self.log, self.end.offset)?.is_none())
    }
}

impl Chain {
    /// Continues a chain of the store. Returns it with the transactions that the store lacks.
    pub(crate) fn resume(file: &Path, stored: &StoredEnd) -> Result<Option<(Self, Scan)>> {
        let Some(continued) = stored.continue_with(file)? else { return Ok(None) };
        Self::continued(file, stored, continued).map(Some)
    }
}
