//! Connections to a process, reused for later requests.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

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
    ANSWER_PIECE_BYTES, BACKEND_CONNECTION_IDLE_MAX_MS, BACKEND_CONNECTION_READY_MS,
    BACKEND_IDLE_CONNECTIONS_MAX_COUNT,
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
    /// The last one has been idle for the shortest time.
    idle: Mutex<Vec<IdleConnection>>,
}

struct IdleConnection {
    sender: SendRequest<Body>,
    since: Instant,
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
        let most = Duration::from_millis(BACKEND_CONNECTION_IDLE_MAX_MS);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|connection| connection.since.elapsed() < most);
        idle.pop().map(|connection| connection.sender)
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
            idle.extend(sender.map(|sender| IdleConnection { sender, since: Instant::now() }));
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::Empty;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixListener;
    use tokio::time::sleep;

    use super::*;

    /// Answers all requests, and counts the connections.
    async fn answer(listener: UnixListener, connections: Arc<AtomicUsize>) {
        while let Ok((mut stream, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut request = [0; 1024];
                while stream.read(&mut request).await.is_ok_and(|bytes| bytes > 0) {
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                        .await
                        .unwrap();
                }
            });
        }
    }

    #[tokio::test]
    async fn a_connection_that_was_idle_for_long_is_not_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let connections = Arc::new(AtomicUsize::new(0));
        let listener = UnixListener::bind(&socket).unwrap();
        tokio::spawn(answer(listener, Arc::clone(&connections)));
        let pool = Connections::to(socket);
        for (pause_ms, expected) in [(0, 1), (200, 1), (BACKEND_CONNECTION_IDLE_MAX_MS, 2)] {
            sleep(Duration::from_millis(pause_ms)).await;
            let request = boxed(Request::get("/").body(Empty::<Bytes>::new()).unwrap());
            let response = pool.send(request, ()).await.unwrap();
            response.into_body().collect().await.unwrap();
            assert_eq!(connections.load(Ordering::Relaxed), expected, "after {pause_ms} ms");
        }
    }
}
