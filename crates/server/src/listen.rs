//! The listener: connections in, connections out, and an end that loses no request.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use lyceum_core::limits;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::connection::{Activity, Guarded, Patience, Watched};
use crate::dispatch::Dispatch;
use crate::metrics::InFlight;
use crate::state::App;
use crate::tls::Tls;

/// How the server stands to its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Idle connections close, the others after the answer they owe.
    Closing,
    /// The grace is over.
    Cut,
}

/// What every connection shares.
struct Shared {
    app: App,
    dispatch: Arc<Dispatch>,
    tls: Option<Arc<Tls>>,
    patience: Patience,
    http: auto::Builder<TokioExecutor>,
}

/// Serves until `stop` is done, then finishes what was accepted:
/// `/ready` turns 503 and answers say `Connection: close`; after a notice the listener and idle
/// connections close; requests in the works have the configured grace.
pub(crate) async fn run(
    listener: TcpListener,
    app: App,
    dispatch: Arc<Dispatch>,
    tls: Option<Arc<Tls>>,
    stop: impl Future<Output = ()>,
) {
    let server = &app.config.server;
    let patience = Patience {
        header: Duration::from_secs(server.header_timeout_s),
        idle: Duration::from_secs(server.keep_alive_s),
        taking: Duration::from_secs(server.request_timeout_s),
    };
    let grace = Duration::from_secs(server.shutdown_grace_s);
    let http = auto::Builder::new(TokioExecutor::new());
    let shared = Arc::new(Shared { app, dispatch, tls, patience, http });
    let (phase, follow) = watch::channel(Phase::Open);

    tokio::select! {
        () = accept(&listener, &shared, &follow) => unreachable!("accepting has no end"),
        () = stop => {}
    }
    shared.app.draining.store(true, Relaxed);
    tracing::info!("stopping: finishing what was accepted");
    let notice = Duration::from_millis(limits::SHUTDOWN_NOTICE_MS);
    let _ = timeout(notice, accept(&listener, &shared, &follow)).await;
    drop((listener, follow));
    phase.send_replace(Phase::Closing);
    if timeout(grace, phase.closed()).await.is_err() {
        let left = phase.receiver_count();
        tracing::warn!(connections = left, "the grace is over: connections are cut");
        phase.send_replace(Phase::Cut);
        phase.closed().await;
    }
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>, phase: &watch::Receiver<Phase>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(connect(stream, peer, Arc::clone(shared), phase.clone()));
            }
            Err(fault) => {
                // A peer that went away is no reason to wait; no free file descriptor is.
                let gone = matches!(
                    fault.kind(),
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
                );
                if !gone {
                    tracing::error!("a connection cannot be accepted: {fault}");
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

async fn connect(
    stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<Shared>,
    phase: watch::Receiver<Phase>,
) {
    // Answers are written whole; waiting to send more at once only delays them.
    let _ = stream.set_nodelay(true);
    let Some(tls) = &shared.tls else { return serve(stream, peer, &shared, phase).await };
    let limit = Duration::from_millis(limits::TLS_HANDSHAKE_MAX_MS);
    if let Ok(Ok(stream)) = timeout(limit, tls.acceptor().accept(stream)).await {
        serve(stream, peer, &shared, phase).await;
    }
}

async fn serve<S>(stream: S, peer: SocketAddr, shared: &Shared, mut phase: watch::Receiver<Phase>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Arc::new(Activity::new());
    let service = service_fn(|request: Request<Incoming>| {
        let (running, guard) = (activity.begin(), InFlight::count(&shared.app));
        let dispatch = Arc::clone(&shared.dispatch);
        async move {
            let response = dispatch.handle(request, peer.ip()).await;
            Ok::<_, Infallible>(response.map(|body| Guarded::new(body, running, guard)))
        }
    });
    let io = TokioIo::new(Watched { stream, activity: Arc::clone(&activity) });
    let mut connection = pin!(shared.http.serve_connection_with_upgrades(io, service));
    let mut watch = pin!(sleep(shared.patience.shortest()));
    let mut told_to_close = false;
    loop {
        tokio::select! {
            biased;
            // A fault here is the peer's: it went away or does not speak HTTP.
            _ = connection.as_mut() => return,
            () = watch.as_mut() => match activity.patience_left(shared.patience) {
                Some(left) => watch.as_mut().reset(Instant::now() + left),
                None if told_to_close => return,
                None => {
                    told_to_close = true;
                    connection.as_mut().graceful_shutdown();
                    watch.as_mut().reset(Instant::now() + Duration::from_secs(1));
                }
            },
            _ = phase.changed() => match *phase.borrow_and_update() {
                Phase::Open => {}
                Phase::Closing => connection.as_mut().graceful_shutdown(),
                Phase::Cut => return,
            },
        }
    }
}
