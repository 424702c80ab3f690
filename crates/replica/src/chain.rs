//! An open chain: follows the write-ahead log of a file, and sends what it finds.
//!
//! While a chain is open, a connection reads the file ([`FileConnections`]). It began to read before the log was
//! scanned, so everything that it does not see follows the last scan. SQLite carries over only what all readers see, and
//! restarts a log only if all of it was carried over and nobody reads from it. So a log that SQLite restarted
//! directly after the known one continues it without a gap. Any other log breaks the chain.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Problem, ProblemKind, Result, message};

use crate::key::{ChainId, ObjectKey, ObjectKind, Position};
use crate::limits::{
    REPLICA_IDLE_S, REPLICA_LOCKED_PAGES_MAX_COUNT, REPLICA_LOG_MAX_BYTES,
    REPLICA_MERGED_SEGMENTS_MIN_COUNT, REPLICA_SEGMENT_MAX_BYTES, REPLICA_SNAPSHOT_EVERY_S,
    REPLICA_TRANSACTION_MAX_BYTES, REPLICA_WAITING_LOG_MAX_BYTES,
};
use crate::log::{self, LogEnd, LogHeader, RolledBackFrames, Scan};
use crate::objects::ReplicaStore;
use crate::resume::{ContinuedLog, StoredEnd};
use crate::segment::SegmentHeader;
use crate::sql::{FileConnections, FileState};

/// A store of replicas, the prefix of one file in it, and the time.
pub(crate) struct Destination<'a> {
    pub(crate) store: ReplicaStore,
    pub(crate) prefix: &'a str,
    pub(crate) clock: &'a dyn Clock,
}

impl Destination<'_> {
    pub(crate) fn key(&self, key: &ObjectKey) -> String {
        format!("{}/{key}", self.prefix)
    }
}

pub(crate) struct Chain {
    pub(crate) id: ChainId,
    file: PathBuf,
    /// Device and inode of the file.
    identity: (u64, u64),
    connections: FileConnections,
    log_file: File,
    /// The log that is followed, and how far it was sent; `None` until the first write if the log is empty.
    log: Option<(LogHeader, LogEnd)>,
    /// The number of that log.
    number: u64,
    /// Up to where the store has the chain.
    stored: Position,
    /// The sent part of the current log.
    sent: SentLog,
    /// When transactions were found that are not stored yet, and up to which offset.
    found: Vec<(i64, u64)>,
    /// The frames behind the last transaction, if they were looked at while nobody wrote.
    rolled_back: Option<RolledBackFrames>,
    /// Whether the next writer restarts the log.
    is_carried_over: bool,
    /// No time in the chain is earlier than one before it, even if the clock is set back.
    pub(crate) last_time: Timestamp,
    /// When the last snapshot was made, and where it is in the chain.
    pub(crate) snapshot: (Timestamp, Position),
}

/// The sent part of one log.
struct SentLog {
    after: Position,
    from: LogEnd,
    found: Vec<(i64, u64)>,
    keys: Vec<ObjectKey>,
}

/// The state that a snapshot copies.
pub(crate) struct SnapshotState {
    pub(crate) key: ObjectKey,
    pub(crate) state: FileState,
    /// The log at this state, and the place in it; `None` if the log is empty.
    log: Option<(LogHeader, LogEnd)>,
}

impl SnapshotState {
    /// The place of the snapshot in the log as an empty segment, with which a later run of the server can continue the
    /// chain.
    pub(crate) fn place(&self) -> Option<(ObjectKey, SegmentHeader)> {
        let (header, end) = self.log?;
        let position = self.key.snapshot()?;
        let kind = ObjectKind::Segment(position, position.offset);
        let header = SegmentHeader::new(position, end, &header, Vec::new());
        Some((ObjectKey { kind, ..self.key }, header))
    }
}

