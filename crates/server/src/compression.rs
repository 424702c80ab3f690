//! Compression, where it is asked for and worth it. Costs nothing where it is not.

use std::convert::Infallible;
use std::future::ready;

use axum::body::{Body, HttpBody};
use axum::http::{
    Extensions, HeaderMap, HeaderValue, Request, Response, StatusCode, Version, header,
};
use lyceum_core::limits;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

/// Compresses the answer by what `Accept-Encoding` takes: zstd, br or gzip.
pub(crate) async fn negotiate(
    response: Response<Body>,
    accepted: Option<HeaderValue>,
) -> Response<Body> {
    match accepted {
        Some(accepted) if worth_it(&response) => compress(response, accepted).await,
        _ => response,
    }
}

/// Text, and not a short one; a live stream is to arrive at once, piece by piece.
fn worth_it(response: &Response<Body>) -> bool {
    let small = u64::from(limits::COMPRESSION_MIN_BYTES);
    let media = response.headers().get(header::CONTENT_TYPE);
    let media = media.and_then(|media| media.to_str().ok()).unwrap_or_default();
    let text = media.starts_with("text/") || media.contains("json") || media.contains("xml");
    text && media != "text/event-stream"
        && response.body().size_hint().exact().is_none_or(|bytes| bytes >= small)
}

async fn compress(response: Response<Body>, accepted: HeaderValue) -> Response<Body> {
    let mut request = Request::new(());
    request.headers_mut().insert(header::ACCEPT_ENCODING, accepted);
    let mut response = Some(response);
    let give = service_fn(move |_: Request<()>| {
        ready(Ok::<_, Infallible>(response.take().expect("a service that is called once")))
    });
    // JSON of many like records shrinks to a fraction at the lowest level already.
    let layer = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(|_: StatusCode, _: Version, _: &HeaderMap, _: &Extensions| true);
    match layer.layer(give).oneshot(request).await {
        Ok(compressed) => compressed.map(Body::new),
        Err(never) => match never {},
    }
}
