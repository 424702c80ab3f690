//! Spans that ended wait in a queue of limited length, and a thread sends them in batches. `BatchSpanProcessor` of the
//! SDK does the same, but does not tell how many spans it dropped.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{io, thread};

use crossbeam_channel::{Receiver, Sender, bounded};
use opentelemetry::Context;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};

use super::collector::Collector;
use crate::limits;

/// The sending half of the queue. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct SpanQueue {
    sender: Sender<QueueEntry>,
    counts: Arc<SpanCounts>,
}

#[derive(Debug)]
enum QueueEntry {
    Span(Box<SpanData>),
    /// Send what waits at once, then answer.
    Flush(Sender<()>),
}

/// Spans since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct SpanCounts {
    /// The collector accepted them.
    pub(crate) sent: AtomicU64,
    /// The queue was full, or the collector did not accept them.
    pub(crate) dropped: AtomicU64,
}

impl SpanQueue {
    /// Starts the thread that sends.
    pub(super) fn start(collector: Arc<Collector>) -> io::Result<Self> {
        let (sender, queue) = bounded(limits::SPANS_WAITING_MAX_COUNT);
        let counts = Arc::new(SpanCounts::default());
        let of_thread = Arc::clone(&counts);
        thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || send_batches(&queue, &collector, &of_thread))?;
        Ok(Self { sender, counts })
    }

    pub(super) fn counts(&self) -> &SpanCounts {
        &self.counts
    }

    /// Waits until the spans that wait were sent, or the time for that is over.
    pub(super) fn end(&self) {
        let until = Instant::now() + Duration::from_millis(limits::TELEMETRY_SEND_MAX_MS);
        let (done, is_done) = bounded(1);
        if self.sender.send_deadline(QueueEntry::Flush(done), until).is_ok() {
            let _ = is_done.recv_deadline(until); // an error: the collector is too slow
        }
    }
}

impl SpanProcessor for SpanQueue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.sender.try_send(QueueEntry::Span(Box::new(span))).is_err() {
            self.counts.dropped.fetch_add(1, Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.end();
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

fn send_batches(queue: &Receiver<QueueEntry>, collector: &Collector, counts: &SpanCounts) {
    let pause = Duration::from_millis(limits::SPANS_SEND_EVERY_MS);
    while let Ok(first) = queue.recv() {
        let until = Instant::now() + pause;
        let (mut spans, mut flush) = (Vec::new(), None);
        let mut entry = Some(first);
        while let Some(next) = entry {
            match next {
                QueueEntry::Span(span) => spans.push(*span),
                QueueEntry::Flush(done) => flush = Some(done),
            }
            let is_full = spans.len() >= limits::SPANS_BATCH_MAX_COUNT || flush.is_some();
            entry = if is_full { None } else { queue.recv_deadline(until).ok() };
        }
        send(spans, collector, counts);
        if let Some(done) = flush {
            let _ = done.send(()); // an error: the server waits no longer
        }
    }
}

fn send(spans: Vec<SpanData>, collector: &Collector, counts: &SpanCounts) {
    if spans.is_empty() {
        return;
    }
    let count = spans.len() as u64;
    let resource_spans = group_spans_by_resource_and_scope(spans, &collector.resource);
    let request = ExportTraceServiceRequest { resource_spans };
    let counter = match collector.send("/v1/traces", &request) {
        true => &counts.sent,
        false => &counts.dropped,
    };
    counter.fetch_add(count, Relaxed);
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use opentelemetry::trace::{Span as _, Tracer, TracerProvider};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    #[test]
    fn spans_beyond_the_queue_are_dropped_while_the_collector_hangs() {
        // Its connections are never answered.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", silent.local_addr().unwrap());
        let resource = Resource::builder_empty().build();
        let queue = SpanQueue::start(Arc::new(Collector::new(&endpoint, &[], &resource))).unwrap();
        let provider = SdkTracerProvider::builder().with_span_processor(queue.clone()).build();
        let tracer = provider.tracer("test");
        let extra = 1000;
        let begun = Instant::now();
        for _ in 0..limits::SPANS_WAITING_MAX_COUNT + limits::SPANS_BATCH_MAX_COUNT + extra {
            tracer.start("request").end();
        }
        assert!(begun.elapsed() < Duration::from_millis(limits::TELEMETRY_SEND_MAX_MS));
        assert!(queue.counts().dropped.load(Relaxed) >= extra as u64);
        assert_eq!(queue.counts().sent.load(Relaxed), 0);
    }
}
