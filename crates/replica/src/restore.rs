//! Restores a file: the last snapshot before a time, and the transactions between the two.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};

use crate::key::{ObjectKey, ObjectKind, Position};
use crate::limits::REPLICA_DOWNLOADS_MAX_COUNT;
use crate::objects::ReplicaStore;
use crate::retention::{base, keys};
use crate::segment::SegmentHeader;
use crate::sql;

/// The times to which a file can be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestorableTimes {
    /// The first one.
    pub earliest: Timestamp,
    /// The time of the last stored transaction. A restore to a later time has the same result.
    pub latest: Timestamp,
    /// When the newest snapshot was made.
    pub snapshot: Timestamp,
}

/// A restored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoredState {
    /// When its last transaction was found, at most half a second after it was committed.
    pub time: Timestamp,
    /// The epoch of the server that replicated it.
    pub epoch: u64,
    /// The place in the chain of that epoch.
    pub position: Position,
    /// Bytes of the restored file.
    pub bytes: u64,
}

/// The times to which a replica can be restored; `None` if it has no snapshot.
pub fn restorable_times(store: &ReplicaStore, prefix: &str) -> Result<Option<RestorableTimes>> {
    let keys = keys(store, prefix)?;
    let snapshots = keys.iter().filter(|(key, _)| key.snapshot().is_some());
    let Some(earliest) = snapshots.map(|(key, _)| key.time).min() else { return Ok(None) };
    let last = base(keys.iter().map(|(key, _)| key), Timestamp::from_milliseconds(i64::MAX));
    let in_last = |key: &ObjectKey| last.is_some_and(|last| last.chain == key.chain);
    let times = keys.iter().map(|(key, _)| key).filter(|key| in_last(key)).map(|key| key.time);
    let latest = times.max().unwrap_or(earliest);
    Ok(Some(RestorableTimes {
        earliest,
        latest,
        snapshot: last.map_or(earliest, |last| last.time),
    }))
}

/// Restores the newest state at or before `until`, or the newest one at all, as the new file `target`. If several
/// servers replicated the file, the one with the larger epoch counts from its first snapshot on. `progress` receives
/// bytes that were downloaded, and all bytes to download.
///
/// Errors: `Conflict` if `target` exists; `NotFound` if the replica has no state that old; `Invalid` if an object is
/// missing or damaged.
pub fn restore(
    store: &ReplicaStore,
    prefix: &str,
    until: Option<Timestamp>,
    target: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RestoredState> {
    // SQLite would apply a log that was left beside the restored file.
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut existing = target.as_os_str().to_owned();
        existing.push(end);
        if Path::new(&existing).exists() {
            let message = message!(
                "the file '{existing}' exists already; move it",
                existing = existing.display()
            );
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
    }
    let disk = |fault: io::Error| lyceum_blob::failed("restore a file", &fault);
    let folder = target.parent().unwrap_or(Path::new("."));
    let draft = tempfile::tempdir_in(folder).map_err(disk)?;
    let file = draft.path().join("restored.sqlite");
    let plan = Plan::new(store, prefix, until)?;
    let mut restore = Restore { store, prefix, until, progress, done: 0, total: plan.bytes() };
    let state = restore.run(&plan, &file)?;
    if let Some(fault) = sql::check(&file) {
        return Err(damaged(message!(
            "the database '{prefix}' is damaged after its restore: {fault}"
        )));
    }
    let finished = || -> io::Result<u64> {
        let restored = File::open(&file)?;
        restored.sync_all()?;
        // Unlike renaming, this does not replace a file.
        fs::hard_link(&file, target)?;
        File::open(folder)?.sync_all()?;
        Ok(restored.metadata()?.len())
    };
    Ok(RestoredState { bytes: finished().map_err(disk)?, ..state })
}

/// The objects that a restore reads, in order, with their sizes.
struct Plan {
    base: (ObjectKey, u64),
    segments: Vec<(ObjectKey, u64)>,
}

impl Plan {
    fn new(store: &ReplicaStore, prefix: &str, until: Option<Timestamp>) -> Result<Self> {
        let keys = keys(store, prefix)?;
        let newest = Timestamp::from_milliseconds(i64::MAX);
        let base = base(keys.iter().map(|(key, _)| key), until.unwrap_or(newest));
        let Some(base) = base else { return Err(nothing_to_restore(store, prefix)) };
        let base = keys.iter().find(|(key, _)| *key == base).copied().expect("it is one of them");
        let mut segments: Vec<_> = keys
            .into_iter()
            .filter(|(key, _)| key.chain == base.0.chain && key.segment().is_some())
            .collect();
        // Of two that begin at the same place, the longer one is the result of merging.
        segments.sort_by_key(|(key, _)| key.segment().map(|(from, end)| (from, u64::MAX - end)));
        let mut at = base.0.snapshot().unwrap_or_default();
        segments.retain(|(key, _)| {
            let Some((from, end)) = key.segment() else { return false };
            let end = Position { log: from.log, offset: end };
            let is_new = end > at;
            at = at.max(end);
            is_new
        });
        if let Some(until) = until {
            // The first segment that ends later may have transactions from before.
            let needed = segments.iter().take_while(|(key, _)| key.time <= until).count() + 1;
            segments.truncate(needed);
        }
        Ok(Self { base, segments })
    }

    fn bytes(&self) -> u64 {
        self.base.1 + self.segments.iter().map(|(_, bytes)| bytes).sum::<u64>()
    }
}

impl ObjectKey {
    /// Where a segment begins, and its end in the same log.
    pub(crate) fn segment(&self) -> Option<(Position, u64)> {
        match self.kind {
            ObjectKind::Segment(from, end) => Some((from, end)),
            ObjectKind::Snapshot(_) => None,
        }
    }
}

struct Restore<'a> {
    store: &'a ReplicaStore,
    prefix: &'a str,
    until: Option<Timestamp>,
    progress: &'a mut dyn FnMut(u64, u64),
    done: u64,
    total: u64,
}