/// The result of looking for transactions.
pub(crate) enum SendOutcome {
    /// The store has everything that the log had.
    UpToDate,
    /// The chain cannot be continued, for this reason.
    Broken(&'static str),
}

impl Chain {
    /// Begins to follow a file, with the state at its beginning.
    pub(crate) fn begin(
        file: &Path,
        id: ChainId,
        clock: &dyn Clock,
    ) -> Result<(Self, SnapshotState)> {
        let failed = |fault: io::Error| Problem::internal(format!("{}: {fault}", file.display()));
        let mut connections = FileConnections::open(file)?;
        let begun = connections.while_nobody_writes(|reading| {
            reading.renew()?;
            let log_file = File::open(log_of(file)).map_err(failed)?;
            let header = LogHeader::read(&log_file).map_err(failed)?;
            let log = header.map(|header| {
                let scan = log::scan_to_end(&log_file, &header)?;
                Ok((header, scan.end, RolledBackFrames::after(&scan, &log_file, &header)?))
            });
            Ok((log_file, log.transpose().map_err(failed)?, FileState::read(file)?))
        })?;
        let Some((log_file, log, state)) = begun else { return Err(busy(file)) };
        let rolled_back = log.map(|(.., rolled_back)| rolled_back);
        let log = log.map(|(header, end, _)| (header, end));
        let now = clock.now();
        let from = log.map_or(LogEnd { offset: 0, checksum: [0, 0] }, |(_, end)| end);
        let stored = Position { log: 0, offset: from.offset };
        let chain = Self {
            id,
            file: file.to_owned(),
            identity: identity(file).map_err(failed)?,
            connections,
            log_file,
            log,
            number: 0,
            stored,
            sent: SentLog::begin(stored, from),
            found: Vec::new(),
            rolled_back,
            is_carried_over: false,
            last_time: now,
            snapshot: (now, stored),
        };
        let key = ObjectKey { chain: id, kind: ObjectKind::Snapshot(stored), time: now };
        Ok((chain, SnapshotState { key, state, log }))
    }

    /// A chain of the store with the log that continues it. Returns also the transactions that the store lacks.
    pub(crate) fn continued(
        file: &Path,
        stored: &StoredEnd,
        continued: ContinuedLog,
    ) -> Result<(Self, Scan)> {
        let ContinuedLog { connections, log_file, header, number, from, rest } = continued;
        let failed = |fault: io::Error| Problem::internal(format!("{}: {fault}", file.display()));
        let chain = Self {
            id: stored.id,
            file: file.to_owned(),
            identity: identity(file).map_err(failed)?,
            connections,
            log_file,
            log: Some((header, from)),
            number,
            stored: stored.position,
            sent: SentLog::begin(stored.position, from),
            found: Vec::new(),
            rolled_back: None,
            is_carried_over: false,
            last_time: stored.time,
            snapshot: stored.snapshot,
        };
        Ok((chain, rest))
    }

    /// Sends what the store lacks of a chain that is continued.
    pub(crate) fn send_rest(&mut self, to: &Destination<'_>, rest: &Scan) -> Result<()> {
        match self.log {
            Some((header, from)) if rest.end != from => self.send_scan(to, &header, from, rest),
            _ => Ok(()),
        }
    }

    /// Whether there may be transactions to send, or another file has the name. Costs three short system calls.
    pub(crate) fn has_news(&self) -> bool {
        let look = || -> io::Result<bool> {
            let Some(header) = LogHeader::read(&self.log_file)? else { return Ok(false) };
            Ok(match &self.log {
                Some((known, end)) if *known == header => self.has_frame(&header, *end)?,
                _ => true,
            })
        };
        look().unwrap_or(true) || !self.has_its_file()
    }

    /// Whether a transaction may have begun after that place.
    fn has_frame(&self, header: &LogHeader, end: LogEnd) -> io::Result<bool> {
        match &self.rolled_back {
            Some(rolled_back) => Ok(!rolled_back.are_last_in(&self.log_file, header)?),
            None => Ok(log::frame_at(&self.log_file, header, end.offset)?.is_some()),
        }
    }

