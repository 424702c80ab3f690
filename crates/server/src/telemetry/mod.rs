//! Sends traces and metrics to the OpenTelemetry collector that the settings name, over OTLP/HTTP in protobuf. The
//! collector receives what it accepts at once: nothing waits for it, and nothing is sent twice.

mod collector;
mod metrics;
mod spans;

use std::sync::Arc;

use lyceum_core::config::Config;
use lyceum_core::{Problem, Result, TRACE_TARGET};
use lyceum_hosting::nodes;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, SpanLimits};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

pub(crate) use metrics::send_periodically;
pub(crate) use spans::SpanCounts;

use collector::Collector;
use spans::SpanQueue;

/// The name of the program in traces and metrics.
const SERVICE: &str = "lyceum";

/// The connection to the collector, and the spans that wait to be sent.
pub struct Telemetry {
    collector: Arc<Collector>,
    queue: SpanQueue,
    tracer: SdkTracer,
}

impl Telemetry {
    /// Begins to send traces; `None` if the settings name no collector. Errors: no thread can be started.
    pub fn start(config: &Config) -> Result<Option<Self>> {
        let settings = &config.telemetry;
        let Some(endpoint) = &settings.endpoint else { return Ok(None) };
        let resource = resource(config);
        let collector = Arc::new(Collector::new(endpoint, &settings.headers, &resource));
        let queue = SpanQueue::start(Arc::clone(&collector)).map_err(Problem::internal)?;
        let of_this_server = match settings.trace_one_in {
            0 => Sampler::AlwaysOff,
            n => Sampler::TraceIdRatioBased(1.0 / f64::from(n)),
        };
        // All that the builder would otherwise read from variables is set here.
        let provider = SdkTracerProvider::builder()
            .with_span_processor(queue.clone())
            .with_sampler(Sampler::ParentBased(Box::new(of_this_server)))
            .with_span_limits(SpanLimits::default())
            .with_resource(resource)
            .build();
        Ok(Some(Self { collector, queue, tracer: provider.tracer(SERVICE) }))
    }

    /// The part of the logger that makes spans of traces, with slow statements and requests as their events.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let filter = Targets::new()
            .with_target(TRACE_TARGET, LevelFilter::TRACE)
            .with_target("lyceum::slow", LevelFilter::WARN);
        tracing_opentelemetry::layer()
            .with_tracer(self.tracer.clone())
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(filter)
    }

    /// Sends the spans that wait. Blocks for a limited time.
    pub fn end(&self) {
        self.queue.end();
    }

    /// How many spans were sent and dropped.
    pub(crate) fn spans(&self) -> &SpanCounts {
        self.queue.counts()
    }
}

/// The description of this server in everything that it sends.
fn resource(config: &Config) -> Resource {
    let port = config.server.listen.rsplit(':').next().unwrap_or_default();
    let name = nodes::name_of(&config.server.node_name);
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", SERVICE),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", format!("{name}:{port}")),
            KeyValue::new("deployment.environment.name", config.server.env.name()),
        ])
        .build()
}
