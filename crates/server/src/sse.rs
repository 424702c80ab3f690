//! Server-sent events: an answer that goes on.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use bytes::Bytes;
use hyper::body::Frame;
use tokio::sync::mpsc::Receiver;

use crate::answer::Answer;

/// The media type.
pub(crate) const MEDIA: &str = "text/event-stream";

/// The id of what a reader saw last.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An answer of the pieces that a task sends; it ends when the task does.
pub(crate) fn answer(pieces: Receiver<Bytes>) -> Answer {
    Answer::typed(HeaderValue::from_static(MEDIA), Body::new(Chunks(pieces)))
        .header(header::CACHE_CONTROL, "no-store")
        .header(HeaderName::from_static("x-accel-buffering"), "no")
}

/// A body of the pieces that a task sends.
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
