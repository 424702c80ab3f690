//! Compresses answers if the client accepts it and the answer is large enough.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderValue, Request, Response, StatusCode, Version, header};
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

use crate::fixed::FixedAnswer;
use crate::limits;

/// Compresses the answer with an encoding that `Accept-Encoding` allows: zstd, br or gzip. Constant answers have
/// compressed copies. Other answers need a permit, and are sent uncompressed without one. The layer wraps one answer
/// instead of the router, because its predicate does not see which encodings the request accepts.
pub async fn negotiate(
    mut response: Response<Body>,
    accepted: Option<HeaderValue>,
    place: impl FnOnce() -> Option<OwnedSemaphorePermit>,
) -> Response<Body> {
    let fixed = response.extensions_mut().remove::<Arc<FixedAnswer>>();
    let Some(accepted) = accepted.filter(|_| worth_it(&response)) else { return response };
    if let Some(fixed) = fixed {
        return packed(response, &accepted, &fixed).await;
    }
    match place() {
        Some(place) => {
            let response = compress(response, accepted, CompressionLevel::Fastest).await;
            response.map(|body| {
                // The permit is held until the last byte is written.
                Body::new(body.map_frame(move |frame| {
                    let _place = &place;
                    frame
                }))
            })
        }
        None => response,
    }
}

async fn packed(
    mut response: Response<Body>,
    accepted: &HeaderValue,
    fixed: &FixedAnswer,
) -> Response<Body> {
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let Some((encoding, bytes)) = fixed.packed(accepted).await else { return response };
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    response.map(|_| Body::from(bytes))
}

/// The bytes, compressed with a high level; `None` if that fails.
pub async fn compress_whole(bytes: Bytes, encoding: HeaderValue) -> Option<Bytes> {
    let response = Response::new(Body::from(bytes));
    let response = compress(response, encoding, CompressionLevel::Default).await;
    Some(response.into_body().collect().await.ok()?.to_bytes())
}

/// Whether `Accept-Encoding` names the encoding and does not refuse it.
pub fn accepts(accepted: &HeaderValue, encoding: &str) -> bool {
    accepted.to_str().unwrap_or_default().split(',').any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0f32));
        name.trim().eq_ignore_ascii_case(encoding) && !is_refused
    })
}

/// Whether to compress an answer: only text that is not short. Live streams must arrive piece by piece without delay.
fn worth_it(response: &Response<Body>) -> bool {
    let small = u64::from(limits::COMPRESSION_MIN_BYTES);
    let media = response.headers().get(header::CONTENT_TYPE);
    let media = media.and_then(|media| media.to_str().ok()).unwrap_or_default();
    let text = media.starts_with("text/") || media.contains("json") || media.contains("xml");
    text && media != "text/event-stream"
        && response.body().size_hint().exact().is_none_or(|bytes| bytes >= small)
}

async fn compress(
    response: Response<Body>,
    accepted: HeaderValue,
    level: CompressionLevel,
) -> Response<Body> {
    let mut request = Request::new(());
    request.headers_mut().insert(header::ACCEPT_ENCODING, accepted);
    let mut response = Some(response);
    let give = service_fn(move |_: Request<()>| {
        ready(Ok::<_, Infallible>(response.take().expect("a service that is called once")))
    });
    // JSON of many similar records becomes small even at the lowest level.
    let layer = CompressionLayer::new()
        .quality(level)
        .compress_when(|_: StatusCode, _: Version, _: &HeaderMap, _: &Extensions| true);
    match layer.layer(give).oneshot(request).await {
        Ok(compressed) => compressed.map(Body::new),
        Err(never) => match never {},
    }
}
