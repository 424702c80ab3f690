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
    pub(super) drain_timeout: Duration,
    pub(super) started_at: Instant,
    usage: Mutex<Usage>,
    /// Locked while a task checks that the process still answers.
    health_check: tokio::sync::Mutex<()>,
    end: watch::Sender<Option<ProcessEnd>>,
}

struct Usage {
    /// Number of requests whose responses are not fully read yet.
    open_requests: usize,
    last_request_at: Instant,
    /// Whether new requests are refused.
    is_closing: bool,
}

/// A process that was just started. Dropping it ends the process.
pub(super) struct StartedProcess<T> {
    pub(super) process: UnclaimedProcess,
    /// The server's ends of its pipes and sockets.
    pub(super) streams: T,
    pub(super) exit_status: oneshot::Receiver<Option<ExitStatus>>,
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
    /// The engine no longer needed it.
    Unneeded,
    /// JavaScript ran too long without a pause.
    Busy,
    /// It used too much memory.
    Memory,
    /// JavaScript's heap was full.
    Heap,
    /// It did not answer, although its thread was idle.
    Silent,
    /// It ended by itself.
    Crashed,
}

/// Counts a request among the open ones of its process until it is dropped.
pub(super) struct OpenRequest(pub(super) Arc<Process>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut usage = self.0.usage();
        usage.open_requests -= 1;
        usage.last_request_at = Instant::now();
    }
}

impl Process {
    /// Starts a child on its own thread, which then waits for the child to end. The operating system kills the child
    /// when that thread ends, so the thread must live on. Threads that serve requests must not block on files and new
    /// processes.
    pub(super) async fn launch<T: Send + 'static>(
        folder: PathBuf,
        front: Arc<Connections>,
        drain_timeout: Duration,
        start: impl FnOnce() -> io::Result<(Child, T)> + Send + 'static,
    ) -> io::Result<StartedProcess<T>> {
        let (launched_sender, launched) = oneshot::channel();
        thread::spawn(move || {
            let (child, streams) = match start() {
                Ok(started) => started,
                Err(fault) => return drop(launched_sender.send(Err(fault))),
            };
            let process = Arc::new(Self::new(child, folder, front, drain_timeout));
            let (exit_sender, exit_status) = oneshot::channel();
            let unclaimed = UnclaimedProcess(Some(Arc::clone(&process)));
            drop(launched_sender.send(Ok(StartedProcess {
                process: unclaimed,
                streams,
                exit_status,
            })));
            if exit_sender.send(process.wait_for_exit()).is_err() {
                process.record_end(ProcessEnd::Unneeded);
            }
        });
        launched.await.map_err(io::Error::other)?
    }

    fn new(
        child: Child,
        folder: PathBuf,
        front: Arc<Connections>,
        drain_timeout: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            id: child.id(),
            child: Mutex::new(child),
            folder,
            front,
            drain_timeout,
            started_at: now,
            usage: Mutex::new(Usage { open_requests: 0, last_request_at: now, is_closing: false }),
            health_check: tokio::sync::Mutex::default(),
            end: watch::Sender::new(None),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Waits without reaping the child, so that its id cannot be reused and another process is never killed by that
    /// id.
    fn wait_for_exit(&self) -> Option<ExitStatus> {
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw)?;
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        self.child.lock().unwrap_or_else(PoisonError::into_inner).wait().ok()
    }

    /// Ends the process. If it is called several times, the first reason is recorded.
    pub(super) fn kill(&self, reason: ProcessEnd) {
        self.end.send_if_modified(|end| end.is_none() && end.replace(reason).is_none());
        self.usage().is_closing = true;
        let killed = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        if let Err(fault) = killed {
            tracing::error!(id = self.id, "a backend cannot be stopped: {fault}");
        }
    }

    /// Records that the child has ended, with this reason unless another one was recorded before.
    pub(super) fn record_end(&self, reason: ProcessEnd) {
        self.usage().is_closing = true;
        self.end.send_if_modified(|end| end.is_none() && end.replace(reason).is_none());
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    /// Why the process ended; `None` while it runs.
    pub(super) fn end(&self) -> Option<ProcessEnd> {
        *self.end.borrow()
    }

    /// Waits until the process has ended.
    pub(super) async fn wait_for_end(&self) -> ProcessEnd {
        let mut end = self.end.subscribe();
        let ended = end.wait_for(Option::is_some).await.map(|end| *end);
        ended.ok().flatten().unwrap_or(ProcessEnd::Unneeded)
    }

    /// Begins a request; `None` if the process is ending or has ended.
    pub(super) fn open_request(self: &Arc<Self>) -> Option<OpenRequest> {
        let mut usage = self.usage();
        if usage.is_closing {
            return None;
        }
        usage.open_requests += 1;
        Some(OpenRequest(Arc::clone(self)))
    }

    /// Whether a request is open.
    pub(super) fn is_serving(&self) -> bool {
        self.usage().open_requests > 0
    }

    /// Begins a check of the process; `None` if another task is checking it.
    pub(super) fn begin_health_check(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        self.health_check.try_lock().ok()
    }

    /// Refuses further requests if there was none for the given time.
    pub(super) fn close_if_idle(&self, idle: Duration) -> bool {
        let mut usage = self.usage();
        let is_idle = usage.open_requests == 0 && usage.last_request_at.elapsed() >= idle;
        usage.is_closing |= is_idle;
        is_idle
    }

    /// Ends the process when its open requests are finished, or have taken too long.
    pub(super) async fn drain(self: Arc<Self>) {
        self.drain_within(self.drain_timeout).await;
    }

    pub(super) async fn drain_within(&self, timeout: Duration) {
        self.usage().is_closing = true;
        let finished = async {
            while self.usage().open_requests > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(timeout, finished).await;
        self.kill(ProcessEnd::Unneeded);
    }

    /// Records how the process ended, after its last output was read.
    pub(super) async fn record_exit(
        self: Arc<Self>,
        exit_status: oneshot::Receiver<Option<ExitStatus>>,
        mut output_readers: JoinSet<()>,
        reason: impl FnOnce(Option<ExitStatus>) -> ProcessEnd,
    ) {
        let status = exit_status.await.ok().flatten();
        let read = async { while output_readers.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(Duration::from_secs(1), read).await;
        self.record_end(reason(status));
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
