//! One workerd process: who uses it, and how it ended.

use std::io;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::connections::Connections;

/// A process from its start to its end.
pub(super) struct Process {
    id: u32,
    child: Mutex<Child>,
    folder: PathBuf,
    pub(super) front: Arc<Connections>,
    pub(super) drain: Duration,
    pub(super) begun: Instant,
    usage: Mutex<Usage>,
    /// Held by who asks whether it answers at all.
    question: tokio::sync::Mutex<()>,
    end: watch::Sender<Option<End>>,
}

struct Usage {
    /// Requests whose answers are not yet read in full.
    open: usize,
    last: Instant,
    /// No request begins any more.
    is_closing: bool,
}

/// A process that has just begun. Dropping it ends the process.
pub(super) struct Launched<T> {
    pub(super) process: Unclaimed,
    /// What came with the child.
    pub(super) more: T,
    /// Told when it has ended.
    pub(super) ended: oneshot::Receiver<Option<ExitStatus>>,
}

/// Ends a process that nobody came to wait for.
pub(super) struct Unclaimed(Option<Arc<Process>>);

impl Unclaimed {
    pub(super) fn process(&self) -> &Arc<Process> {
        self.0.as_ref().expect("only claiming takes it")
    }

    pub(super) fn claim(mut self) -> Arc<Process> {
        self.0.take().expect("only claiming takes it")
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            process.kill(End::Unneeded);
        }
    }
}

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nobody needs it any more.
    Unneeded,
    /// JavaScript ran without a pause for too long.
    Spun,
    /// It took too much memory.
    Memory,
    /// JavaScript's heap was full.
    Heap,
    /// It answered nothing, although its thread was not busy.
    Silent,
    /// It ended by itself.
    Crashed,
}

/// A request on its way; ends when dropped.
pub(super) struct Flight(pub(super) Arc<Process>);

impl Drop for Flight {
    fn drop(&mut self) {
        let mut usage = self.0.usage();
        usage.open -= 1;
        usage.last = Instant::now();
    }
}

impl Process {
    /// Starts a child on a thread of its own, which then waits for its end: the system ends a child whose
    /// thread has ended, and threads that answer requests have no time for files and new processes.
    pub(super) async fn launch<T: Send + 'static>(
        folder: PathBuf,
        front: Arc<Connections>,
        drain: Duration,
        start: impl FnOnce() -> io::Result<(Child, T)> + Send + 'static,
    ) -> io::Result<Launched<T>> {
        let (tell, launched) = oneshot::channel();
        thread::spawn(move || {
            let (child, more) = match start() {
                Ok(started) => started,
                Err(fault) => return drop(tell.send(Err(fault))),
            };
            let process = Arc::new(Self::new(child, folder, front, drain));
            let (end, ended) = oneshot::channel();
            let unclaimed = Unclaimed(Some(Arc::clone(&process)));
            drop(tell.send(Ok(Launched { process: unclaimed, more, ended })));
            if end.send(process.wait()).is_err() {
                process.over(End::Unneeded);
            }
        });
        launched.await.map_err(io::Error::other)?
    }

    fn new(child: Child, folder: PathBuf, front: Arc<Connections>, drain: Duration) -> Self {
        let now = Instant::now();
        Self {
            id: child.id(),
            child: Mutex::new(child),
            folder,
            front,
            drain,
            begun: now,
            usage: Mutex::new(Usage { open: 0, last: now, is_closing: false }),
            question: tokio::sync::Mutex::default(),
            end: watch::Sender::new(None),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Waits without taking the child away, so that nobody else's process is ever killed by its id.
    fn wait(&self) -> Option<ExitStatus> {
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw)?;
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        self.child.lock().unwrap_or_else(PoisonError::into_inner).wait().ok()
    }

    /// Ends the process; the first reason is the one that is told.
    pub(super) fn kill(&self, why: End) {
        self.end.send_if_modified(|end| end.is_none() && end.replace(why).is_none());
        self.usage().is_closing = true;
        let killed = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        if let Err(fault) = killed {
            tracing::error!(id = self.id, "a backend cannot be ended: {fault}");
        }
    }

    /// The child has ended, for this reason where no other was told before.
    pub(super) fn over(&self, why: End) {
        self.usage().is_closing = true;
        self.end.send_if_modified(|end| end.is_none() && end.replace(why).is_none());
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    /// Why it ended; none: it runs.
    pub(super) fn end(&self) -> Option<End> {
        *self.end.borrow()
    }

    /// Done when it has ended.
    pub(super) async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        let ended = end.wait_for(Option::is_some).await.map(|end| *end);
        ended.ok().flatten().unwrap_or(End::Unneeded)
    }

    /// Begins a request; none: the process ends or has ended.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Flight> {
        let mut usage = self.usage();
        if usage.is_closing {
            return None;
        }
        usage.open += 1;
        Some(Flight(Arc::clone(self)))
    }

    /// One asks at a time; none: somebody does already.
    pub(super) fn begin_question(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        self.question.try_lock().ok()
    }

    /// Lets no request begin any more if none has for so long.
    pub(super) fn close_if_idle(&self, idle: Duration) -> bool {
        let mut usage = self.usage();
        let is_idle = usage.open == 0 && usage.last.elapsed() >= idle;
        usage.is_closing |= is_idle;
        is_idle
    }

    /// Ends the process when what it began is finished, or took too long.
    pub(super) async fn drain(self: Arc<Self>) {
        self.drain_within(self.drain).await;
    }

    pub(super) async fn drain_within(&self, patience: Duration) {
        self.usage().is_closing = true;
        let finished = async {
            while self.usage().open > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(patience, finished).await;
        self.kill(End::Unneeded);
    }

    /// Says how the process ended, once its last words are read.
    pub(super) async fn follow(
        self: Arc<Self>,
        ended: oneshot::Receiver<Option<ExitStatus>>,
        mut words: JoinSet<()>,
        why: impl FnOnce(Option<ExitStatus>) -> End,
    ) {
        let status = ended.await.ok().flatten();
        let read = async { while words.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(Duration::from_secs(1), read).await;
        self.over(why(status));
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