    /// When the next snapshot is due; `None` while nothing was stored since the last one.
    pub(crate) fn snapshot_due(&self) -> Option<Timestamp> {
        let (time, position) = self.snapshot;
        (self.stored != position).then(|| time.plus_seconds(REPLICA_SNAPSHOT_EVERY_S))
    }

    /// The end of the chain in the store; `None` if the log has none yet, such as one that was restarted.
    pub(crate) fn stored_end(&self) -> Option<StoredEnd> {
        let (log, end) = self.log?;
        let position = Position { log: self.number, offset: end.offset };
        (self.stored == position).then_some(StoredEnd {
            id: self.id,
            position,
            log,
            end,
            time: self.last_time,
            snapshot: self.snapshot,
        })
    }

    /// Whether the log should be carried over because of its length.
    fn has_long_log(&self) -> bool {
        let end = self.log.map_or(0, |(_, end)| end.offset);
        !self.is_carried_over && end >= REPLICA_LOG_MAX_BYTES
    }

    /// Whether nobody has written for some time.
    pub(crate) fn is_idle(&self, now: Timestamp) -> bool {
        self.log.is_some() && self.last_time.plus_seconds(REPLICA_IDLE_S) <= now
    }

    /// Whether so much of the log waits to be sent that the chain should be given up, so that the log can be carried over.
    pub(crate) fn is_overdue(&self) -> bool {
        let look = || -> io::Result<bool> {
            let Some(header) = LogHeader::read(&self.log_file)? else { return Ok(false) };
            let from = match &self.log {
                Some((known, end)) if *known == header => *end,
                _ => LogEnd::start(&header),
            };
            let frame = header.frame_bytes() as u64;
            let waiting = REPLICA_WAITING_LOG_MAX_BYTES / frame * frame;
            Ok(log::frame_at(&self.log_file, &header, from.offset + waiting)?.is_some())
        };
        look().unwrap_or(true)
    }

    /// Sends all transactions that are in the log.
    pub(crate) fn send(&mut self, to: &Destination<'_>) -> Result<SendOutcome> {
        if !self.has_its_file() {
            return Ok(SendOutcome::Broken("another file has its name now"));
        }
        let mut has_sent = false;
        loop {
            // The log must not grow until the disk is full, where the store is slower than the writers.
            if self.is_overdue() {
                return Ok(SendOutcome::Broken("too much of its log waits"));
            }
            let Some(end) = self.next_log()? else {
                return Ok(SendOutcome::Broken("its log was not continued"));
            };
            let Some((header, end)) = end else { break };
            if !self.has_frame(&header, end).map_err(Problem::internal)? {
                break;
            }
            let Some(scan) = self.scan(&header, end)? else {
                return Ok(SendOutcome::Broken("a transaction is too long for a segment"));
            };
            if scan.end == end {
                break;
            }
            self.send_scan(to, &header, end, &scan)?;
            has_sent = true;
            if !scan.has_more {
                break;
            }
        }
        if has_sent {
            self.connections.advance()?;
        }
        Ok(SendOutcome::UpToDate)
    }

    /// The log to read and the place in it; `None` if the chain is broken, `Some(None)` if the log is empty.
    #[expect(clippy::option_option, reason = "an empty log does not break the chain")]
    fn next_log(&mut self) -> Result<Option<Option<(LogHeader, LogEnd)>>> {
        let found = LogHeader::read(&self.log_file).map_err(Problem::internal)?;
        let Some(header) = found else { return Ok(Some(None)) };
        match &self.log {
            Some((known, end)) if *known == header => {
                let is_there = end.is_in(&self.log_file, known).map_err(Problem::internal)?;
                return Ok(is_there.then_some(Some((header, *end))));
            }
            Some((known, _)) if !header.follows(known) => return Ok(None),
            Some(_) => self.number += 1,
            None => {}
        }
        let start = LogEnd::start(&header);
        self.log = Some((header, start));
        self.sent = SentLog::begin(self.stored, start);
        (self.rolled_back, self.is_carried_over) = (None, false);
        Ok(Some(Some((header, start))))
    }

