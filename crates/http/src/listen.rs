//! The listener: admits connections and requests as far as there is room, ends slow ones, marks requests that other nodes
//! forwarded, and shuts down without losing a request.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use http::{HeaderValue, Request, Response, Version, header};
use hyper::body::{Body as HttpBody, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use lyceum_core::Problem;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::connection::{
    ConnectionSlot, ConnectionState, ConnectionTimeouts, GuardedBody, Peer, RunningRequest,
    WatchedStream,
};
use crate::dispatch::Dispatch;
use crate::metrics::InFlight;
use crate::proxy::{self, ForwardedCaller};
use crate::render;
use crate::tls::Tls;
use crate::{Application, Body, limits};

/// The phase of the server towards its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListenPhase {
    Open,
    /// Idle connections close now, and others after their current answer.
    Closing,
    /// The grace period has ended.
    Cut,
}

/// The values that all connections share.
struct ListenerShared<A> {
    app: Arc<A>,
    dispatch: Arc<Dispatch<A>>,
    tls: Option<Arc<Tls>>,
    patience: ConnectionTimeouts,
    http: auto::Builder<TokioExecutor>,
    /// Permits for connections that are being refused.
    refusals: Arc<Semaphore>,
}

/// Serves until `stop` completes, then finishes the accepted requests. First, `/ready` answers 503 and answers contain
/// `Connection: close`. After the configured notice period, the listener and idle connections close. Running requests have
/// the configured grace period to end.
pub async fn run<A: Application>(
    listener: TcpListener,
    app: Arc<A>,
    dispatch: Arc<Dispatch<A>>,
    tls: Option<Arc<Tls>>,
    stop: impl Future<Output = ()>,
) {
    let server = &app.config.server;
    let patience = ConnectionTimeouts {
        header: Duration::from_secs(server.header_timeout_s),
        idle: Duration::from_secs(server.keep_alive_s),
        taking: Duration::from_secs(server.request_timeout_s),
    };
    let grace = Duration::from_secs(server.shutdown_grace_s);
    let notice = Duration::from_millis(server.shutdown_notice_ms);
    let refusals = Arc::new(Semaphore::new(limits::REFUSALS_MAX_COUNT));
    let shared = Arc::new(ListenerShared { app, dispatch, tls, patience, http: http(), refusals });
    let (phase, follow) = watch::channel(ListenPhase::Open);

    tokio::select! {
        () = accept(&listener, &shared, &follow) => unreachable!("accepting has no end"),
        () = stop => {}
    }
    shared.app.draining.store(true, Relaxed);
    shared.app.end_streams();
    tracing::info!("stopping: finishing the accepted requests");
    let _ = timeout(notice, accept(&listener, &shared, &follow)).await;
    drop((listener, follow));
    phase.send_replace(ListenPhase::Closing);
    if timeout(grace, phase.closed()).await.is_err() {
        let left = phase.receiver_count();
        tracing::warn!(
            connections = left,
            "the grace period has ended: closing the remaining connections"
        );
        phase.send_replace(ListenPhase::Cut);
        phase.closed().await;
    }
}

/// Configures HTTP with buffers, windows and numbers of streams within our limits.
fn http() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().max_buf_size(limits::HEAD_MAX_BYTES);
    http.http2()
        .max_concurrent_streams(limits::HTTP2_STREAMS_MAX_COUNT)
        .max_header_list_size(limits::HTTP2_HEAD_MAX_BYTES)
        .max_send_buf_size(limits::HTTP2_SEND_BUFFER_BYTES)
        .initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
        .initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
        .max_pending_accept_reset_streams(limits::HTTP2_RESETS_WAITING_MAX_COUNT)
        .max_local_error_reset_streams(limits::HTTP2_RESETS_OF_ERRORS_MAX_COUNT);
    http
}

