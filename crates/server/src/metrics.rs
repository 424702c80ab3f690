//! Counters for `/metrics`, in the text format of Prometheus. Every label has a limited set of values: areas, methods
//! and status codes, but never paths, ids or clients.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use lyceum_core::time::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::state::App;

/// The buckets of request times, from a fast read of one record to the request time-out.
const BUCKETS_S: [f64; 13] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    area: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct AreaLabels {
    area: &'static str,
}

/// The process's counters.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Family<AreaLabels, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    resident: Gauge<u64, AtomicU64>,
}

impl Metrics {
    /// Creates the counters of a process that started at this instant.
    pub fn new(started: Timestamp) -> Self {
        let requests = Family::<RequestLabels, Counter>::default();
        let latency =
            Family::<AreaLabels, Histogram, fn() -> Histogram>::new_with_constructor(|| {
                Histogram::new(BUCKETS_S)
            });
        let in_flight = Gauge::default();
        let resident = Gauge::<u64, AtomicU64>::default();
        let mut registry = Registry::default();
        registry.register("lyceum_requests", "Requests answered", requests.clone());
        registry.register(
            "lyceum_request_duration_seconds",
            "Time from a request's headers to its answer's headers",
            latency.clone(),
        );
        registry.register(
            "lyceum_requests_in_flight",
            "Requests whose answers are not yet written",
            in_flight.clone(),
        );
        registry.register(
            "process_resident_memory_bytes",
            "Resident memory of the process, mapped files included",
            resident.clone(),
        );
        registry.register(
            "process_start_time_seconds",
            "When the process started, in seconds since 1970",
            ConstGauge::new(started.seconds()),
        );
        Self { registry, requests, latency, in_flight, resident }
    }

    /// Counts an answered request.
    pub(crate) fn answered(
        &self,
        area: &'static str,
        method: &'static str,
        status: u16,
        took: Duration,
    ) {
        self.requests.get_or_create(&RequestLabels { area, method, status }).inc();
        self.latency.get_or_create(&AreaLabels { area }).observe(took.as_secs_f64());
    }

    /// The text of `/metrics`.
    pub fn text(&self) -> String {
        self.resident.set(resident_bytes().unwrap_or(0));
        let mut text = String::with_capacity(8 * 1024);
        encode(&mut text, &self.registry).expect("a String takes any text");
        text
    }
}

/// `VmRSS` of this process; `None` without `/proc`.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Counts a request from its headers to the last byte of its answer, when this is dropped.
pub(crate) struct InFlight(App);

impl InFlight {
    pub(crate) fn count(app: &App) -> Self {
        app.metrics.in_flight.inc();
        Self(App::clone(app))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.dec();
    }
}
