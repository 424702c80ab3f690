//! One request in the works: it ends when its answer is written or given up, and until then holds memory of
//! a client or of callers without a token.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use lyceum_access::DEMO_CLIENT;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use super::Activity;
use crate::admission::{Origin, Purse};
use crate::auth::{Caller, Grant};

/// The sender of a request: an address, and the memory that the request uses; `None` for requests without a
/// connection.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) running: Option<Arc<RunningRequest>>,
}

impl Peer {
    /// Reserves memory for a body or an answer of that many bytes, unless it is small. Errors: as of
    /// [`Running::hold`].
    pub(crate) async fn hold(&self, bytes: usize) -> Result<()> {
        match &self.running {
            Some(running) if bytes > limits::ANSWER_FREE_BYTES => running.hold(bytes).await,
            _ => Ok(()),
        }
    }
}

/// What an address may hold for several requests at once, but for what one request holds before its answer.
const LARGEST_BYTES: usize =
    limits::ANONYMOUS_REQUESTS_MAX_BYTES / limits::ANONYMOUS_PARTS_COUNT / 2
        - limits::ANONYMOUS_REQUEST_BYTES
        - limits::PUBLIC_BODY_MAX_BYTES;

/// A request in the works; ends when dropped.
pub(crate) struct RunningRequest {
    activity: Arc<Activity>,
    /// The address behind a proxy; none: that of the connection.
    origin: Option<Arc<Origin>>,
    /// Bytes that the request holds, of its client or of callers without a token.
    held: AtomicUsize,
    client: OnceLock<Arc<Caller>>,
    /// A body is to come, of a caller who does not even claim to have a token.
    is_long: AtomicBool,
    /// Its place as the one large answer without a token.
    large: OnceLock<OwnedSemaphorePermit>,
}

impl RunningRequest {
    pub(super) fn new(activity: Arc<Activity>) -> Self {
        let (held, client, large) = (AtomicUsize::new(0), OnceLock::new(), OnceLock::new());
        let is_long = AtomicBool::new(false);
        Self { activity, origin: None, held, client, is_long, large }
    }

