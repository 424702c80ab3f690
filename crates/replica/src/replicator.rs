//! Follows many files with few threads: one looks for new transactions, some send segments, some send snapshots.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use lyceum_core::time::Clock;
use lyceum_core::{Problem, ProblemKind, Result, message};

use crate::chain::{Chain, Destination, SendOutcome};
use crate::key::ChainId;
use crate::limits::{REPLICA_LOOK_EVERY_MS, REPLICA_SEGMENT_THREADS, REPLICA_SNAPSHOT_THREADS};
use crate::objects::ReplicaStore;
use crate::progress::{Progress, ReplicatedFile, Upload};
use crate::resume::StoredEnd;
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
    open_max: usize,
    is_ending: AtomicBool,
    files: Mutex<HashMap<PathBuf, Arc<ReplicatedFile>>>,
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

impl Replicator {
    /// Starts the threads. They wait for [`Replicator::replicate_into`]. `keep_days` is the number of days to which files
    /// can be restored. Of more than `open_max` open files, those are closed that changed least recently.
    pub fn start(clock: Arc<dyn Clock>, keep_days: u32, open_max: usize) -> Result<Self> {
        let (store, files, is_ending) = (Mutex::default(), Mutex::default(), AtomicBool::default());
        let shared = Arc::new(Shared { store, clock, keep_days, open_max, is_ending, files });
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
                waiting.iter().for_each(|file: Arc<_>| shared.run(&file, Upload::Segment));
            })?);
        }
        for _ in 0..REPLICA_SNAPSHOT_THREADS {
            let (shared, waiting) = (Arc::clone(&shared), waiting_snapshots.clone());
            threads.push(spawn("replica-snapshot", move || {
                waiting.iter().for_each(|file: Arc<_>| shared.run(&file, Upload::Snapshot));
            })?);
        }
        Ok(Self { shared, threads, stop: Some(stop) })
    }

    /// Replicates into this store from now on. All files are replicated from their beginning.
    pub fn replicate_into(&self, store: ReplicaStore) {
        *self.shared.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(store);
        let files: Vec<_> = self.shared.files().values().cloned().collect();
        for file in files {
            let mut progress = file.progress();
            *progress = Progress::default();
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
            queued: Default::default(),
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
        self.end(file, Chain::close_with_log)
    }

    fn end(&self, file: &Path, close: impl FnOnce(Chain)) -> Result<()> {
        let Some(removed) = self.shared.files().remove(file) else { return Ok(()) };
        let mut progress = removed.progress();
        let sent = self.shared.send(&removed, &mut progress);
        removed.is_removed.store(true, SeqCst);
        if let Some(chain) = progress.chain.take() {
            close(chain);
        }
        sent
    }

    /// Returns once everything that was committed to the file before the call is in the store.
    ///
    /// Errors: `NotFound` if the file is not replicated; `Unavailable` if the store failed. It is tried again later.
    pub fn flush(&self, file: &Path) -> Result<()> {
        let Some(known) = self.shared.files().get(file).cloned() else {
            let message = message!("the file '{file}' is not replicated", file = file.display());
            return Err(Problem::new(ProblemKind::NotFound, message));
        };
        let mut progress = known.progress();
        self.shared.send(&known, &mut progress)
    }

    /// Stops replicating all files, after everything committed so far is stored. It gives up at the first file for which
    /// the store fails. The logs of the files stay, with which a later start continues.
    pub fn stop(&self) -> Result<()> {
        let files: Vec<PathBuf> = self.shared.files().keys().cloned().collect();
        let stored: Vec<Result<()>> = files.iter().map(|file| self.end(file, drop)).collect();
        stored.into_iter().collect()
    }

    /// Runs work that needs the whole write-ahead log of a file, such as emptying it. The file is replicated from its
    /// beginning after it.
    pub fn while_released<T>(&self, file: &Path, work: impl FnOnce() -> T) -> T {
        let Some(known) = self.shared.files().get(file).cloned() else { return work() };
        let mut progress = known.progress();
        if let Err(problem) = self.shared.send(&known, &mut progress) {
            tracing::warn!(file = %file.display(), %problem, "a file is changed before it was replicated");
        }
        progress.begin_anew();
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
    fn look(
        &self,
        stopped: &Receiver<()>,
        segments: &Sender<Arc<ReplicatedFile>>,
        snapshots: &Sender<Arc<ReplicatedFile>>,
    ) {
        let pause = Duration::from_millis(REPLICA_LOOK_EVERY_MS);
        while stopped.recv_timeout(pause).is_err_and(|stop| stop.is_timeout()) {
            let files: Vec<_> = self.files().values().cloned().collect();
            let now = self.clock.now();
            let mut open = Vec::new();
            for file in &files {
                let Ok(mut progress) = file.progress.try_lock() else { continue };
                open.extend(progress.chain.as_ref().map(|chain| (chain.last_time, file)));
                for (upload, queue) in [(Upload::Segment, segments), (Upload::Snapshot, snapshots)]
                {
                    if !file.queued(upload).load(SeqCst) && progress.needs(upload, file, now) {
                        file.queued(upload).store(true, SeqCst);
                        let _ = queue.send(Arc::clone(file));
                    }
                }
            }
            let open_count = open.len();
            // What was found a moment ago may be followed by a write that does not change the stamp.
            open.retain(|(last, _)| last.plus_seconds(1) <= now);
            let surplus = open_count.saturating_sub(self.open_max);
            open.sort_by_key(|(last, _)| *last);
            for (_, file) in open.into_iter().take(surplus) {
                if let Ok(mut progress) = file.progress.try_lock() {
                    progress.rest(&file.file);
                }
            }
        }
    }

    fn run(&self, file: &ReplicatedFile, upload: Upload) {
        if self.is_ending.load(SeqCst) {
            return;
        }
        let sent = match upload {
            Upload::Segment => self.send_news(file),
            Upload::Snapshot => self.send_snapshot(file),
        };
        if let Err(problem) = sent {
            tracing::debug!(file = %file.file.display(), %problem, "replication failed");
        }
        file.queued(upload).store(false, SeqCst);
    }

    /// Sends what was written, unless that needs a snapshot. Closes the file if nobody writes to it.
    fn send_news(&self, file: &ReplicatedFile) -> Result<()> {
        let mut progress = file.progress();
        if progress.chain.is_none() && file.file.exists() {
            let resumed = self.resume(file, &mut progress);
            if resumed.is_err() {
                progress.note(file, &resumed);
            }
            resumed?;
            if progress.chain.is_none() {
                return Ok(());
            }
        }
        self.send(file, &mut progress)?;
        if progress.is_idle(file, self.clock.now()) {
            let to = self.destination(file)?;
            if let Some(Err(problem)) = progress.chain.as_mut().map(|chain| chain.merge_idle(&to)) {
                tracing::debug!(file = %file.file.display(), %problem, "segments were not merged");
            }
            progress.rest(&file.file);
        }
        Ok(())
    }

    /// Begins a chain, or adds a snapshot to it.
    fn send_snapshot(&self, file: &ReplicatedFile) -> Result<()> {
        let mut progress = file.progress();
        if progress.chain.is_none() {
            return self.send(file, &mut progress);
        }
        drop(progress);
        let sent = self.add_snapshot(file);
        file.progress().note_snapshot(file, &sent);
        if sent? {
            self.remove_old(&self.destination(file)?)?;
        }
        Ok(())
    }

    /// Adds a snapshot to the chain. `false` if a writer is too busy.
    fn add_snapshot(&self, file: &ReplicatedFile) -> Result<bool> {
        let mut progress = file.progress();
        let to = self.destination(file)?;
        let Some(chain) = &mut progress.chain else { return Ok(false) };
        let Some(state) = chain.state(&to)? else { return Ok(false) };
        // Segments are sent meanwhile.
        drop(progress);
        let key = state.key;
        snapshot::send(&file.file, state, &to)?;
        if let (Some(chain), Some(at)) = (&mut file.progress().chain, key.snapshot())
            && chain.id == key.chain
        {
            chain.snapshot = (key.time, at);
        }
        Ok(true)
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
        if progress.resting.is_some_and(|resting| !resting.is_over(&file.file, self.clock.now())) {
            return Ok(());
        }
        let sent = self.try_to_send(file, progress);
        match &sent {
            Ok(()) => file.waiting_since.store(0, SeqCst),
            Err(_) => {
                let now = self.clock.now().milliseconds();
                let _ = file.waiting_since.compare_exchange(0, now, SeqCst, SeqCst);
                if progress.chain.as_ref().is_some_and(Chain::is_overdue) {
                    progress.begin_anew();
                }
            }
        }
        progress.note(file, &sent);
        sent
    }

    fn try_to_send(&self, file: &ReplicatedFile, progress: &mut Progress) -> Result<()> {
        if progress.chain.is_none() {
            self.resume(file, progress)?;
        }
        let to = self.destination(file)?;
        if let Some(chain) = &mut progress.chain {
            let outcome = match chain.send(&to)? {
                SendOutcome::UpToDate => chain.carry_over(&to)?,
                broken @ SendOutcome::Broken(_) => broken,
            };
            let SendOutcome::Broken(why) = outcome else { return Ok(()) };
            progress.begin_anew();
            tracing::info!(file = %file.file.display(), why, "a new snapshot is needed");
        }
        let id = next_chain(file, progress, &to)?;
        let (mut chain, state) = Chain::begin(&file.file, id, &*self.clock)?;
        snapshot::send(&file.file, state, &to)?;
        let outcome = chain.send(&to)?;
        progress.chain = matches!(outcome, SendOutcome::UpToDate).then_some(chain);
        progress.needs_chain = progress.chain.is_none();
        self.remove_old(&to)
    }

    /// Opens the file and continues its last chain, if its log proves that nothing is missing in between.
    fn resume(&self, file: &ReplicatedFile, progress: &mut Progress) -> Result<()> {
        if !progress.needs_chain {
            progress.chain = self.try_to_resume(file, progress)?;
            progress.needs_chain = progress.chain.is_none();
        }
        progress.resting = None;
        Ok(())
    }

    fn try_to_resume(
        &self,
        file: &ReplicatedFile,
        progress: &mut Progress,
    ) -> Result<Option<Chain>> {
        let to = self.destination(file)?;
        let stored = match progress.resting.and_then(|resting| resting.end) {
            Some(end) => Some(end),
            None => {
                let keys = retention::keys(&to.store, to.prefix)?;
                StoredEnd::find(&to, &keys, progress.epoch.or(file.epoch))?
            }
        };
        let Some(stored) = stored else { return Ok(None) };
        let Some((mut chain, rest)) = Chain::resume(&file.file, &stored)? else { return Ok(None) };
        chain.send_rest(&to, &rest)?;
        progress.epoch = Some(stored.id.epoch);
        Ok(Some(chain))
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

/// The id of the chain after those in the store.
fn next_chain(
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

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Problem::internal)
}
