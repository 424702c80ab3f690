//! Spans of traces: requests, what they call, and jobs. Their names and attributes follow the semantic conventions of
//! OpenTelemetry. They contain routes, methods, status codes, hosts, request ids and the text of slow SQL statements, but no
//! paths, ids of records or queries. Without a collector, nothing listens to them, and a span costs the comparison of a level.
//!
//! The headers `traceparent` and `tracestate` (W3C Trace Context) carry them from one program to the next.

use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use lyceum_core::trace::record_status;
pub use lyceum_core::trace::{ended, outgoing};
use lyceum_core::{Result, TRACE_TARGET};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::field::Empty;
use tracing::{Instrument, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::request_id::RequestId;
use crate::router::RouteLabels;

/// The headers that name a trace and a span of it.
const HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("traceparent"), HeaderName::from_static("tracestate")];

/// The span of a request. Its parent is the span that the sender names.
pub fn request(method: &'static str, headers: &HeaderMap) -> Span {
    let span = tracing::trace_span!(
        target: TRACE_TARGET,
        "request",
        otel.name = method,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = if method == "other" { "_OTHER" } else { method },
        http.route = Empty,
        http.response.status_code = Empty,
        "error.type" = Empty,
        lyceum.area = Empty,
        lyceum.request_id = Empty,
    );
    if !span.is_disabled() {
        let value = |name: &HeaderName| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let named = HEADERS.into_iter().filter_map(|name| Some((name.to_string(), value(&name)?)));
        let carrier: HashMap<String, String> = named.collect();
        let parent = TraceContextPropagator::new().extract(&carrier);
        let _ = span.set_parent(parent); // an error: the log listens to the span, and no collector
    }
    span
}

/// Records the answer to a request in its span.
pub fn record_answer(
    span: &Span,
    labels: RouteLabels<'_>,
    method: &'static str,
    status: u16,
    id: &RequestId,
) {
    if span.is_disabled() {
        return;
    }
    // A field `otel.name` counts only until the span has a child.
    span.context().span().update_name(format!("{method} {}", labels.pattern));
    if labels.pattern.starts_with('/') {
        span.record("http.route", labels.pattern);
    }
    span.record("lyceum.area", labels.area);
    span.record("lyceum.request_id", tracing::field::display(id));
    record_status(span, status, 500);
}

/// The id of the trace, for the log; `None` unless a collector receives it.
pub fn id(span: &Span) -> Option<String> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let span = context.span();
    let current = span.span_context();
    current.is_sampled().then(|| current.trace_id().to_string())
}

/// The headers that name the span in a call; empty unless a collector receives it.
pub fn headers(span: &Span) -> HashMap<String, String> {
    let mut headers = HashMap::new();
    if !span.is_disabled() {
        TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
        headers.retain(|_, value| !value.is_empty());
    }
    headers
}

/// Names the span in the headers of a call. Without a collector, they keep the span that the caller named.
pub fn write(span: &Span, headers: &mut HeaderMap) {
    if span.is_disabled() {
        return;
    }
    let mut named = self::headers(span);
    for name in HEADERS {
        match named.remove(name.as_str()).and_then(|value| HeaderValue::try_from(value).ok()) {
            Some(value) => drop(headers.insert(name, value)),
            None => drop(headers.remove(name)),
        }
    }
}

/// Does the work of a job in a trace of its own.
pub async fn job<T>(name: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
    let span = tracing::trace_span!(
        target: TRACE_TARGET,
        parent: None,
        "job",
        otel.name = name,
        otel.status_code = Empty,
        "error.type" = Empty,
    );
    let result = work.instrument(span.clone()).await;
    if let Err(problem) = &result {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", tracing::field::debug(problem.kind));
    }
    result
}