    /// Whether a proxy sent it that the settings trust.
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.activity.origin.is_proxy
    }

    /// A proxy sent it for the address.
    pub(crate) fn sent_for(&mut self, address: IpAddr) {
        self.origin = Some(self.activity.admission.origin(address));
    }

    /// Whether nobody showed a token for this request so far.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.client.get().is_none()
    }

    /// Whether the connection may stay open after the answer: there is memory for it.
    pub(crate) fn may_keep_connection(&self) -> bool {
        let activity = &self.activity;
        activity.is_known() || activity.pays(limits::CONNECTION_USED_BYTES)
    }

    /// Takes memory for the request; waits for it as long as a caller may be let wait.
    ///
    /// Errors: `Unavailable`; `TooLarge` for more headers than a request may have.
    pub(crate) async fn enter(&self, headers: &HeaderMap, has_body: bool) -> Result<()> {
        // HTTP/1.1 refuses more by itself.
        if headers.len() > limits::HEADERS_MAX_COUNT {
            return Err(Problem::new(ProblemKind::TooLarge, "the request has too many headers"));
        }
        if headers.contains_key(header::UPGRADE) && !self.activity.may_upgrade() {
            let message = "too many connections are web sockets; try again later";
            return Err(later(ProblemKind::Unavailable, message.to_owned()));
        }
        self.is_long.store(has_body && !headers.contains_key(header::AUTHORIZATION), Relaxed);
        self.take(limits::ANONYMOUS_REQUEST_BYTES).await
    }

    /// Takes memory for a body or an answer of that many bytes.
    ///
    /// Errors: `Unavailable`; of a client `TooManyRequests`.
    pub(crate) async fn hold(&self, bytes: usize) -> Result<()> {
        let Some(client) = self.client.get() else { return self.take(bytes).await };
        if client.takes_bytes(bytes) {
            self.held.fetch_add(bytes, Relaxed);
            return Ok(());
        }
        let most = limits::CLIENT_ANSWERS_MAX_BYTES;
        let message = format!("the client has not read {most} bytes of answers; read them first");
        Err(later(ProblemKind::TooManyRequests, message))
    }

    /// The caller showed a token: the client's limits count from now on. A visitor of a demo needs nothing to
    /// get a token, and so counts as a caller without one.
    ///
    /// Errors: `TooManyRequests`.
    pub(crate) fn show(&self, grant: &Grant) -> Result<()> {
        if grant.client_id() == DEMO_CLIENT || !self.is_anonymous() {
            return Ok(());
        }
        let client = grant.caller();
        if !client.begins_request() {
            let most = limits::CLIENT_REQUESTS_MAX_COUNT;
            let message = format!("the client has {most} requests under way; wait for answers");
            return Err(later(ProblemKind::TooManyRequests, message));
        }
        self.give_back();
        let _ = self.client.set(client);
        self.activity.know();
        Ok(())
    }

    /// The body is waited for until what this answers is dropped. A caller who sends slowly makes room for
    /// others where memory is short.
    pub(crate) fn reads_body(&self) -> ReadingBody<'_> {
        self.activity.read();
        ReadingBody(&self.activity)
    }

    async fn take(&self, bytes: usize) -> Result<()> {
        if self.activity.is_known.load(Relaxed) {
            return Ok(());
        }
        let until = Instant::now() + Duration::from_millis(limits::ANONYMOUS_WAIT_MAX_MS);
        let admission = &self.activity.admission;
        // Several requests at once on one connection, and requests whose bodies are to come, leave a half to
        // others.
        let leaves_half = || self.is_long.load(Relaxed) || self.activity.open.load(Relaxed) > 1;
        let part = || if leaves_half() { 2 } else { 1 };
        let held = bytes.min(LARGEST_BYTES);
        let takes = || {
            self.is_small_or_alone(bytes)
                && admission.take_up_to(Purse::Requests, self.origin(), held, part())
        };
        while !takes() {
            if Instant::now() > until {
                let message = "too many callers without a token are served; try again in a moment";
                return Err(later(ProblemKind::Unavailable, message.to_owned()));
            }
            sleep(Duration::from_millis(limits::ANONYMOUS_WAIT_STEP_MS)).await;
        }
        self.held.fetch_add(held, Relaxed);
        Ok(())
    }

    /// Of answers that are larger than what an address may hold there is one at a time.
    fn is_small_or_alone(&self, bytes: usize) -> bool {
        if bytes > LARGEST_BYTES && self.large.get().is_none() {
            let Some(place) = self.activity.admission.large_answer() else { return false };
            let _ = self.large.set(place);
        }
        true
    }

    fn give_back(&self) {
        let held = self.held.swap(0, Relaxed);
        match self.client.get() {
            Some(client) => client.gives_bytes(held),
            None => self.activity.admission.give(Purse::Requests, self.origin(), held),
        }
    }

    fn origin(&self) -> &Arc<Origin> {
        self.origin.as_ref().unwrap_or(&self.activity.origin)
    }
}

/// A body that is waited for.
pub(crate) struct ReadingBody<'a>(&'a Activity);

impl Drop for ReadingBody<'_> {
    fn drop(&mut self) {
        self.0.reading.fetch_sub(1, Relaxed);
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.give_back();
        if let Some(client) = self.client.get() {
            client.ends_request();
        }
        self.activity.end();
    }
}

fn later(kind: ProblemKind, message: String) -> Problem {
    let mut problem = Problem::new(kind, message);
    problem.retry_after_s = Some(1);
    problem
}

/// A body that holds its guards until it is written or given up, and tells whether it is taken.
pub(crate) struct GuardedBody<G> {
    body: Body,
    running: Arc<RunningRequest>,
    /// Whether the connection was given bytes and has not asked for more yet.
    is_full: bool,
    _guard: G,
}

impl<G> GuardedBody<G> {
    pub(crate) fn new(body: Body, running: Arc<RunningRequest>, guard: G) -> Self {
        Self { body, running, is_full: false, _guard: guard }
    }

    fn set_full(&mut self, is_full: bool) {
        let activity = &self.running.activity;
        if is_full && !self.is_full {
            activity.fill();
        } else if !is_full && self.is_full {
            activity.full.fetch_sub(1, Relaxed);
        }
        self.is_full = is_full;
    }
}

impl<G> Drop for GuardedBody<G> {
    fn drop(&mut self) {
        self.set_full(false);
    }
}

impl<G: Unpin> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.set_full(false);
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.set_full(matches!(polled, Poll::Ready(Some(Ok(_)))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
