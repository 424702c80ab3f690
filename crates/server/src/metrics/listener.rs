//! The listener for Prometheus. It is not a part of the API: it has one path, and no caller needs a token.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lyceum_core::messages::io_reason;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::metrics::FORMAT;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::MetricSources;
use crate::limits;

/// Listens on the address that the settings name. Errors: `Unavailable` if that is impossible.
pub(crate) async fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = message!(
            "cannot listen on '{address}' for metrics: {reason}; choose another address in 'metrics.address'",
            reason = io_reason(&error)
        );
        Problem::new(ProblemKind::Unavailable, message)
    })
}

/// Serves `/metrics` until the server ends.
pub(crate) async fn serve(listener: TcpListener, sources: MetricSources) {
    let address = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    tracing::info!(address, "metrics are served");
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    http.header_read_timeout(Duration::from_secs(limits::METRICS_IDLE_MAX_S));
    let places = Arc::new(Semaphore::new(limits::METRICS_CONNECTIONS_MAX_COUNT));
    let mut connections = JoinSet::new();
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("it is not closed");
        let stream = match listener.accept().await {
            Ok((stream, _)) => TokioIo::new(stream),
            Err(error) => {
                tracing::warn!("a connection for metrics was not accepted: {error}");
                sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let sources = sources.clone();
        let service = service_fn(move |request| answer(sources.clone(), request));
        let connection = http.serve_connection(stream, service);
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            let _ = connection.await; // the caller has gone, or sent no request for too long
            drop(place);
        });
    }
}

async fn answer(
    sources: MetricSources,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::default();
    if request.uri().path() == "/metrics" {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(FORMAT));
        *response.body_mut() = sources.text().await.into();
    } else {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    Ok(response)
}
