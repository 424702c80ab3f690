//! A connection, served by hyper with our own time-outs. hyper's time-out for headers also runs while a connection is
//! idle. Here, an idle connection has more time than one that has begun to send a request.

mod running;
mod watched;

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit};

use crate::admission::{Admission, CallerAddress, IdleConnection, RequestMemory};
use crate::limits;

pub use running::Peer;
pub(crate) use running::{GuardedBody, RunningRequest};
pub(crate) use watched::{ConnectionSlot, WatchedStream};

/// The first bytes of every HTTP/2 connection (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI";

/// The time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionTimeouts {
    /// From a request's first byte (or the connection's start) to the end of its headers.
    pub(crate) header: Duration,
    /// Between two requests.
    pub(crate) idle: Duration,
    /// While the caller does not read an answer.
    pub(crate) taking: Duration,
}

impl ConnectionTimeouts {
    /// The shortest time after which a limit can be exceeded.
    pub(crate) fn shortest(self) -> Duration {
        self.header.min(self.idle).min(self.taking)
    }
}

/// The state of a connection, updated by its reads, requests and answers, and the memory that it holds.
pub(crate) struct ConnectionState {
    /// The number of the connection.
    pub(crate) number: u64,
    pub(crate) admission: Arc<Admission>,
    pub(crate) origin: Arc<CallerAddress>,
    start: Instant,
    /// The number of requests whose answers are not completely written.
    open: AtomicU32,
    /// When the head of a request began, in milliseconds since `start` plus one; 0 if none has begun.
    head_since: AtomicU64,
    /// When the last answer ended, in milliseconds since `start`.
    idle_since: AtomicU64,
    /// The number of answers that have produced bytes which the connection has not written yet.
    full: AtomicU32,
    /// When the first of those answers produced bytes, in milliseconds since `start`.
    full_since: AtomicU64,
    /// When bytes of answers were last written, in milliseconds since `start`.
    moved_at: AtomicU64,
    /// The number of requests whose bodies have not arrived.
    reading: AtomicU32,
    /// When the first of those requests began, in milliseconds since `start`.
    reading_since: AtomicU64,
    /// Whether a caller has shown a token. The memory of such a connection is not counted.
    is_known: AtomicBool,
    /// The number of bytes of the HTTP/2 preface that arrived first; 255 if the connection does not use HTTP/2.
    preface: AtomicU8,
    /// The permit of a web socket, if the connection is one or is about to become one.
    upgraded: OnceLock<OwnedSemaphorePermit>,
    /// Whether the connection has switched to another protocol, such as web sockets.
    is_upgraded: AtomicBool,
    /// The bytes that arrived since the connection was last idle.
    arrived: AtomicUsize,
    /// The bytes that the connection took from the pool for connections without a token.
    paid: AtomicUsize,
    evicted: Notify,
}