async fn accept(
    listener: &TcpListener,
    shared: &Arc<ListenerShared<impl Application>>,
    phase: &watch::Receiver<ListenPhase>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => match shared.app.admission.seat(peer.ip()).await {
                Some(seat) => {
                    tokio::spawn(connect(stream, peer, seat, Arc::clone(shared), phase.clone()));
                }
                None => refuse(stream, shared),
            },
            Err(fault) => {
                // Wait only if there is no free file descriptor, not if the peer disconnected.
                let gone = matches!(
                    fault.kind(),
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
                );
                if !gone {
                    shared.app.admission.relieve();
                    tracing::error!("cannot accept a connection: {fault}");
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// Tells a caller that the server is full if the connection is not encrypted, and closes it.
fn refuse(mut stream: TcpStream, shared: &ListenerShared<impl Application>) {
    const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\
        Connection: close\r\nContent-Length: 0\r\n\r\n";
    if shared.tls.is_some() {
        return;
    }
    let Ok(place) = Arc::clone(&shared.refusals).try_acquire_owned() else { return };
    tokio::spawn(async move {
        let _place = place;
        let tell = async {
            stream.write_all(FULL).await?;
            stream.shutdown().await?;
            // Closing while bytes of the request are unread would reset the connection and lose the answer.
            let mut request = [0; 1024];
            while stream.read(&mut request).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        let _ = timeout(Duration::from_millis(limits::REFUSAL_MAX_MS), tell).await;
    });
}

async fn connect(
    stream: TcpStream,
    peer: SocketAddr,
    activity: Arc<ConnectionState>,
    shared: Arc<ListenerShared<impl Application>>,
    phase: watch::Receiver<ListenPhase>,
) {
    let seat = ConnectionSlot(Arc::clone(&activity));
    // Answers are written at once, so waiting to combine packets would only delay them.
    let _ = stream.set_nodelay(true);
    let Some(tls) = &shared.tls else {
        let io = WatchedStream::new(stream, seat);
        return serve(io, peer.ip(), &activity, &shared, phase).await;
    };
    let limit = Duration::from_millis(limits::TLS_HANDSHAKE_MAX_MS);
    let secured = tokio::select! {
        secured = timeout(limit, tls.accept(stream)) => secured,
        () = activity.evicted() => return,
    };
    if let Ok(Ok(stream)) = secured {
        let io = WatchedStream::new(stream, seat);
        serve(io, peer.ip(), &activity, &shared, phase).await;
    }
}

async fn serve<S, A>(
    io: WatchedStream<S>,
    peer: IpAddr,
    activity: &Arc<ConnectionState>,
    shared: &ListenerShared<A>,
    mut phase: watch::Receiver<ListenPhase>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Application,
{
    let service = service_fn(|request: Request<Incoming>| {
        let (mut running, guard) = (activity.begin_request(), InFlight::count(&shared.app));
        if running.is_of_proxy() {
            let trusted = &shared.app.config.server.trusted_proxies;
            running.sent_for(proxy::caller(peer, request.headers(), trusted));
        }
        let request = recognize_forwarded(&*shared.app, request, &running);
        let (running, dispatch) = (Arc::new(running), Arc::clone(&shared.dispatch));
        async move {
            let is_http2 = request.version() == Version::HTTP_2;
            let stays_open = is_http2 || running.may_keep_connection();
            let has_body = !request.body().is_end_stream();
            let mut response = match running.enter(request.headers(), has_body).await {
                Ok(()) => {
                    let peer = Peer { address: peer, running: Some(Arc::clone(&running)) };
                    let body = |body| if has_body { Body::new(body) } else { Body::empty() };
                    dispatch.handle(request.map(body), peer).await
                }
                Err(problem) => refused(&problem),
            };
            if !stays_open && running.is_anonymous() {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            Ok::<_, Infallible>(response.map(|body| GuardedBody::new(body, running, guard)))
        }
    });
    let mut connection =
        pin!(shared.http.serve_connection_with_upgrades(TokioIo::new(io), service));
    let mut watch = pin!(sleep(shared.patience.shortest()));
    let mut evicted = pin!(activity.evicted());
    let mut told_to_close = false;
    loop {
        tokio::select! {
            biased;
            // The peer causes errors here: it disconnected or does not speak HTTP.
            _ = connection.as_mut() => return activity.upgrade(),
            () = watch.as_mut() => match activity.patience_left(shared.patience) {
                Some(left) => watch.as_mut().reset(Instant::now() + left),
                None if told_to_close => return,
                None => {
                    told_to_close = true;
                    connection.as_mut().graceful_shutdown();
                    watch.as_mut().reset(Instant::now() + Duration::from_secs(1));
                }
            },
            () = evicted.as_mut() => {
                // A request may have arrived meanwhile.
                if activity.unused().is_none() {
                    evicted.set(activity.evicted());
                    continue;
                }
                connection.as_mut().graceful_shutdown();
                // Idle connections end immediately. Answers that their callers do not read are cut off.
                let _ = timeout(Duration::from_millis(1), connection.as_mut()).await;
                return;
            }
            _ = phase.changed() => match *phase.borrow_and_update() {
                ListenPhase::Open => {}
                ListenPhase::Closing => connection.as_mut().graceful_shutdown(),
                ListenPhase::Cut => return,
            },
        }
    }
}

/// Marks a request that another node forwarded. A forged one stays as it is, and is refused later.
fn recognize_forwarded<B>(
    app: &impl Application,
    request: Request<B>,
    running: &RunningRequest,
) -> Request<B> {
    let (mut parts, body) = request.into_parts();
    if let Ok(Some(caller)) = app.forwarded_caller(&parts) {
        parts.extensions.insert(ForwardedCaller(caller));
        running.sent_by_node();
    }
    Request::from_parts(parts, body)
}

/// The answer to a request that was not admitted. It has no body, so that a slow reader does not occupy memory.
fn refused(problem: &Problem) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = render::status(problem.kind);
    if let Some(seconds) = problem.retry_after_s {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
