//! Connections to a process, reused for later requests.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::limits::{
    ANSWER_PIECE_BYTES, BACKEND_CONNECTION_READY_MS, BACKEND_IDLE_CONNECTIONS_MAX_COUNT,
};

/// Errors while a body is read.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The streamed body of a request or response.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Boxes the body of a request.
pub(super) fn boxed<B>(request: Request<B>) -> Request<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    request.map(|body| body.map_err(Into::into).boxed_unsync())
}

/// The connections to a socket.
pub(super) struct Connections {
    socket: PathBuf,
    idle: Mutex<Vec<SendRequest<Body>>>,
}

impl Connections {
    pub(super) fn to(socket: PathBuf) -> Arc<Self> {
        Arc::new(Self { socket, idle: Mutex::default() })
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Sends the request and returns when the head of the response has arrived. `guard` is dropped with the
    /// response's body.
    pub(super) async fn send<G: Send + Unpin + 'static>(
        self: &Arc<Self>,
        mut request: Request<Body>,
        guard: G,
    ) -> Result<Response<Body>, BoxError> {
        loop {
            let (mut sender, is_new) = match self.idle_connection() {
                Some(mut sender) => match is_ready(&mut sender).await {
                    true => (sender, false),
                    false => continue,
                },
                None => (self.connect().await?, true),
            };
            match sender.try_send_request(request).await {
                Ok(response) => {
                    return Ok(response.map(|body| {
                        let lent =
                            PooledConnection { sender: Some(sender), pool: Arc::clone(self) };
                        Answer { body, _lent: lent, _guard: guard }.boxed_unsync()
                    }));
                }
                // The process closed the idle connection before it received the request, so the request can be sent
                // again.
                Err(mut fault) => match fault.take_message() {
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(fault.into_error().into()),
                },
            }
        }
    }

    fn idle_connection(&self) -> Option<SendRequest<Body>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    async fn connect(&self) -> Result<SendRequest<Body>, BoxError> {
        let stream = UnixStream::connect(&self.socket).await?;
        // A slow caller keeps the buffer for as long as it reads, so the buffer is small.
        let mut http = http1::Builder::new();
        http.max_buf_size(ANSWER_PIECE_BYTES);
        let (sender, connection) = http.handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// Whether an idle connection accepts a request now. If it is still sending the body of an earlier request, it is not
/// reused, because that client may be slow.
async fn is_ready(sender: &mut SendRequest<Body>) -> bool {
    let patience = Duration::from_millis(BACKEND_CONNECTION_READY_MS);
    sender.is_ready() || timeout(patience, sender.ready()).await.is_ok_and(|ready| ready.is_ok())
}

/// A connection that returns to the pool when the response has been read.
struct PooledConnection {
    sender: Option<SendRequest<Body>>,
    pool: Arc<Connections>,
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = self.sender.take().filter(|sender| !sender.is_closed());
        if idle.len() < BACKEND_IDLE_CONNECTIONS_MAX_COUNT {
            idle.extend(sender);
        }
    }
}

struct Answer<G> {
    body: Incoming,
    _lent: PooledConnection,
    _guard: G,
}

impl<G: Unpin> HttpBody for Answer<G> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(cx).map_err(|fault| {
            Box::new(io::Error::other(format!("the backend stopped answering: {fault}")))
                as BoxError
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
