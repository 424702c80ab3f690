//! Follows many files with few threads: one looks for new transactions, some send segments, some send snapshots.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Problem, ProblemKind, Result};

use crate::chain::{Chain, Destination, SendOutcome};
use crate::key::ChainId;
use crate::limits::{
    REPLICA_LOOK_EVERY_MS, REPLICA_RETRY_MAX_MS, REPLICA_RETRY_MIN_MS, REPLICA_SEGMENT_THREADS,
    REPLICA_SNAPSHOT_EVERY_S, REPLICA_SNAPSHOT_THREADS,
};
use crate::objects::ReplicaStore;
use crate::{retention, snapshot};

/// Replicates SQLite files that have a write-ahead log. Dropping it ends its threads after their uploads in progress.
pub struct Replicator {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Ends the thread that looks for transactions when it is dropped.
    stop: Option<Sender<()>>,
}

struct Shared {
    /// `None` until it is known.
    store: Mutex<Option<ReplicaStore>>,
    clock: Arc<dyn Clock>,
    keep_days: u32,
    is_ending: AtomicBool,
    files: Mutex<HashMap<PathBuf, Arc<ReplicatedFile>>>,
}

struct ReplicatedFile {
    file: PathBuf,
    prefix: String,
    /// `None` if this server alone replicates it.
    epoch: Option<u64>,
    /// Whether it waits for a thread.
    is_queued: AtomicBool,
    /// When the oldest transaction was found that is not stored, in milliseconds since 1970; 0 if all are stored.
    waiting_since: AtomicI64,
    is_removed: AtomicBool,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    /// `None` until the first snapshot, and after a break.
    chain: Option<Chain>,
    /// The epoch of this server, once it is known.
    epoch: Option<u64>,
    failures: u32,
    retry_at: Option<Instant>,
    error: Option<String>,
}

/// The state of all replicated files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicationStatus {
    /// The number of replicated files.
    pub files: usize,
    /// The age of the oldest transaction that is not stored yet, in milliseconds; 0 if all are stored.
    pub lag_ms: u64,
    /// The files that could not be replicated at the last try, with the cause.
    pub failures: Vec<(PathBuf, String)>,
}

/// Work for a thread.
type Work = Arc<ReplicatedFile>;

impl Replicator {
    /// Starts the threads. They wait for [`Replicator::replicate_into`]. `keep_days` is the number of days to which files
    /// can be restored.
    pub fn start(clock: Arc<dyn Clock>, keep_days: u32) -> Result<Self> {
        let (store, files, is_ending) = (Mutex::default(), Mutex::default(), AtomicBool::default());
        let shared = Arc::new(Shared { store, clock, keep_days, is_ending, files });
        let (segments, waiting_segments) = unbounded();
        let (snapshots, waiting_snapshots) = unbounded();
        let (stop, stopped) = unbounded();
        let mut threads = Vec::new();
        let for_look = Arc::clone(&shared);
        threads.push(spawn("replica-look", move || {
            for_look.look(&stopped, &segments, &snapshots);
        })?);
        for _ in 0..REPLICA_SEGMENT_THREADS {
            let (shared, waiting) = (Arc::clone(&shared), waiting_segments.clone());
            threads.push(spawn("replica-segment", move || {
                waiting.iter().for_each(|file: Work| shared.run(&file, Shared::send_news));
            })?);
        }
        for _ in 0..REPLICA_SNAPSHOT_THREADS {
            let (shared, waiting) = (Arc::clone(&shared), waiting_snapshots.clone());
            threads.push(spawn("replica-snapshot", move || {
                waiting.iter().for_each(|file: Work| shared.run(&file, Shared::send_snapshot));
            })?);
        }
        Ok(Self { shared, threads, stop: Some(stop) })
    }

    /// Replicates into this store from now on. All files are replicated anew.
    pub fn replicate_into(&self, store: ReplicaStore) {
        *self.shared.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(store);
        let files: Vec<_> = self.shared.files().values().cloned().collect();
        for file in files {
            let mut progress = file.progress();
            (progress.chain, progress.epoch, progress.retry_at) = (None, None, None);
        }
    }

    /// Replicates an existing file from now on, below `prefix` in the store. `epoch` is larger than that of each other
    /// server that replicated the file before; without it, it follows the last one in the store. A file that is replicated
    /// already stays so, with the epoch given now.
    pub fn add(&self, file: &Path, prefix: &str, epoch: Option<u64>) {
        let mut files = self.shared.files();
        let is_known = |known: &Arc<ReplicatedFile>| known.prefix == prefix && known.epoch == epoch;
        if files.get(file).is_some_and(is_known) {
            return;
        }
        let added = ReplicatedFile {
            file: file.to_owned(),
            prefix: prefix.to_owned(),
            epoch,
            is_queued: AtomicBool::default(),
            waiting_since: AtomicI64::new(self.shared.clock.now().milliseconds()),
            is_removed: AtomicBool::default(),
            progress: Mutex::default(),
        };
        if !files.contains_key(file) {
            snapshot::remove_leftovers(file);
        }
        if let Some(before) = files.insert(file.to_owned(), Arc::new(added)) {
            before.is_removed.store(true, SeqCst);
        }
    }

