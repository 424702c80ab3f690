//! One connection: hyper's, with time-outs of its own. hyper has one time-out for a request's
//! headers that runs on an idle connection too; here an idle connection has more time than one
//! that began to send a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

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

/// What a connection is doing, told by its reads, requests and answers.
pub(crate) struct Activity {
    start: Instant,
    /// Requests whose answers are not yet written in full.
    open: AtomicU32,
    /// Milliseconds since `start`, plus one, at which a request's head began; 0: none has.
    head_since: AtomicU64,
    /// Milliseconds since `start` at which the last answer ended.
    idle_since: AtomicU64,
    /// Answers that have given bytes and were not asked for more.
    full: AtomicU32,
    /// Milliseconds since `start` at which bytes of answers went on last.
    moved_at: AtomicU64,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            open: AtomicU32::new(0),
            head_since: AtomicU64::new(1),
            idle_since: AtomicU64::new(0),
            full: AtomicU32::new(0),
            moved_at: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn bytes_arrived(&self) {
        if self.open.load(Relaxed) == 0 && self.head_since.load(Relaxed) == 0 {
            self.head_since.store(self.now() + 1, Relaxed);
        }
    }

    fn moved(&self) {
        self.moved_at.store(self.now(), Relaxed);
    }

    /// A request's head has arrived.
    pub(crate) fn begin(self: &Arc<Self>) -> Running {
        self.open.fetch_add(1, Relaxed);
        self.head_since.store(0, Relaxed);
        Running { activity: Arc::clone(self), is_full: false }
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

/// A request in the works; ends when dropped.
pub(crate) struct Running {
    activity: Arc<Activity>,
    /// Bytes were given and no more are asked for yet.
    is_full: bool,
}

impl Running {
    fn set_full(&mut self, is_full: bool) {
        if is_full && !self.is_full {
            self.activity.moved();
            self.activity.full.fetch_add(1, Relaxed);
        } else if !is_full && self.is_full {
            self.activity.full.fetch_sub(1, Relaxed);
        }
        self.is_full = is_full;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.set_full(false);
        if self.activity.open.fetch_sub(1, Relaxed) == 1 {
            self.activity.idle_since.store(self.activity.now(), Relaxed);
        }
    }
}

/// A body that holds its guards until it is written or given up, and tells whether it is taken.
pub(crate) struct Guarded<G> {
    body: Body,
    running: Running,
    _guard: G,
}

impl<G> Guarded<G> {
    pub(crate) fn new(body: Body, running: Running, guard: G) -> Self {
        Self { body, running, _guard: guard }
    }
}

impl<G: Unpin> HttpBody for Guarded<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.running.set_full(false);
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.running.set_full(matches!(polled, Poll::Ready(Some(Ok(_)))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream whose reads and writes are told to the connection's [`Activity`].
pub(crate) struct Watched<S> {
    pub(crate) stream: S,
    pub(crate) activity: Arc<Activity>,
}

impl<S> Watched<S> {
    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.activity.moved();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.activity.bytes_arrived();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