impl ConnectionState {
    pub(crate) fn new(number: u64, admission: Arc<Admission>, origin: Arc<CallerAddress>) -> Self {
        Self {
            number,
            admission,
            origin,
            start: Instant::now(),
            open: AtomicU32::new(0),
            head_since: AtomicU64::new(1),
            idle_since: AtomicU64::new(0),
            full: AtomicU32::new(0),
            full_since: AtomicU64::new(0),
            moved_at: AtomicU64::new(0),
            reading: AtomicU32::new(0),
            reading_since: AtomicU64::new(0),
            is_known: AtomicBool::new(false),
            preface: AtomicU8::new(0),
            upgraded: OnceLock::new(),
            is_upgraded: AtomicBool::new(false),
            arrived: AtomicUsize::new(0),
            paid: AtomicUsize::new(0),
            evicted: Notify::new(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Errors: the pool has no memory for another HTTP/2 connection without a token.
    fn bytes_arrived(&self, bytes: &[u8]) -> io::Result<()> {
        if self.open.load(Relaxed) == 0 && self.head_since.load(Relaxed) == 0 {
            self.head_since.store(self.now() + 1, Relaxed);
        }
        self.arrived.fetch_add(bytes.len(), Relaxed);
        if self.begins_http2(bytes)
            && !self.is_known()
            && !self.pays(limits::HTTP2_CONNECTION_BYTES)
        {
            return Err(io::Error::other("too many HTTP/2 connections without a token"));
        }
        Ok(())
    }

    /// Whether these bytes complete the first part of the HTTP/2 preface.
    fn begins_http2(&self, bytes: &[u8]) -> bool {
        let before = usize::from(self.preface.load(Relaxed));
        let Some(missing) = PREFACE.get(before..).filter(|missing| !missing.is_empty()) else {
            return false;
        };
        let fits = missing.iter().zip(bytes).all(|(missing, byte)| missing == byte);
        let now = if fits { before + missing.len().min(bytes.len()) } else { usize::from(u8::MAX) };
        self.preface.store(u8::try_from(now).unwrap_or(u8::MAX), Relaxed);
        now == PREFACE.len()
    }

    fn is_http2(&self) -> bool {
        usize::from(self.preface.load(Relaxed)) == PREFACE.len()
    }

    fn moved(&self) {
        self.moved_at.store(self.now(), Relaxed);
    }

    /// Whether the connection's memory is not counted, because a caller has shown a token, or because many callers
    /// share it through a trusted proxy.
    fn is_known(&self) -> bool {
        self.is_known.load(Relaxed) || self.origin.is_proxy
    }

    /// Whether the connection must take memory from the pool before it may read more.
    fn owes(&self) -> Option<usize> {
        if self.is_known() || self.arrived.load(Relaxed) <= limits::CONNECTION_FREE_BYTES {
            return None;
        }
        let due = match self.is_http2() {
            true => limits::HTTP2_CONNECTION_LARGE_BYTES,
            false => limits::CONNECTION_LARGE_BYTES,
        };
        (self.paid.load(Relaxed) < due).then_some(due)
    }

    /// Takes bytes from the pool until the connection holds this many. It keeps them until a caller shows a token or
    /// the connection ends, because buffers do not shrink. Returns false if the pool has no memory now.
    fn pays(&self, due: usize) -> bool {
        let paid = self.paid.load(Relaxed);
        if paid >= due {
            return true;
        }
        if !self.admission.reserve(RequestMemory::Connections, &self.origin, due - paid) {
            return false;
        }
        if self.paid.compare_exchange(paid, due, Relaxed, Relaxed).is_err() {
            // Another request of the connection took the bytes meanwhile.
            self.admission.release(RequestMemory::Connections, &self.origin, due - paid);
        }
        true
    }

    /// Notes that a caller has shown a token.
    fn set_known(&self) {
        if !self.is_known() {
            self.is_known.store(true, Relaxed);
            let paid = self.paid.swap(0, Relaxed);
            self.admission.release(RequestMemory::Connections, &self.origin, paid);
        }
    }

    /// Notes that an answer produced bytes that are not written yet.
    fn fill(&self) {
        let now = self.now();
        self.moved_at.store(now, Relaxed);
        if self.full.fetch_add(1, Relaxed) == 0 {
            self.full_since.store(now, Relaxed);
        }
    }

    /// Notes that the server waits for the body of a request.
    fn read(&self) {
        if self.reading.fetch_add(1, Relaxed) == 0 {
            self.reading_since.store(self.now(), Relaxed);
        }
    }

    /// Notes that a request was answered or cancelled.
    fn end_request(&self) {
        if self.open.fetch_sub(1, Relaxed) == 1 {
            self.idle_since.store(self.now(), Relaxed);
            self.arrived.store(0, Relaxed);
        }
    }

    /// Returns everything that the closed connection held.
    fn leave(&self) {
        let paid = self.paid.swap(0, Relaxed);
        self.admission.release(RequestMemory::Connections, &self.origin, paid);
        self.admission.leave(self);
    }

    /// Takes a permit for a web socket, which the connection keeps. Returns false if there are too many.
    fn may_upgrade(&self) -> bool {
        if self.upgraded.get().is_none() {
            let Some(place) = self.admission.upgrade() else { return false };
            let _ = self.upgraded.set(place);
        }
        true
    }

    /// Notes that the connection no longer speaks HTTP.
    pub(crate) fn upgrade(&self) {
        self.is_upgraded.store(true, Relaxed);
    }

    /// Tells the connection to close.
    pub(crate) fn evict(&self) {
        self.evicted.notify_one();
    }

    /// Waits until the connection is told to close.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// The memory that closing the connection would free; `None` if it is in use.
    pub(crate) fn unused(&self) -> Option<IdleConnection> {
        if self.is_upgraded.load(Relaxed) {
            return None;
        }
        let is_known = self.is_known.load(Relaxed);
        let holds = self.paid.load(Relaxed) > limits::CONNECTION_USED_BYTES;
        let at = |milliseconds| self.start + Duration::from_millis(milliseconds);
        if self.open.load(Relaxed) == 0 {
            let since = at(self.idle_since.load(Relaxed));
            return Some(IdleConnection {
                rank: u8::from(is_known),
                since,
                is_stalled: false,
                holds,
            });
        }
        // On HTTP/2, written bytes may belong to something other than the answer.
        let full_since = match (self.full_since.load(Relaxed), self.moved_at.load(Relaxed)) {
            (full_since, moved_at) if !self.is_http2() => full_since.max(moved_at),
            (full_since, _) => full_since,
        };
        let reading_since = self.reading_since.load(Relaxed);
        let is_over = |since: u64, limit| self.now().saturating_sub(since) > limit;
        let is_unread =
            self.full.load(Relaxed) > 0 && is_over(full_since, limits::STALLED_ANSWER_MS);
        let is_unsent =
            self.reading.load(Relaxed) > 0 && is_over(reading_since, limits::STALLED_BODY_MS);
        let is_stalled = is_unread || is_unsent;
        let since = if is_unread { full_since } else { reading_since };
        (is_stalled && !is_known).then(|| IdleConnection {
            rank: 2,
            since: at(since),
            is_stalled,
            holds,
        })
    }

    /// Notes that the head of a request has arrived.
    pub(crate) fn begin_request(self: &Arc<Self>) -> RunningRequest {
        self.open.fetch_add(1, Relaxed);
        self.head_since.store(0, Relaxed);
        RunningRequest::new(Arc::clone(self))
    }

    /// The time until the next limit of the connection ends; `None` if a limit is exceeded.
    pub(crate) fn patience_left(&self, patience: ConnectionTimeouts) -> Option<Duration> {
        if self.open.load(Relaxed) > 0 && self.full.load(Relaxed) == 0 {
            return Some(patience.shortest());
        }
        let (since, limit) = match self.head_since.load(Relaxed) {
            _ if self.open.load(Relaxed) > 0 => (self.moved_at.load(Relaxed), patience.taking),
            0 => {
                let since = self.idle_since.load(Relaxed).max(self.moved_at.load(Relaxed));
                (since, patience.idle)
            }
            head => (head - 1, patience.header),
        };
        let waited = Duration::from_millis(self.now().saturating_sub(since));
        limit.checked_sub(waited).filter(|left| !left.is_zero())
    }
}