    /// Stops replicating a file, after everything committed so far is stored. A file that is not replicated is ignored.
    ///
    /// Errors: `Unavailable` if the store failed. The file is no longer replicated even then.
    pub fn remove(&self, file: &Path) -> Result<()> {
        let Some(removed) = self.shared.files().remove(file) else { return Ok(()) };
        let mut progress = removed.progress();
        let sent = self.shared.send(&removed, &mut progress);
        removed.is_removed.store(true, SeqCst);
        progress.chain = None;
        sent
    }

    /// Returns once everything that was committed to the file before the call is in the store.
    ///
    /// Errors: `NotFound` if the file is not replicated; `Unavailable` if the store failed. It is tried again later.
    pub fn flush(&self, file: &Path) -> Result<()> {
        let Some(known) = self.shared.files().get(file).cloned() else {
            let message = format!("the file '{}' is not replicated", file.display());
            return Err(Problem::new(ProblemKind::NotFound, message));
        };
        let mut progress = known.progress();
        self.shared.send(&known, &mut progress)
    }

    /// Stops replicating all files, after everything committed so far is stored. It gives up at the first file for which
    /// the store fails.
    pub fn stop(&self) -> Result<()> {
        let files: Vec<PathBuf> = self.shared.files().keys().cloned().collect();
        let stored: Vec<Result<()>> = files.iter().map(|file| self.remove(file)).collect();
        stored.into_iter().collect()
    }

    /// Runs work that needs the whole write-ahead log of a file, such as emptying it. The file is replicated anew after
    /// it.
    pub fn while_released<T>(&self, file: &Path, work: impl FnOnce() -> T) -> T {
        let Some(known) = self.shared.files().get(file).cloned() else { return work() };
        let mut progress = known.progress();
        if let Err(problem) = self.shared.send(&known, &mut progress) {
            tracing::warn!(file = %file.display(), %problem, "a file is changed before it was replicated");
        }
        progress.chain = None;
        work()
    }

    /// The state of all replicated files.
    pub fn status(&self) -> ReplicationStatus {
        let files = self.shared.files();
        let now = self.shared.clock.now().milliseconds();
        let lag = |file: &Arc<ReplicatedFile>| match file.waiting_since.load(SeqCst) {
            0 => 0,
            since => u64::try_from(now - since).unwrap_or(0).max(1),
        };
        let failure = |file: &Arc<ReplicatedFile>| {
            // A file in work tells its state later.
            let error = file.progress.try_lock().ok()?.error.clone()?;
            Some((file.file.clone(), error))
        };
        ReplicationStatus {
            files: files.len(),
            lag_ms: files.values().map(lag).max().unwrap_or(0),
            failures: files.values().filter_map(failure).collect(),
        }
    }
}

