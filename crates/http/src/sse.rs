//! Server-sent events: answers that continue until the reader disconnects.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep};

use crate::answer::Answer;
use crate::{Body, limits};

/// The media type.
pub const MEDIA: &str = "text/event-stream";

/// The id of the last event that the reader received.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An answer with the pieces that a task sends. It ends when the task ends.
pub fn answer(pieces: Receiver<Bytes>) -> Answer {
    Answer::typed(HeaderValue::from_static(MEDIA), Body::new(Chunks(pieces)))
        .header(header::CACHE_CONTROL, "no-store")
        .header(HeaderName::from_static("x-accel-buffering"), "no")
}

/// Checks whether the reader of a stream may still read it.
pub type StillAllowed = Box<dyn Fn() -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync>;

/// Sends pieces to a reader as long as the reader has access. The access is checked again every
/// [`limits::STREAM_CHECK_MS`], even while a slow reader reads nothing.
pub struct EventFeed {
    sender: Sender<Bytes>,
    may_read: StillAllowed,
    checked: Instant,
}

/// The time between two looks at something that may change without a signal.
pub const POLL: Duration = Duration::from_millis(limits::EVENT_STREAM_POLL_MS);
/// The time between two checks.
pub const CHECK: Duration = Duration::from_millis(limits::STREAM_CHECK_MS);

impl EventFeed {
    /// A stream whose pieces go to the sender.
    pub fn new(sender: Sender<Bytes>, may_read: StillAllowed) -> Self {
        Self { sender, may_read, checked: Instant::now() }
    }

    /// Sends a piece if there is one. Returns false if the stream must end.
    pub async fn send(&mut self, piece: String) -> bool {
        loop {
            if self.checked.elapsed() >= CHECK {
                self.checked = Instant::now();
                if !(self.may_read)().await {
                    return false;
                }
            }
            if piece.is_empty() {
                return true;
            }
            tokio::select! {
                permit = self.sender.reserve() => {
                    return permit.map(|permit| permit.send(piece.into())).is_ok();
                }
                () = sleep(CHECK) => {}
            }
        }
    }

    /// Waits before the next check for something to send. Returns false if the reader disconnected.
    pub async fn pause(&self, wait: Duration) -> bool {
        tokio::select! {
            () = sleep(wait) => true,
            () = self.sender.closed() => false,
        }
    }
}

/// A body with the pieces that a task sends.
struct Chunks(Receiver<Bytes>);

impl hyper::body::Body for Chunks {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        waker: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(waker).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}
