//! A replicated file: what it needs, and what was done for it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::Result;
use lyceum_core::time::Timestamp;

use crate::chain::Chain;
use crate::limits::{REPLICA_RETRY_MAX_MS, REPLICA_RETRY_MIN_MS};
use crate::rest::{FileStamp, RestingFile};

pub(crate) struct ReplicatedFile {
    pub(crate) file: PathBuf,
    pub(crate) prefix: String,
    /// `None` if this server alone replicates it.
    pub(crate) epoch: Option<u64>,
    /// Whether a segment, and whether a snapshot, waits for a thread or is being sent.
    pub(crate) queued: [AtomicBool; 2],
    /// When the oldest transaction was found that is not stored, in milliseconds since 1970; 0 if all are stored.
    pub(crate) waiting_since: AtomicI64,
    pub(crate) is_removed: AtomicBool,
    pub(crate) progress: Mutex<Progress>,
}

#[derive(Default)]
pub(crate) struct Progress {
    /// `None` while the file is closed: before it is opened for the first time, after a break, while it rests.
    pub(crate) chain: Option<Chain>,
    /// Whether the last chain cannot be continued, so that a new one must begin.
    pub(crate) needs_chain: bool,
    pub(crate) resting: Option<RestingFile>,
    /// The file at the last look at which nobody had written for some time.
    pub(crate) idle: Option<FileStamp>,
    /// The epoch of this server, once it is known.
    pub(crate) epoch: Option<u64>,
    pub(crate) failures: u32,
    pub(crate) retry_at: Option<Instant>,
    pub(crate) error: Option<String>,
    /// How often a further snapshot was tried in vain, and when it is tried again. Segments go on meanwhile.
    pub(crate) snapshot_tries: u32,
    pub(crate) snapshot_retry_at: Option<Instant>,
}

/// An upload that a file may need.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Upload {
    /// The frames that were written, at once.
    Segment,
    /// The whole file.
    Snapshot,
}

impl ReplicatedFile {
    pub(crate) fn queued(&self, upload: Upload) -> &AtomicBool {
        &self.queued[upload as usize]
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// Whether the file needs this upload now.
    pub(crate) fn needs(&mut self, upload: Upload, file: &ReplicatedFile, now: Timestamp) -> bool {
        if self.retry_at.is_some_and(|at| Instant::now() < at) {
            return false;
        }
        let is_waiting = match (&self.chain, &self.resting) {
            (Some(chain), _) => chain.has_news(),
            (None, Some(resting)) => resting.is_over(&file.file, now),
            (None, None) => true,
        };
        if is_waiting {
            let now = now.milliseconds();
            let _ = file.waiting_since.compare_exchange(0, now, SeqCst, SeqCst);
        }
        match upload {
            Upload::Segment if self.chain.is_none() => is_waiting && !self.needs_chain,
            Upload::Segment => is_waiting || self.is_idle(file, now),
            Upload::Snapshot => match &self.chain {
                Some(chain) => {
                    let may_retry = self.snapshot_retry_at.is_none_or(|at| at <= Instant::now());
                    may_retry && chain.snapshot_due().is_some_and(|due| due <= now)
                }
                None => self.needs_chain,
            },
        }
    }

    /// Whether nobody has written to the open file for some time, also not since the look before.
    pub(crate) fn is_idle(&mut self, file: &ReplicatedFile, now: Timestamp) -> bool {
        let needs_snapshot = |chain: &Chain| chain.snapshot_due().is_some_and(|due| due <= now);
        let is_idle = |chain: &Chain| chain.is_idle(now) && !needs_snapshot(chain);
        let is_idle = self.chain.as_ref().is_some_and(is_idle);
        let stamp = is_idle.then(|| FileStamp::of(&file.file)).flatten();
        let is_same = stamp.is_some() && stamp == self.idle;
        self.idle = stamp;
        is_same
    }

    /// Closes the file until somebody writes to it. Everything that was written must be stored.
    pub(crate) fn rest(&mut self, file: &Path) {
        let Some(stamp) = FileStamp::of(file) else { return };
        let Some(chain) = self.chain.take_if(|chain| !chain.has_news()) else { return };
        let (end, snapshot_due) = (chain.stored_end(), chain.snapshot_due());
        self.resting = Some(RestingFile { stamp, end, snapshot_due });
        self.idle = None;
    }

    /// Gives the chain up. The next one begins with a snapshot.
    pub(crate) fn begin_anew(&mut self) {
        (self.chain, self.resting, self.needs_chain) = (None, None, true);
    }

    pub(crate) fn note(&mut self, file: &ReplicatedFile, sent: &Result<()>) {
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
                self.retry_at = Some(Instant::now() + pause_after(self.failures));
                self.failures += 1;
                self.error = Some(if cause.is_empty() { problem.to_string() } else { cause });
            }
        }
    }

    /// Notes how a further snapshot ended: whether it was stored, or must wait because of a busy writer.
    pub(crate) fn note_snapshot(&mut self, file: &ReplicatedFile, sent: &Result<bool>) {
        if let Err(problem) = sent
            && self.snapshot_tries == 0
        {
            tracing::warn!(file = %file.file.display(), %problem, "a snapshot was not stored; trying again later");
        }
        if matches!(sent, Ok(true)) {
            (self.snapshot_tries, self.snapshot_retry_at) = (0, None);
        } else {
            self.snapshot_retry_at = Some(Instant::now() + pause_after(self.snapshot_tries));
            self.snapshot_tries += 1;
        }
    }
}

/// The pause after a failure that follows so many others.
fn pause_after(failures: u32) -> Duration {
    let pause_ms = REPLICA_RETRY_MIN_MS << failures.min(16);
    Duration::from_millis(pause_ms.min(REPLICA_RETRY_MAX_MS))
}
