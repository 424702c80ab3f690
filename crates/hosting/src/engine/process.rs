//! A workerd process: the requests that use it, and how it ended.

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
    /// Locked while a request checks that the process still answers.
    question: tokio::sync::Mutex<()>,
    end: watch::Sender<Option<ProcessEnd>>,
}

struct Usage {
    /// Number of requests whose responses are not fully read yet.
    open: usize,
    last: Instant,
    /// Whether new requests are refused.
    is_closing: bool,
}

/// A process that was just started. Dropping it ends the process.
pub(super) struct StartedProcess<T> {
    pub(super) process: UnclaimedProcess,
    /// Further results of the start.
    pub(super) more: T,
    /// Receives the exit status.
    pub(super) ended: oneshot::Receiver<Option<ExitStatus>>,
}

/// Ends a process that no caller waits for any more.
pub(super) struct UnclaimedProcess(Option<Arc<Process>>);

impl UnclaimedProcess {
    pub(super) fn process(&self) -> &Arc<Process> {
        self.0.as_ref().expect("only claiming takes it")
    }

    pub(super) fn claim(mut self) -> Arc<Process> {
        self.0.take().expect("only claiming takes it")
    }
}

impl Drop for UnclaimedProcess {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            process.kill(ProcessEnd::Unneeded);
        }
    }
}

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    /// It is no longer needed.
    Unneeded,
    /// JavaScript ran too long without a pause.
    Spun,
    /// It used too much memory.
    Memory,
    /// JavaScript's heap was full.
    Heap,
    /// It did not answer, although its thread was idle.
    Silent,
    /// It ended by itself.
    Crashed,
}

/// A request that the process handles. It ends when this is dropped.
pub(super) struct HandledRequest(pub(super) Arc<Process>);

impl Drop for HandledRequest {
    fn drop(&mut self) {
        let mut usage = self.0.usage();
        usage.open -= 1;
        usage.last = Instant::now();
    }
}

impl Process {
    /// Starts a child on its own thread, which then waits for the child to end. The operating system kills the child
    /// when that thread ends, so the thread must live on. Threads that serve requests must not block on files and new
    /// processes.
    pub(super) async fn launch<T: Send + 'static>(
        folder: PathBuf,
        front: Arc<Connections>,
        drain: Duration,
        start: impl FnOnce() -> io::Result<(Child, T)> + Send + 'static,
    ) -> io::Result<StartedProcess<T>> {
        let (tell, launched) = oneshot::channel();
        thread::spawn(move || {
            let (child, more) = match start() {
                Ok(started) => started,
                Err(fault) => return drop(tell.send(Err(fault))),
            };
            let process = Arc::new(Self::new(child, folder, front, drain));
            let (end, ended) = oneshot::channel();
            let unclaimed = UnclaimedProcess(Some(Arc::clone(&process)));
            drop(tell.send(Ok(StartedProcess { process: unclaimed, more, ended })));
            if end.send(process.wait()).is_err() {
                process.over(ProcessEnd::Unneeded);
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

    /// Waits without reaping the child, so that its id cannot be reused and another process is never killed by that
    /// id.
    fn wait(&self) -> Option<ExitStatus> {
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw)?;
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        self.child.lock().unwrap_or_else(PoisonError::into_inner).wait().ok()
    }

    /// Ends the process. If it is called several times, the first reason counts.
    pub(super) fn kill(&self, why: ProcessEnd) {
        self.end.send_if_modified(|end| end.is_none() && end.replace(why).is_none());
        self.usage().is_closing = true;
        let killed = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        if let Err(fault) = killed {
            tracing::error!(id = self.id, "a backend cannot be stopped: {fault}");
        }
    }

    /// Records that the child has ended, with this reason unless another one was recorded before.
    pub(super) fn over(&self, why: ProcessEnd) {
        self.usage().is_closing = true;
        self.end.send_if_modified(|end| end.is_none() && end.replace(why).is_none());
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    /// Why it ended; `None` while it runs.
    pub(super) fn end(&self) -> Option<ProcessEnd> {
        *self.end.borrow()
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) -> ProcessEnd {
        let mut end = self.end.subscribe();
        let ended = end.wait_for(Option::is_some).await.map(|end| *end);
        ended.ok().flatten().unwrap_or(ProcessEnd::Unneeded)
    }

    /// Begins a request; `None` if the process is ending or has ended.
    pub(super) fn begin(self: &Arc<Self>) -> Option<HandledRequest> {
        let mut usage = self.usage();
        if usage.is_closing {
            return None;
        }
        usage.open += 1;
        Some(HandledRequest(Arc::clone(self)))
    }

    /// Begins a check of the process; `None` if another request is checking it.
    pub(super) fn begin_question(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        self.question.try_lock().ok()
    }

    /// Refuses further requests if there was none for that long.
    pub(super) fn close_if_idle(&self, idle: Duration) -> bool {
        let mut usage = self.usage();
        let is_idle = usage.open == 0 && usage.last.elapsed() >= idle;
        usage.is_closing |= is_idle;
        is_idle
    }

    /// Ends the process when its open requests are finished, or have taken too long.
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
        self.kill(ProcessEnd::Unneeded);
    }

    /// Records how the process ended, after its last output was read.
    pub(super) async fn follow(
        self: Arc<Self>,
        ended: oneshot::Receiver<Option<ExitStatus>>,
        mut words: JoinSet<()>,
        why: impl FnOnce(Option<ExitStatus>) -> ProcessEnd,
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
