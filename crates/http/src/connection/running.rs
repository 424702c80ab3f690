//! A running request. It ends when its answer is written or cancelled. Until then it holds memory of its client, or
//! of the pool for callers without a token.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use lyceum_access::DEMO_CLIENT;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use super::ConnectionState;
use crate::admission::{CallerAddress, RequestMemory};
use crate::auth::{ClientShare, Grant};
use crate::{Body, limits};

/// The sender of a request: an address, and the memory that the request uses; `None` for requests without a
/// connection.
#[derive(Clone)]
pub struct Peer {
    /// The address; of this machine for a request without a connection.
    pub address: IpAddr,
    /// The request on its connection.
    pub running: Option<Arc<RunningRequest>>,
}

impl Peer {
    /// Reserves memory for a body or an answer of this size, unless it is small.
    ///
    /// Errors: those of [`RunningRequest::reserve_memory`].
    pub(crate) async fn reserve_memory(&self, bytes: usize) -> Result<()> {
        match &self.running {
            Some(running) if bytes > limits::ANSWER_FREE_BYTES => {
                running.reserve_memory(bytes).await
            }
            _ => Ok(()),
        }
    }
}

/// The bytes that an address may hold for several concurrent requests, without those that one request holds before its
/// answer.
const LARGEST_BYTES: usize =
    limits::ANONYMOUS_REQUESTS_MAX_BYTES / limits::ANONYMOUS_PARTS_COUNT / 2
        - limits::ANONYMOUS_REQUEST_BYTES
        - limits::PUBLIC_BODY_MAX_BYTES;

/// A running request, which ends when this is dropped.
pub struct RunningRequest {
    activity: Arc<ConnectionState>,
    /// The address behind a proxy; `None` for the address of the connection.
    origin: Option<Arc<CallerAddress>>,
    /// The bytes that the request holds.
    held: AtomicUsize,
    client: OnceLock<Arc<ClientShare>>,
    /// Whether the body has not arrived and the request has no token.
    is_long: AtomicBool,
    /// The permit for the only large answer without a token.
    large: OnceLock<OwnedSemaphorePermit>,
}

impl RunningRequest {
    pub(super) fn new(activity: Arc<ConnectionState>) -> Self {
        let (held, client, large) = (AtomicUsize::new(0), OnceLock::new(), OnceLock::new());
        let is_long = AtomicBool::new(false);
        Self { activity, origin: None, held, client, is_long, large }
    }

