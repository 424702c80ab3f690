//! One connection: hyper's, with time-outs of its own. hyper has one time-out for a request's
//! headers that runs on an idle connection too; here an idle connection has more time than one
//! that began to send a request.

mod running;
mod watched;

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use lyceum_core::limits;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use crate::admission::{Admission, Origin, Purse, Unused};

pub(crate) use running::{GuardedBody, Peer, RunningRequest};
pub(crate) use watched::{ConnectionSlot, WatchedStream};

/// What every HTTP/2 connection begins with (RFC 9113, 3.4), and nothing else does.
const PREFACE: &[u8] = b"PRI";

/// How long a connection may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// From a request's first byte (or the connection's start) to the end of its headers.
    pub(crate) header: Duration,
    /// Between two requests.
    pub(crate) idle: Duration,
    /// While nothing is taken of an answer.
    pub(crate) taking: Duration,
}

impl Patience {
    /// How long nothing can be over.
    pub(crate) fn shortest(self) -> Duration {
        self.header.min(self.idle).min(self.taking)
    }
}

/// What a connection is doing, told by its reads, requests and answers; and what it holds.
pub(crate) struct Activity {
    /// Its number among all connections of the server.
    pub(crate) number: u64,
    pub(crate) admission: Arc<Admission>,
    pub(crate) origin: Arc<Origin>,
    start: Instant,
    /// Requests whose answers are not yet written in full.
    open: AtomicU32,
    /// Milliseconds since `start`, plus one, at which a request's head began; 0: none has.
    head_since: AtomicU64,
    /// Milliseconds since `start` at which the last answer ended.
    idle_since: AtomicU64,
    /// Answers that have given bytes and were not asked for more.
    full: AtomicU32,
    /// Milliseconds since `start` at which the first of those answers gave bytes.
    full_since: AtomicU64,
    /// Milliseconds since `start` at which bytes of answers went on last.
    moved_at: AtomicU64,
    /// Requests whose bodies are waited for.
    reading: AtomicU32,
    /// Milliseconds since `start` at which the first of those began.
    reading_since: AtomicU64,
    /// A caller showed a token: what the connection holds is not counted.
    is_known: AtomicBool,
    /// Bytes of the preface of HTTP/2 that came first; 255: others came.
    preface: AtomicU8,
    /// Its place among web sockets, where it became one or is about to.
    upgraded: OnceLock<OwnedSemaphorePermit>,
    /// It speaks another protocol by now, as a web socket does.
    is_upgraded: AtomicBool,
    /// Bytes that arrived since the connection was idle last.
    arrived: AtomicUsize,
    /// Bytes that the connection took of what connections without a token may hold.
    paid: AtomicUsize,
    evicted: Notify,
}

impl Activity {
    pub(crate) fn new(number: u64, admission: Arc<Admission>, origin: Arc<Origin>) -> Self {
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

    /// Errors: there is no memory for another HTTP/2 connection without a token.
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

    /// Whether these bytes complete the beginning of the preface of HTTP/2.
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

    /// Whether what the connection holds is not counted: a caller showed a token, or a proxy that the
    /// settings trust has many callers on it.
    fn is_known(&self) -> bool {
        self.is_known.load(Relaxed) || self.origin.is_proxy
    }

    /// Whether the connection has sent so much that it may read on only when memory for that is taken.
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

    /// Takes what is missing until so many bytes are paid; they are kept until a caller shows a token or the
    /// connection ends, for buffers do not shrink. False: there is no memory now.
    fn pays(&self, due: usize) -> bool {
        let paid = self.paid.load(Relaxed);
        if paid >= due {
            return true;
        }
        if !self.admission.take(Purse::Connections, &self.origin, due - paid) {
            return false;
        }
        if self.paid.compare_exchange(paid, due, Relaxed, Relaxed).is_err() {
            // Another request of the connection paid meanwhile.
            self.admission.give(Purse::Connections, &self.origin, due - paid);
        }
        true
    }

    /// A caller showed a token.
    fn know(&self) {
        if !self.is_known() {
            self.is_known.store(true, Relaxed);
            let paid = self.paid.swap(0, Relaxed);
            self.admission.give(Purse::Connections, &self.origin, paid);
        }
    }

    /// An answer gave bytes and was not asked for more yet.
    fn fill(&self) {
        let now = self.now();
        self.moved_at.store(now, Relaxed);
        if self.full.fetch_add(1, Relaxed) == 0 {
            self.full_since.store(now, Relaxed);
        }
    }

    /// The body of a request is waited for.
    fn read(&self) {
        if self.reading.fetch_add(1, Relaxed) == 0 {
            self.reading_since.store(self.now(), Relaxed);
        }
    }

    /// A request has its answer, or is given up.
    fn end(&self) {
        if self.open.fetch_sub(1, Relaxed) == 1 {
            self.idle_since.store(self.now(), Relaxed);
            self.arrived.store(0, Relaxed);
        }
    }

    /// The connection is gone, with all that it held.
    fn leave(&self) {
        let paid = self.paid.swap(0, Relaxed);
        self.admission.give(Purse::Connections, &self.origin, paid);
        self.admission.leave(self);
    }

    /// Takes a place among web sockets, which the connection keeps; false: there are too many.
    fn may_upgrade(&self) -> bool {
        if self.upgraded.get().is_none() {
            let Some(place) = self.admission.upgrade() else { return false };
            let _ = self.upgraded.set(place);
        }
        true
    }

    /// From now on the connection is not HTTP any more.
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

    /// What others may gain if the connection closes; none: it is in use.
    pub(crate) fn unused(&self) -> Option<Unused> {
        if self.is_upgraded.load(Relaxed) {
            return None;
        }
        let is_known = self.is_known.load(Relaxed);
        let holds = self.paid.load(Relaxed) > limits::CONNECTION_USED_BYTES;
        let at = |milliseconds| self.start + Duration::from_millis(milliseconds);
        if self.open.load(Relaxed) == 0 {
            let since = at(self.idle_since.load(Relaxed));
            return Some(Unused { rank: u8::from(is_known), since, is_stalled: false, holds });
        }
        // Whatever is written on HTTP/2 may belong to something else than the answer.
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
        (is_stalled && !is_known).then(|| Unused { rank: 2, since: at(since), is_stalled, holds })
    }

    /// A request's head has arrived.
    pub(crate) fn begin(self: &Arc<Self>) -> RunningRequest {
        self.open.fetch_add(1, Relaxed);
        self.head_since.store(0, Relaxed);
        RunningRequest::new(Arc::clone(self))
    }

    /// How much longer the connection may live as it is; none: it has waited too long.
    pub(crate) fn patience_left(&self, patience: Patience) -> Option<Duration> {
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
