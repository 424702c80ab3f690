//! The stream of a connection. It reports reads and writes to the connection's activity, and pauses reading while memory
//! for it is missing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::ConnectionState;
use crate::limits;

/// The place of a connection, which is released when this is dropped.
pub(crate) struct ConnectionSlot(pub Arc<ConnectionState>);

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A stream that reports its reads and writes to the connection's [`ConnectionState`].
pub(crate) struct WatchedStream<S> {
    stream: S,
    seat: ConnectionSlot,
    /// When to check again whether there is memory to read more.
    again: Option<Pin<Box<Sleep>>>,
}

impl<S> WatchedStream<S> {
    pub(crate) fn new(stream: S, seat: ConnectionSlot) -> Self {
        Self { stream, seat, again: None }
    }

    /// Ready when the connection may read more.
    fn poll_paid(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(due) = self.seat.0.owes() {
            if self.seat.0.pays(due) {
                break;
            }
            let step = Duration::from_millis(limits::ANONYMOUS_WAIT_STEP_MS);
            let again = self.again.get_or_insert_with(|| Box::pin(sleep(step)));
            if again.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.again = None;
        }
        Poll::Ready(())
    }

    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.seat.0.moved();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.poll_paid(cx).is_pending() {
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before
            && let Err(fault) = self.seat.0.bytes_arrived(&buffer.filled()[before..])
        {
            return Poll::Ready(Err(fault));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
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
