//! Spans of requests to other programs, for traces. Their names and attributes follow the semantic conventions of
//! OpenTelemetry.

use tracing::Span;
use tracing::field::Empty;

/// The `tracing` target of the spans that a collector of traces receives. Without one, nothing listens to it.
pub const TRACE_TARGET: &str = "lyceum::trace";

/// The span of a request to another program.
pub fn outgoing(name: &str, method: &str, host: Option<&str>) -> Span {
    tracing::trace_span!(
        target: TRACE_TARGET,
        "outgoing",
        otel.name = name,
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = method,
        http.response.status_code = Empty,
        "error.type" = Empty,
        server.address = host,
        lyceum.project = Empty,
    )
}

/// Records the status code that the other program answered, or that it did not.
pub fn ended(span: &Span, status: Option<u16>) {
    match status {
        Some(status) => record_status(span, status, 400),
        None => {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", "no answer");
        }
    }
}

/// Records a status code in the span of a request. The codes from `error_from` on are errors.
pub fn record_status(span: &Span, status: u16, error_from: u16) {
    // The library turns unsigned numbers into texts.
    span.record("http.response.status_code", i64::from(status));
    if status >= error_from {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", tracing::field::display(status));
    }
}