impl Drop for Replicator {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, SeqCst);
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn files(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<ReplicatedFile>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for files with new transactions until the replicator is dropped.
    fn look(&self, stopped: &Receiver<()>, segments: &Sender<Work>, snapshots: &Sender<Work>) {
        let pause = Duration::from_millis(REPLICA_LOOK_EVERY_MS);
        while stopped.recv_timeout(pause).is_err_and(|stop| stop.is_timeout()) {
            let files: Vec<Work> = self.files().values().cloned().collect();
            let now = self.clock.now();
            for file in files.into_iter().filter(|file| !file.is_queued.load(SeqCst)) {
                let due = file.progress.try_lock().ok().and_then(|progress| progress.due(now));
                let queue = match due {
                    Some(DueWork::Segment) => segments,
                    Some(DueWork::Snapshot) => snapshots,
                    None => continue,
                };
                if due == Some(DueWork::Segment) {
                    let now = now.milliseconds();
                    let _ = file.waiting_since.compare_exchange(0, now, SeqCst, SeqCst);
                }
                file.is_queued.store(true, SeqCst);
                let _ = queue.send(file);
            }
        }
    }

    fn run(&self, file: &Work, work: impl Fn(&Self, &ReplicatedFile) -> Result<()>) {
        if self.is_ending.load(SeqCst) {
            return;
        }
        if let Err(problem) = work(self, file) {
            tracing::debug!(file = %file.file.display(), %problem, "replication failed");
        }
        file.is_queued.store(false, SeqCst);
    }

    fn send_news(&self, file: &ReplicatedFile) -> Result<()> {
        self.send(file, &mut file.progress())
    }

    /// Begins a chain, or adds a snapshot to it.
    fn send_snapshot(&self, file: &ReplicatedFile) -> Result<()> {
        let mut progress = file.progress();
        let to = self.destination(file)?;
        let Some(chain) = &mut progress.chain else {
            return self.send(file, &mut progress);
        };
        let Some(state) = chain.state(&to)? else { return Ok(()) };
        drop(progress);
        let key = state.key;
        let sent = snapshot::send(&file.file, state, &to);
        let mut progress = file.progress();
        if let (Ok(()), Some(chain), Some(at)) = (&sent, &mut progress.chain, key.snapshot())
            && chain.id == key.chain
        {
            chain.snapshot = (key.time, at);
        }
        progress.note(file, &sent);
        drop(progress);
        sent.and_then(|()| self.remove_old(&to))
    }

    /// Sends everything that was committed to a file.
    fn send(&self, file: &ReplicatedFile, progress: &mut Progress) -> Result<()> {
        if !file.file.exists() {
            // It was deleted with its project, or its database has another file now.
            file.is_removed.store(true, SeqCst);
            self.files().retain(|_, known| !known.is_removed.load(SeqCst));
        }
        if file.is_removed.load(SeqCst) {
            progress.chain = None;
            return Ok(());
        }
        let sent = self.try_to_send(file, progress);
        match &sent {
            Ok(()) => file.waiting_since.store(0, SeqCst),
            Err(_) => {
                let now = self.clock.now().milliseconds();
                let _ = file.waiting_since.compare_exchange(0, now, SeqCst, SeqCst);
                if progress.chain.as_ref().is_some_and(Chain::is_overdue) {
                    progress.chain = None;
                }
            }
        }
        progress.note(file, &sent);
        sent
    }

    fn try_to_send(&self, file: &ReplicatedFile, progress: &mut Progress) -> Result<()> {
        let to = self.destination(file)?;
        if let Some(chain) = &mut progress.chain {
            let outcome = match chain.send(&to)? {
                SendOutcome::UpToDate => chain.carry_over(&to)?,
                broken @ SendOutcome::Broken(_) => broken,
            };
            let SendOutcome::Broken(why) = outcome else { return Ok(()) };
            progress.chain = None;
            tracing::info!(file = %file.file.display(), why, "a new snapshot is needed");
        }
        let id = self.next_chain(file, progress, &to)?;
        let (mut chain, state) = Chain::begin(&file.file, id, &*self.clock)?;
        snapshot::send(&file.file, state, &to)?;
        let outcome = chain.send(&to)?;
        progress.chain = matches!(outcome, SendOutcome::UpToDate).then_some(chain);
        self.remove_old(&to)
    }

    /// The id of the chain after those in the store.
    fn next_chain(
        &self,
        file: &ReplicatedFile,
        progress: &mut Progress,
        to: &Destination<'_>,
    ) -> Result<ChainId> {
        let keys = retention::keys(&to.store, to.prefix)?;
        let chains = || keys.iter().map(|(key, _)| key.chain);
        let last = || chains().max().map_or(0, |last| last.epoch);
        let epoch = *progress.epoch.get_or_insert_with(|| file.epoch.unwrap_or_else(|| last() + 1));
        let numbers = chains().filter(|chain| chain.epoch == epoch).map(|chain| chain.number);
        Ok(ChainId { epoch, number: numbers.max().map_or(0, |last| last + 1) })
    }

    /// Deletes objects that no restore to the last days needs.
    fn remove_old(&self, to: &Destination<'_>) -> Result<()> {
        let cutoff = self.clock.now().plus_seconds(-i64::from(self.keep_days) * 24 * 60 * 60);
        retention::remove_old(&to.store, to.prefix, cutoff)
    }

    /// Errors: `Unavailable` until the store is known.
    fn destination<'a>(&'a self, file: &'a ReplicatedFile) -> Result<Destination<'a>> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let store = store.ok_or_else(|| {
            let message = "the store of replicas has not answered since this server started";
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        Ok(Destination { store, prefix: &file.prefix, clock: &*self.clock })
    }
}

impl ReplicatedFile {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum DueWork {
    Segment,
    Snapshot,
}

impl Progress {
    fn due(&self, now: Timestamp) -> Option<DueWork> {
        if self.retry_at.is_some_and(|at| Instant::now() < at) {
            return None;
        }
        let Some(chain) = &self.chain else { return Some(DueWork::Snapshot) };
        if chain.has_news() || chain.is_idle(now) {
            return Some(DueWork::Segment);
        }
        let is_old = chain.snapshot.0.plus_seconds(REPLICA_SNAPSHOT_EVERY_S) <= now;
        (is_old && chain.has_changed()).then_some(DueWork::Snapshot)
    }

    fn note(&mut self, file: &ReplicatedFile, sent: &Result<()>) {
        match sent {
            Ok(()) => {
                if self.failures > 0 {
                    tracing::info!(file = %file.file.display(), "a file is replicated again");
                }
                (self.failures, self.retry_at, self.error) = (0, None, None);
            }
            Err(problem) => {
                let cause = problem.cause.as_ref().map_or(String::new(), ToString::to_string);
                if self.failures == 0 {
                    tracing::warn!(file = %file.file.display(), %problem, cause, "a file is not replicated");
                }
                let pause = REPLICA_RETRY_MAX_MS.min(REPLICA_RETRY_MIN_MS << self.failures.min(16));
                self.failures += 1;
                self.retry_at = Some(Instant::now() + Duration::from_millis(pause));
                self.error = Some(if cause.is_empty() { problem.to_string() } else { cause });
            }
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Problem::internal)
}
