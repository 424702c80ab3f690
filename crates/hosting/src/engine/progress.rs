//! Tracks how much of a request has been sent to a process.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError};
use hyper::Request;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::sleep;

use super::connections::{Body, BoxError};

/// Updated by the request's body.
pub(super) struct BodyProgress {
    moved_at: Mutex<Instant>,
    is_too_long: AtomicBool,
}

/// The request with a body that reports its progress.
pub(super) fn track_progress(request: Request<Body>) -> (Request<Body>, Arc<BodyProgress>) {
    let progress = Arc::new(BodyProgress {
        moved_at: Mutex::new(Instant::now()),
        is_too_long: AtomicBool::new(false),
    });
    let shared = Arc::clone(&progress);
    (request.map(|body| TrackedBody { body, progress: shared }.boxed_unsync()), progress)
}

impl BodyProgress {
    /// Returns when no part of the body was sent for the given time, because the sender is slow or the body is complete.
    pub(super) async fn wait_for_silence(&self, timeout: Duration) {
        loop {
            let moved = *self.moved_at.lock().unwrap_or_else(PoisonError::into_inner);
            let left = timeout.saturating_sub(moved.elapsed());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }

    /// Whether the body exceeded its limit.
    pub(super) fn is_too_long(&self) -> bool {
        self.is_too_long.load(Relaxed)
    }
}

struct TrackedBody {
    body: Body,
    progress: Arc<BodyProgress>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(frame) = &polled {
            *self.progress.moved_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            if let Some(Err(fault)) = frame {
                self.progress.is_too_long.store(fault.is::<LengthLimitError>(), Relaxed);
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
