//! A version of a backend. A call starts it, also after a crash, but with growing pauses between crashes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{CONNECTION, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use hyper::{Request, Response, StatusCode};
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use tokio::time::timeout;

use super::connections::{Body, BoxError, boxed};
use super::logs::{LogStream, Logs};
use super::process::{OpenRequest, Process, ProcessEnd};
use super::progress::track_progress;
use super::start::{start, unavailable};
use super::{EngineShared, Worker, upgrade};
use crate::limits::{
    BACKEND_BACKOFF_MAX_MS, BACKEND_BACKOFF_MS, BACKEND_BODY_MAX_BYTES, BACKEND_STABLE_S,
};

/// A version, running or not.
pub(super) struct App {
    pub(super) worker: Arc<Worker>,
    pub(super) logs: Arc<Logs>,
    shared: Arc<EngineShared>,
    running: Mutex<Option<Arc<Process>>>,
    /// Locked while the process is being started.
    starting: tokio::sync::Mutex<Crashes>,
}

/// Counts consecutive crashes.
#[derive(Default)]
struct Crashes {
    count: u32,
    /// The earliest time of the next start.
    next_start: Option<Instant>,
}

impl App {
    pub(super) fn new(worker: Worker, shared: Arc<EngineShared>) -> Result<Self> {
        worker.check()?;
        let (clock, last) = (Arc::clone(&shared.clock), Arc::clone(&shared.last_line));
        let logs = Arc::new(Logs::new(clock, shared.settings.log_subscriber.clone(), last));
        let (running, starting) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self { worker: Arc::new(worker), logs, shared, running, starting })
    }

    pub(super) fn running(&self) -> Option<Arc<Process>> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
        running.filter(|process| process.end().is_none())
    }

    /// Takes the process out, so that the caller can end it.
    pub(super) fn retire(&self) -> Option<Arc<Process>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Starts the version and checks that it answers.
    ///
    /// Errors: `Invalid` with its output.
    pub(super) async fn probe(&self) -> Result<()> {
        let process = start(&self.shared, &self.worker, &self.logs).await?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&process));
        let answered = match process.open_request() {
            Some(open_request) => self.send(open_request, health_request(), false).await.map(drop),
            None => Err(unavailable(&self.worker.slug)),
        };
        answered.map_err(|problem| {
            let text = format!(
                "the new version does not answer: {}\n{}",
                problem.message,
                self.logs.last_errors()
            );
            Problem::invalid("backend", Message::untranslated(text.trim()))
        })
    }

    /// Sends a request. `call_permit` is dropped when the process has received it.
    pub(super) async fn call<P>(
        &self,
        mut request: Request<Body>,
        call_permit: P,
    ) -> Result<Response<Body>> {
        let upgrades = upgrade::is_upgrade(&request);
        if !upgrades {
            // These headers describe the caller's connection, not the connection to the process.
            for name in [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, KEEP_ALIVE] {
                request.headers_mut().remove(name);
            }
        }
        let text = format!("{} {}", request.method(), request.uri().path());
        let started_at = Instant::now();
        let open_request = self.open_request().await?;
        drop(call_permit);
        let mut response = self.send(open_request, request, upgrades).await?;
        let line =
            format!("{text} {} ({} ms)", response.status(), started_at.elapsed().as_millis());
        self.logs.add(LogStream::Request, line);
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            for name in [CONNECTION, TRAILER, TRANSFER_ENCODING, UPGRADE, KEEP_ALIVE] {
                response.headers_mut().remove(name);
            }
        }
        Ok(response)
    }

    /// Reserves the process for a request, and starts it if it is not running.
    async fn open_request(&self) -> Result<OpenRequest> {
        if let Some(open_request) = self.running().and_then(|process| process.open_request()) {
            return Ok(open_request);
        }
        let mut crashes = self.starting.lock().await;
        let before = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = before {
            if let Some(open_request) = process.open_request() {
                *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
                return Ok(open_request);
            }
            crashes.record_crash(process.wait_for_end().await, process.started_at.elapsed());
        }
        crashes.check_pause(&self.worker.slug)?;
        match start(&self.shared, &self.worker, &self.logs).await {
            Ok(process) => {
                let open_request = process.open_request();
                *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
                open_request.ok_or_else(|| unavailable(&self.worker.slug))
            }
            Err(problem) => {
                crashes.record_failed_start();
                self.logs.add(LogStream::Engine, problem.message.to_string());
                tracing::warn!(slug = self.worker.slug, "{problem}");
                Err(unavailable(&self.worker.slug).because(problem))
            }
        }
    }

    async fn send(
        &self,
        open_request: OpenRequest,
        request: Request<Body>,
        upgrades: bool,
    ) -> Result<Response<Body>> {
        let process = Arc::clone(&open_request.0);
        let answer_timeout = self.shared.settings.answer_timeout;
        let (request, progress) = track_progress(request);
        let sent = async {
            match upgrades {
                true => upgrade::send(process.front.socket(), request, open_request).await,
                false => process.front.send(request, open_request).await,
            }
        };
        tokio::select! {
            biased;
            sent = sent => match sent {
                Ok(response) => Ok(response),
                Err(_) if progress.is_too_long() => Err(Problem::new(
                    ProblemKind::TooLarge,
                    message!("the body is larger than {BACKEND_BODY_MAX_BYTES} bytes; send it in parts"),
                )),
                Err(fault) => Err(self.connection_problem(&process, fault).await),
            },
            () = progress.wait_for_silence(answer_timeout) => {
                tokio::spawn(check_health(process, self.shared.settings.busy_timeout));
                Err(Problem::new(
                    ProblemKind::Unavailable,
                    message!(
                        "the backend of '{self.worker.slug}' did not answer within {timeout} ms",
                        timeout = answer_timeout.as_millis()
                    ),
                ))
            }
            end = process.wait_for_end() => Err(self.end_problem(end)),
        }
    }

    /// The problem of a broken connection. It mostly breaks because the process ended, which the engine notices a
    /// moment later.
    async fn connection_problem(&self, process: &Process, fault: BoxError) -> Problem {
        match timeout(Duration::from_secs(2), process.wait_for_end()).await {
            Ok(end) => self.end_problem(end).because(fault),
            Err(_) => Problem::new(
                ProblemKind::Unavailable,
                message!(
                    "the backend of '{self.worker.slug}' closed the connection before it answered"
                ),
            )
            .because(fault),
        }
    }

    fn end_problem(&self, end: ProcessEnd) -> Problem {
        let settings = &self.shared.settings;
        let cause = match end {
            ProcessEnd::Unneeded => "was stopped before it answered".to_owned(),
            ProcessEnd::Busy => format!(
                "ran for {} ms without a pause, probably in an endless loop, and was stopped",
                settings.busy_timeout.as_millis()
            ),
            ProcessEnd::Memory => {
                format!("used more than {} bytes of memory and was stopped", settings.memory_bytes)
            }
            ProcessEnd::Heap => {
                format!("filled its heap of {} bytes and stopped", settings.heap_bytes)
            }
            ProcessEnd::Silent => "no longer answered and was stopped".to_owned(),
            ProcessEnd::Crashed => "crashed before it answered".to_owned(),
        };
        let message = message!(
            "the backend of '{self.worker.slug}' {cause}; a later request starts it again"
        );
        self.logs.add(LogStream::Engine, message.to_string());
        let mut problem = Problem::new(ProblemKind::Unavailable, message);
        problem.retry_after_s = Some(1);
        problem
    }
}