    /// The next transactions; `None` if one is too long.
    fn scan(&self, header: &LogHeader, end: LogEnd) -> Result<Option<Scan>> {
        let (most, longest) = (REPLICA_SEGMENT_MAX_BYTES, REPLICA_TRANSACTION_MAX_BYTES);
        log::scan(&self.log_file, header, end, most, longest).map_err(Problem::internal)
    }

    fn now(&self, clock: &dyn Clock) -> Timestamp {
        clock.now().max(self.last_time)
    }

    /// Sends transactions as a segment.
    fn send_scan(
        &mut self,
        to: &Destination<'_>,
        header: &LogHeader,
        from: LogEnd,
        scan: &Scan,
    ) -> Result<()> {
        let now = self.now(to.clock);
        if self.found.last().is_none_or(|(_, offset)| *offset < scan.end.offset) {
            self.found.push((now.milliseconds(), scan.end.offset));
        }
        let segment = SegmentHeader::new(self.stored, from, header, self.found.clone());
        let key = self.segment_key(from, scan.end, now);
        to.store.put(&to.key(&key), segment.encode(&scan.frames)?)?;
        self.sent.found.append(&mut self.found);
        self.sent.keys.push(key);
        self.stored = Position { log: self.number, offset: scan.end.offset };
        self.log = Some((*header, scan.end));
        self.last_time = now;
        (self.rolled_back, self.is_carried_over) = (None, false);
        Ok(())
    }

    fn segment_key(&self, from: LogEnd, end: LogEnd, time: Timestamp) -> ObjectKey {
        let from = Position { log: self.number, offset: from.offset };
        ObjectKey { chain: self.id, kind: ObjectKind::Segment(from, end.offset), time }
    }

    /// Carries a long log over into the file, so that SQLite restarts it. Writers wait for a moment.
    pub(crate) fn carry_over(&mut self, to: &Destination<'_>) -> Result<SendOutcome> {
        let Some((header, end)) = self.log else { return Ok(SendOutcome::UpToDate) };
        if !self.has_long_log() {
            return Ok(SendOutcome::UpToDate);
        }
        // Most pages, while others write. If many are left, somebody reads an older state.
        if self.connections.carry_over()? > REPLICA_LOCKED_PAGES_MAX_COUNT {
            return Ok(SendOutcome::UpToDate);
        }
        let mut frames = self.frames_to_merge(&header, end)?;
        let log_file = &self.log_file;
        let carried_over = self.connections.while_nobody_writes(|reading| {
            let (most, longest) = (REPLICA_SEGMENT_MAX_BYTES, REPLICA_TRANSACTION_MAX_BYTES);
            let rest = log::scan(log_file, &header, end, most, longest);
            let is_same = LogHeader::read(log_file).map_err(Problem::internal)? == Some(header);
            match rest.map_err(Problem::internal)? {
                Some(rest) if is_same && !rest.has_more => Ok(Some((rest, reading.carry_over()?))),
                _ => Ok(None),
            }
        });
        if carried_over.is_err() && !self.connections.is_reading() {
            // Writers may restart the log before its last transactions are sent.
            return Ok(SendOutcome::Broken("no connection protects its log"));
        }
        // A writer was busy, or too much was written since the log was sent; the next time it may be less.
        let Some((rest, is_carried_over)) = carried_over?.flatten() else {
            return Ok(SendOutcome::UpToDate);
        };
        if rest.end != end && self.send_scan(to, &header, end, &rest).is_err() {
            // The next writer may restart the log.
            return Ok(SendOutcome::Broken("its last transactions could not be sent"));
        }
        self.is_carried_over = is_carried_over;
        if let Some(frames) = frames.as_mut().filter(|_| is_carried_over) {
            frames.extend_from_slice(&rest.frames);
            if let Err(problem) = self.merge(to, &header, rest.end, frames) {
                tracing::debug!(%problem, "segments were not merged");
            }
        }
        Ok(SendOutcome::UpToDate)
    }