    /// Whether a trusted proxy sent the request.
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.activity.origin.is_proxy
    }

    /// Notes the address for which a proxy sent the request.
    pub(crate) fn sent_for(&mut self, address: IpAddr) {
        self.origin = Some(self.activity.admission.origin(address));
    }

    /// Notes that another node forwarded the request. That node has counted the memory of its callers.
    pub(crate) fn sent_by_node(&self) {
        self.activity.set_known();
    }

    /// Whether the request has shown no token so far.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.client.get().is_none()
    }

    /// Whether the connection may stay open after the answer, because there is enough memory.
    pub(crate) fn may_keep_connection(&self) -> bool {
        let activity = &self.activity;
        activity.is_known() || activity.pays(limits::CONNECTION_USED_BYTES)
    }

    /// Takes memory for the request, and waits for it up to a limit.
    ///
    /// Errors: `Unavailable`; `TooLarge` if the request has too many headers.
    pub(crate) async fn enter(&self, headers: &HeaderMap, has_body: bool) -> Result<()> {
        // hyper already enforces the limit for HTTP/1.1.
        if headers.len() > limits::HEADERS_MAX_COUNT {
            return Err(Problem::new(ProblemKind::TooLarge, "the request has too many headers"));
        }
        if headers.contains_key(header::UPGRADE) && !self.activity.may_upgrade() {
            let message = "too many connections are web sockets; try again later";
            return Err(later(ProblemKind::Unavailable, message.into()));
        }
        self.is_long.store(has_body && !headers.contains_key(header::AUTHORIZATION), Relaxed);
        self.reserve_pooled(limits::ANONYMOUS_REQUEST_BYTES).await
    }

    /// Takes memory for a body or an answer of this size.
    ///
    /// Errors: `Unavailable`, or `TooManyRequests` for a client.
    pub(crate) async fn reserve_memory(&self, bytes: usize) -> Result<()> {
        let Some(client) = self.client.get() else { return self.reserve_pooled(bytes).await };
        if client.takes_bytes(bytes) {
            self.held.fetch_add(bytes, Relaxed);
            return Ok(());
        }
        let most = limits::CLIENT_ANSWERS_MAX_BYTES;
        let message = message!("the client has not read {most} bytes of answers; read them first");
        Err(later(ProblemKind::TooManyRequests, message))
    }

    /// Applies the client's limits from now on, because the caller has shown a token. Demo visitors count as callers
    /// without a token, because anybody can get their token.
    ///
    /// Errors: `TooManyRequests`.
    pub(crate) fn show(&self, grant: &Grant) -> Result<()> {
        if grant.client_id() == DEMO_CLIENT || !self.is_anonymous() {
            return Ok(());
        }
        let client = grant.caller();
        if !client.begins_request() {
            let most = limits::CLIENT_REQUESTS_MAX_COUNT;
            let message = message!(
                "the client has {most} running requests, which is the limit; wait for their answers"
            );
            return Err(later(ProblemKind::TooManyRequests, message));
        }
        self.give_back();
        let _ = self.client.set(client);
        self.activity.set_known();
        Ok(())
    }

    /// Marks the request as waiting for its body until the returned guard is dropped. If memory is short, slow senders
    /// make room for others.
    pub(crate) fn reads_body(&self) -> ReadingBody<'_> {
        self.activity.read();
        ReadingBody(&self.activity)
    }

    async fn reserve_pooled(&self, bytes: usize) -> Result<()> {
        if self.activity.is_known.load(Relaxed) {
            return Ok(());
        }
        let until = Instant::now() + Duration::from_millis(limits::ANONYMOUS_WAIT_MAX_MS);
        let admission = &self.activity.admission;
        // Concurrent requests on one connection, and requests whose bodies have not arrived, leave half of the pool to
        // others.
        let leaves_half = || self.is_long.load(Relaxed) || self.activity.open.load(Relaxed) > 1;
        let part = || if leaves_half() { 2 } else { 1 };
        let held = bytes.min(LARGEST_BYTES);
        let takes = || {
            self.is_small_or_alone(bytes)
                && admission.reserve_up_to(RequestMemory::Requests, self.origin(), held, part())
        };
        while !takes() {
            if Instant::now() > until {
                let message = "too many callers without a token are served; try again in a moment";
                return Err(later(ProblemKind::Unavailable, message.into()));
            }
            sleep(Duration::from_millis(limits::ANONYMOUS_WAIT_STEP_MS)).await;
        }
        self.held.fetch_add(held, Relaxed);
        Ok(())
    }

    /// Only one answer at a time may be larger than the bytes that an address may hold.
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
            None => self.activity.admission.release(RequestMemory::Requests, self.origin(), held),
        }
    }

    fn origin(&self) -> &Arc<CallerAddress> {
        self.origin.as_ref().unwrap_or(&self.activity.origin)
    }
}

/// A body that has not arrived yet.
pub(crate) struct ReadingBody<'a>(&'a ConnectionState);

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
        self.activity.end_request();
    }
}

fn later(kind: ProblemKind, message: Message) -> Problem {
    let mut problem = Problem::new(kind, message);
    problem.retry_after_s = Some(1);
    problem
}

/// A body that holds its guards until it is written or cancelled, and reports whether the caller reads it.
pub(crate) struct GuardedBody<G> {
    body: Body,
    running: Arc<RunningRequest>,
    /// Whether the connection has received bytes that it has not written yet.
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
