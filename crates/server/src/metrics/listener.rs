//! The listener for Prometheus. It is not a part of the API: it has one path, and no caller needs a token.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use lyceum_core::messages::io_reason;
use lyceum_core::{Problem, ProblemKind, Result};
use tokio::net::TcpListener;

use super::text;
use crate::state::App;
use crate::tls::Tls;

/// The media type of metrics.
pub(crate) const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Listens on the address that the settings name. Errors: `Unavailable` if that is impossible.
pub(crate) async fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!(
            "cannot listen on '{address}' for metrics: {}; choose another address in 'metrics.address'",
            io_reason(&error)
        );
        Problem::new(ProblemKind::Unavailable, message)
    })
}

/// Serves `/metrics` until the server ends.
pub(crate) async fn serve(listener: TcpListener, app: App, tls: Option<Arc<Tls>>) {
    let address = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    tracing::info!(address, "metrics are served");
    let read = async move || {
        let text = text(&app, tls.as_deref()).await;
        ([(header::CONTENT_TYPE, FORMAT)], text)
    };
    let router = Router::new().route("/metrics", get(read));
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!("metrics are not served any more: {error}");
    }
}
