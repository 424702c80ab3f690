//! Metrics for Prometheus: all of them on a listener of their own, and the counters of requests and events at `/metrics` of
//! the public address. Every label has a limited set of values: patterns of routes,
//! methods, classes of status codes, kinds of jobs, but never paths, ids or clients.
//!
//! [`Metrics`] counts while the server works. The crate `server` reads the rest of the state when it is asked for.
//!
//! A figure that cannot be read is missing, so no stale value hides an outage. What happens rarely is an instant and
//! not an age, which would be wrong between scrapes.

use std::time::Duration;

use http::Method;
use lyceum_core::time::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::Http;
use crate::router::RouteLabels;

/// The media type of metrics.
pub const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The buckets of request times, from 1 ms to the usual time limit of a request.
const REQUEST_BUCKETS_S: [f64; 13] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];
/// The buckets of the time from an event's sending to its storing.
const DELAY_BUCKETS_S: [f64; 9] = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 3600.0, 86_400.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct AnswerLabels {
    area: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteTimeLabels {
    route: String,
    method: &'static str,
    /// The class of the status code, such as `2xx`.
    status: &'static str,
}

/// The process's counters.
pub struct Metrics {
    registry: Registry,
    requests: Family<AnswerLabels, Counter>,
    request_times: Family<RouteTimeLabels, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    events: Counter,
    event_delays: Histogram,
}

impl Metrics {
    /// Creates the counters of a process that started at this instant.
    pub fn new(started: Timestamp) -> Self {
        let metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            request_times: Family::new_with_constructor(|| Histogram::new(REQUEST_BUCKETS_S)),
            in_flight: Gauge::default(),
            events: Counter::default(),
            event_delays: Histogram::new(DELAY_BUCKETS_S),
        };
        let mut registry = Registry::default();
        registry.register(
            "lyceum_build",
            "The release of the program",
            Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]),
        );
        registry.register(
            "process_start_time_seconds",
            "When the process started, in seconds since 1970",
            ConstGauge::new(started.seconds()),
        );
        registry.register(
            "lyceum_requests",
            "Requests answered, by area of the API, method and status code",
            metrics.requests.clone(),
        );
        registry.register(
            "lyceum_request_duration_seconds",
            "Time from a request's headers to its answer's headers, by route, method and class of status codes",
            metrics.request_times.clone(),
        );
        registry.register(
            "lyceum_requests_in_flight",
            "Requests whose answers are not yet written",
            metrics.in_flight.clone(),
        );
        registry.register(
            "lyceum_events",
            "Events of accepted envelopes, repeated events included",
            metrics.events.clone(),
        );
        registry.register(
            "lyceum_event_delay_seconds",
            "Time from the sending of an envelope, by its sender's clock, until its events are stored",
            metrics.event_delays.clone(),
        );
        Self { registry, ..metrics }
    }

    /// The counters, for a scrape that also reads other figures.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Counts an answered request.
    pub fn count_answer(
        &self,
        labels: RouteLabels<'_>,
        method: &'static str,
        status: u16,
        took: Duration,
    ) {
        let answer = AnswerLabels { area: labels.area, method, status };
        self.requests.get_or_create(&answer).inc();
        let time =
            RouteTimeLabels { route: labels.pattern.to_owned(), method, status: class_of(status) };
        self.request_times.get_or_create(&time).observe(took.as_secs_f64());
    }

    /// Counts the events of an envelope that was sent so many milliseconds ago.
    pub fn stored_events(&self, events: usize, delay_ms: i64) {
        self.events.inc_by(events as u64);
        // The clock of a sender may be ahead.
        let delay = Duration::from_millis(delay_ms.max(0).unsigned_abs());
        self.event_delays.observe(delay.as_secs_f64());
    }
}

/// The counters of the process as text in the format of `OpenMetrics`.
pub fn counters_text(app: &Http) -> String {
    let mut text = String::with_capacity(16 * 1024);
    encode(&mut text, &app.metrics.registry).expect("a String takes any text");
    text
}

/// The class of a status code.
fn class_of(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// The label of a method. Unknown methods share one, so that their number is limited.
pub fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Counts a request from its headers to the last byte of its answer, when this is dropped.
pub struct InFlight(Gauge);

impl InFlight {
    /// Counts a request that has begun.
    pub fn count(app: &Http) -> Self {
        app.metrics.in_flight.inc();
        Self(app.metrics.in_flight.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}