impl Restore<'_> {
    fn run(&mut self, plan: &Plan, to: &Path) -> Result<RestoredState> {
        let file = self.snapshot(plan.base.0, to)?;
        self.report(plan.base.1);
        let mut state = RestoredState {
            time: plan.base.0.time,
            epoch: plan.base.0.chain.epoch,
            position: plan.base.0.snapshot().unwrap_or_default(),
            bytes: 0,
        };
        for keys in plan.segments.chunks(REPLICA_DOWNLOADS_MAX_COUNT) {
            for ((key, size), bytes) in keys.iter().zip(self.download(keys)) {
                // The last segment of a plan may be later as a whole.
                if self.until.is_some_and(|until| until <= state.time && until < key.time) {
                    continue;
                }
                let bytes = bytes?.ok_or_else(|| self.missing(key))?;
                self.apply(key, &bytes, &file, &mut state)?;
                self.report(*size);
            }
        }
        Ok(state)
    }

    fn report(&mut self, bytes: u64) {
        self.done += bytes;
        (self.progress)(self.done, self.total);
    }

    fn snapshot(&self, key: ObjectKey, to: &Path) -> Result<File> {
        let reader = self.store.reader(&self.name(&key))?.ok_or_else(|| self.missing(&key))?;
        let file = File::options().read(true).write(true).create_new(true).open(to);
        let mut file = file.map_err(|fault| lyceum_blob::failed("restore a file", &fault))?;
        let copied = zstd::Decoder::new(reader).and_then(|mut from| io::copy(&mut from, &mut file));
        copied.map_err(|fault| self.unreadable(&key, &fault))?;
        Ok(file)
    }

    fn download(&self, keys: &[(ObjectKey, u64)]) -> Vec<Result<Option<Vec<u8>>>> {
        thread::scope(|scope| {
            let get = |(key, _): &(ObjectKey, u64)| {
                let name = self.name(key);
                let store = self.store;
                scope.spawn(move || store.get(&name))
            };
            let downloads: Vec<_> = keys.iter().map(get).collect();
            let done = |download: thread::ScopedJoinHandle<'_, _>| {
                download.join().expect("downloads do not panic")
            };
            downloads.into_iter().map(done).collect()
        })
    }

    /// Writes the transactions of a segment that follow the state and are not too late.
    fn apply(
        &self,
        key: &ObjectKey,
        bytes: &[u8],
        file: &File,
        state: &mut RestoredState,
    ) -> Result<()> {
        let (header, frames) =
            SegmentHeader::decode(bytes).map_err(|fault| self.unreadable(key, &fault))?;
        let (from, _) = key.segment().expect("a plan has segments after its snapshot");
        let is_next = header.after == state.position
            || from.log == state.position.log && from.offset <= state.position.offset;
        if !is_next {
            return Err(self.gap(state, key, header.after));
        }
        let is_early = |time: i64| self.until.is_none_or(|until| time <= until.milliseconds());
        let found = header.found.iter().rev().find(|(time, _)| is_early(*time));
        let Some((time, end)) = found.copied() else { return Ok(()) };
        let log = header.log();
        let (mut offset, mut checksum) = header.from;
        for frame in frames.chunks_exact(log.frame_bytes()) {
            let Some(frame) = log.check(checksum, frame) else {
                return Err(self.unreadable(key, &io::Error::other("a checksum is wrong")));
            };
            checksum = frame.checksum;
            offset += log.frame_bytes() as u64;
            let at = Position { log: from.log, offset };
            if offset > end || at <= state.position {
                continue;
            }
            let page_at = u64::from(frame.number - 1) * u64::from(log.page_bytes);
            let mut written = file.write_all_at(frame.page, page_at);
            if frame.pages > 0 {
                let size = u64::from(frame.pages) * u64::from(log.page_bytes);
                written = written.and_then(|()| file.set_len(size));
            }
            written.map_err(|fault| lyceum_blob::failed("restore a file", &fault))?;
        }
        state.position = state.position.max(Position { log: from.log, offset: end });
        state.time = state.time.max(Timestamp::from_milliseconds(time));
        Ok(())
    }

    fn name(&self, key: &ObjectKey) -> String {
        format!("{}/{key}", self.prefix)
    }

    fn missing(&self, key: &ObjectKey) -> Problem {
        damaged(message!(
            "the replica object '{name}' is missing; restore to a time before {key.time}",
            name = self.name(key)
        ))
    }

    fn unreadable(&self, key: &ObjectKey, fault: &io::Error) -> Problem {
        damaged(message!(
            "the replica object '{name}' is damaged ({fault}); restore to a time before {key.time}",
            name = self.name(key)
        ))
    }

    fn gap(&self, state: &RestoredState, key: &ObjectKey, after: Position) -> Problem {
        let (prefix, name) = (self.prefix, self.name(key));
        damaged(message!(
            "a segment of the replica '{prefix}' is missing: the one that begins at {state.position} and ends at \
             {after}, before the object '{name}'; restore to {state.time} or an earlier time"
        ))
    }
}

fn damaged(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

fn nothing_to_restore(store: &ReplicaStore, prefix: &str) -> Problem {
    let message = match restorable_times(store, prefix) {
        Ok(Some(times)) => message!(
            "the replica '{prefix}' begins at {times.earliest}; restore to that time or a later one"
        ),
        Ok(None) => message!("there is no replica '{prefix}'"),
        Err(problem) => return problem,
    };
    Problem::new(ProblemKind::NotFound, message)
}
