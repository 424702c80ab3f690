//! All metrics of the server: the counters of requests and events, and the state that is read when it is asked for.

mod gauges;
mod listener;

use std::sync::Arc;

use lyceum_api::App;
use lyceum_http::tls::Tls;
use prometheus_client::encoding::text::{encode_eof, encode_registry};

pub(crate) use listener::{listen, serve};

use crate::telemetry::Telemetry;

/// The sources of the metrics.
#[derive(Clone)]
pub(crate) struct MetricSources {
    pub(crate) app: App,
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) telemetry: Option<Arc<Telemetry>>,
}

impl MetricSources {
    /// All metrics as text in the format of `OpenMetrics`.
    pub(crate) async fn text(&self) -> String {
        let gauges = gauges::read(self).await;
        let mut text = String::with_capacity(64 * 1024);
        encode_registry(&mut text, self.app.metrics.registry())
            .and_then(|()| encode_registry(&mut text, &gauges))
            .and_then(|()| encode_eof(&mut text))
            .expect("a String takes any text");
        text
    }
}