    /// Merges the segments of a log to which nobody writes any more.
    pub(crate) fn merge_idle(&mut self, to: &Destination<'_>) -> Result<()> {
        let Some((header, end)) = self.log else { return Ok(()) };
        match self.frames_to_merge(&header, end)? {
            Some(frames) => self.merge(to, &header, end, &frames),
            None => Ok(()),
        }
    }

    /// Closes a file that nobody replicates any more. Its log is removed unless somebody else has it open.
    pub(crate) fn close_with_log(self) {
        self.connections.close_with_log();
    }

    /// The frames that were sent of this log, if they are in enough segments that merging them shortens a restore.
    fn frames_to_merge(&self, header: &LogHeader, end: LogEnd) -> Result<Option<Vec<u8>>> {
        let (from, longest) = (self.sent.from, REPLICA_TRANSACTION_MAX_BYTES);
        let bytes = end.offset - from.offset;
        if self.sent.keys.len() < REPLICA_MERGED_SEGMENTS_MIN_COUNT || bytes > longest {
            return Ok(None);
        }
        let scan = log::scan(&self.log_file, header, from, bytes, longest);
        let scan = scan.map_err(Problem::internal)?.filter(|scan| scan.end == end);
        Ok(scan.map(|scan| scan.frames))
    }

    /// Replaces the segments of a log by one.
    fn merge(
        &mut self,
        to: &Destination<'_>,
        header: &LogHeader,
        end: LogEnd,
        frames: &[u8],
    ) -> Result<()> {
        let SentLog { after, from, found, keys } = &mut self.sent;
        let segment = SegmentHeader::new(*after, *from, header, found.clone());
        let merged = std::mem::take(keys);
        let key = self.segment_key(self.sent.from, end, self.last_time);
        to.store.put(&to.key(&key), segment.encode(frames)?)?;
        self.sent.keys.push(key);
        merged.iter().try_for_each(|key| to.store.delete(&to.key(key)))
    }

    /// Sends the rest of the log, and begins to read the state at its end for a further snapshot.
    pub(crate) fn state(&mut self, to: &Destination<'_>) -> Result<Option<SnapshotState>> {
        let Some((header, end)) = self.log else { return Ok(None) };
        let log_file = &self.log_file;
        let found = self.connections.while_nobody_writes(|_| {
            let (most, longest) = (REPLICA_SEGMENT_MAX_BYTES, REPLICA_TRANSACTION_MAX_BYTES);
            let rest = log::scan(log_file, &header, end, most, longest);
            let is_same = LogHeader::read(log_file).map_err(Problem::internal)? == Some(header);
            Ok((rest.map_err(Problem::internal)?.filter(|_| is_same), FileState::read(&self.file)?))
        })?;
        let Some((rest, state)) = found else { return Ok(None) };
        let Some(rest) = rest.filter(|rest| !rest.has_more) else { return Ok(None) };
        if rest.end != end {
            self.send_scan(to, &header, end, &rest)?;
        }
        let time = self.now(to.clock);
        self.last_time = time;
        let kind = ObjectKind::Snapshot(self.stored);
        let key = ObjectKey { chain: self.id, kind, time };
        Ok(Some(SnapshotState { key, state, log: self.log }))
    }

    fn has_its_file(&self) -> bool {
        identity(&self.file).is_ok_and(|found| found == self.identity)
    }
}

impl SentLog {
    fn begin(after: Position, from: LogEnd) -> Self {
        Self { after, from, found: Vec::new(), keys: Vec::new() }
    }
}

/// The write-ahead log of a file.
pub(crate) fn log_of(file: &Path) -> PathBuf {
    let mut log = OsString::from(file);
    log.push("-wal");
    log.into()
}

fn busy(file: &Path) -> Problem {
    let message = message!(
        "a transaction writes to the file '{file}' for a long time; it is replicated afterwards",
        file = file.display()
    );
    Problem::new(ProblemKind::Unavailable, message)
}

pub(crate) fn identity(file: &Path) -> io::Result<(u64, u64)> {
    let data = fs::metadata(file)?;
    Ok((data.dev(), data.ino()))
}