/// A request that every backend answers at once, even if its routes are waiting.
fn health_request() -> Request<Body> {
    let request = Request::builder().uri("/health").header("host", "localhost");
    boxed(request.body(Empty::<Bytes>::new()).expect("the request is valid"))
}

/// Requests `/health` of a process that did not answer in time, and ends the process if it does not answer this
/// either. A runtime may hang although its thread is idle.
async fn check_health(process: Arc<Process>, answer_timeout: Duration) {
    if let Some(_check) = process.begin_health_check()
        && timeout(answer_timeout, process.front.send(health_request(), ())).await.is_err()
    {
        process.kill(ProcessEnd::Silent);
    }
}

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

impl Drop for App {
    fn drop(&mut self) {
        if let Some(process) = self.retire() {
            process.kill(ProcessEnd::Unneeded);
        }
    }
}

impl Crashes {
    /// Starts are not delayed after the first crash. Each further crash doubles the delay.
    fn record_crash(&mut self, end: ProcessEnd, lived: Duration) {
        if end == ProcessEnd::Unneeded {
            *self = Self::default();
            return;
        }
        let is_stable = lived >= Duration::from_secs(BACKEND_STABLE_S);
        self.count = if is_stable { 1 } else { self.count + 1 };
        self.next_start = None;
        if self.count > 1 {
            self.delay_next_start(self.count - 2);
        }
    }

    /// A failed start counts at once, because the next start will probably fail too.
    fn record_failed_start(&mut self) {
        self.count += 1;
        self.delay_next_start(self.count - 1);
    }

    fn delay_next_start(&mut self, doublings: u32) {
        let wait = (BACKEND_BACKOFF_MS << doublings.min(16)).min(BACKEND_BACKOFF_MAX_MS);
        self.next_start = Some(Instant::now() + Duration::from_millis(wait));
    }

    fn check_pause(&self, slug: &str) -> Result<()> {
        let left =
            self.next_start.map(|next_start| next_start.saturating_duration_since(Instant::now()));
        let Some(left) = left.filter(|left| !left.is_zero()) else { return Ok(()) };
        let seconds = left.as_secs() + 1;
        let failed = match self.count {
            1 => "failed".to_owned(),
            count => format!("failed {count} times in a row"),
        };
        let message = message!(
            "the backend of '{slug}' {failed} and starts again in {seconds} s; see its log for the reason"
        );
        let mut problem = Problem::new(ProblemKind::Unavailable, message);
        problem.retry_after_s = u32::try_from(seconds).ok();
        Err(problem)
    }
}
