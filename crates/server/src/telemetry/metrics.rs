//! Metrics for the collector: the text that Prometheus reads, as protobuf. So each metric has one definition, and alerts
//! and dashboards work for both ways.

use std::sync::Arc;
use std::time::Duration;

use lyceum_api::App;
use lyceum_store::run_blocking;
use opentelemetry_proto::tonic::Attributes;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use tokio::time::sleep;

use super::{SERVICE, Telemetry};
use crate::metrics::MetricSources;

/// Sends all metrics at the interval in the settings, until the server stops.
pub(crate) async fn send_periodically(sources: MetricSources, telemetry: Arc<Telemetry>) {
    let app = &sources.app;
    let every_s = app.config.telemetry.metrics_interval_s;
    if every_s == 0 {
        return;
    }
    let started = nanoseconds(app);
    loop {
        let text = sources.text().await;
        let times = PointTimes { started, now: nanoseconds(app) };
        let collector = Arc::clone(&telemetry.collector);
        let sending = run_blocking(move || {
            let metrics = metrics(&text, times);
            let scope = InstrumentationScope {
                name: SERVICE.to_owned(),
                ..InstrumentationScope::default()
            };
            let scope_metrics =
                ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() };
            let attributes = collector.resource.attributes.0.clone();
            let resource_metrics = ResourceMetrics {
                resource: Some(Resource { attributes, ..Resource::default() }),
                scope_metrics: vec![scope_metrics],
                ..ResourceMetrics::default()
            };
            let request = ExportMetricsServiceRequest { resource_metrics: vec![resource_metrics] };
            collector.send("/v1/metrics", &request);
            Ok(())
        });
        let _ = sending.await; // an error: the server stops
        sleep(Duration::from_secs(every_s)).await;
    }
}

fn nanoseconds(app: &App) -> u64 {
    u64::try_from(app.clock.now().milliseconds()).unwrap_or_default() * 1_000_000
}

/// In nanoseconds since 1970.
#[derive(Clone, Copy)]
struct PointTimes {
    /// When the process began to count.
    started: u64,
    now: u64,
}

/// The metrics of a text in the format of `OpenMetrics`, as `prometheus_client` writes it.
fn metrics(text: &str, times: PointTimes) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap_or((help, ""));
            metrics.push(Metric {
                name: name.to_owned(),
                // The library ends each with a period.
                description: help.trim_end_matches('.').to_owned(),
                unit: unit(name).to_owned(),
                ..Metric::default()
            });
        } else if let Some(kind) = line.strip_prefix("# TYPE ")
            && let Some(metric) = metrics.last_mut()
        {
            let kind = kind.rsplit(' ').next().unwrap_or_default();
            if kind == "info" {
                metric.name.push_str("_info"); // as in the lines with its values
            }
            metric.data = Some(data(kind));
        } else if !line.starts_with('#')
            && let Some(metric) = metrics.last_mut()
            && let Some(sample) = Sample::parse(line)
        {
            sample.add_to(metric, times);
        }
    }
    metrics
}

/// The unit by the conventions of OpenTelemetry. A receiver that writes names as Prometheus does finds it in the name.
fn unit(name: &str) -> &'static str {
    match name.rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

fn data(kind: &str) -> Data {
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    match kind {
        "counter" => {
            Data::Sum(Sum { is_monotonic: true, aggregation_temporality, ..Sum::default() })
        }
        "histogram" => {
            Data::Histogram(Histogram { aggregation_temporality, ..Histogram::default() })
        }
        _ => Data::Gauge(Gauge::default()),
    }
}

/// A line with a value.
struct Sample<'a> {
    name: &'a str,
    labels: Vec<KeyValue>,
    /// The upper bound of a bucket.
    le: Option<f64>,
    value: &'a str,
}

impl<'a> Sample<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (head, value) = line.rsplit_once(' ')?;
        let (name, mut rest) = head.split_once('{').unwrap_or((head, ""));
        let (mut labels, mut le) = (Vec::new(), None);
        while let Some((label, after)) = rest.split_once("=\"") {
            let (text, after) = quoted(after)?;
            match label {
                // `+Inf` is a number here, too.
                "le" => le = text.parse().ok(),
                label => labels.push(opentelemetry::KeyValue::new(label.to_owned(), text)),
            }
            rest = after.trim_start_matches(',');
        }
        Some(Self { name, labels: Attributes::from(labels).0, le, value })
    }

    fn add_to(self, metric: &mut Metric, times: PointTimes) {
        match &mut metric.data {
            Some(Data::Histogram(histogram)) => self.add_to_histogram(histogram, times),
            Some(Data::Sum(sum)) => sum.data_points.push(self.point(times)),
            Some(Data::Gauge(gauge)) => gauge.data_points.push(self.point(times)),
            _ => {}
        }
    }

    fn point(self, times: PointTimes) -> NumberDataPoint {
        let whole = self.value.parse().map(Value::AsInt);
        let value = whole.or_else(|_| self.value.parse().map(Value::AsDouble));
        NumberDataPoint {
            attributes: self.labels,
            start_time_unix_nano: times.started,
            time_unix_nano: times.now,
            value: value.ok(),
            ..NumberDataPoint::default()
        }
    }

    /// The lines of one histogram follow each other. Their buckets contain those before, those of OTLP do not.
    fn add_to_histogram(self, histogram: &mut Histogram, times: PointTimes) {
        let points = &mut histogram.data_points;
        if points.last().is_none_or(|point| point.attributes != self.labels) {
            points.push(HistogramDataPoint {
                attributes: self.labels,
                start_time_unix_nano: times.started,
                time_unix_nano: times.now,
                ..HistogramDataPoint::default()
            });
        }
        let Some(point) = points.last_mut() else { return };
        let count = || self.value.parse().unwrap_or_default();
        match (self.name.rsplit('_').next(), self.le) {
            (Some("sum"), _) => point.sum = self.value.parse().ok(),
            (Some("count"), _) => point.count = count(),
            (_, Some(le)) => {
                let before: u64 = point.bucket_counts.iter().sum();
                point.bucket_counts.push(count().saturating_sub(before));
                if le.is_finite() {
                    point.explicit_bounds.push(le);
                }
            }
            _ => {}
        }
    }
}

/// The text up to the closing quotation mark, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}
