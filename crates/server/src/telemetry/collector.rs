//! The HTTP client for the collector.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::config::Secret;
use lyceum_core::messages::io_reason;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_sdk::Resource;
use prost::Message;

use crate::limits;

/// Sends requests of OTLP to the collector.
pub(super) struct Collector {
    agent: ureq::Agent,
    endpoint: String,
    headers: Vec<(String, Secret)>,
    /// The description of this server.
    pub(super) resource: ResourceAttributesWithSchema,
    failures: AtomicU64,
    reported: Mutex<Option<Instant>>,
}

impl Collector {
    pub(super) fn new(endpoint: &str, headers: &[(String, Secret)], resource: &Resource) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_millis(limits::TELEMETRY_SEND_MAX_MS)))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("lyceum")
            .build();
        Self {
            agent: config.new_agent(),
            endpoint: endpoint.to_owned(),
            headers: headers.to_vec(),
            resource: resource.into(),
            failures: AtomicU64::new(0),
            reported: Mutex::default(),
        }
    }

    /// Sends a request to a path such as `/v1/traces`. Blocks. Returns whether the collector accepted it; the log names
    /// the reason of a failure, but not of each one.
    pub(super) fn send(&self, path: &str, request: &impl Message) -> bool {
        let reason = match self.post(path, &request.encode_to_vec()) {
            Ok(200..=299) => return true,
            Ok(status) => format!("it answered {status}"),
            Err(ureq::Error::Io(error)) => io_reason(&error).to_string(),
            Err(ureq::Error::Timeout(_)) => "no answer in time".to_owned(),
            Err(error) => error.to_string(),
        };
        self.failures.fetch_add(1, Relaxed);
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let every = Duration::from_secs(limits::TELEMETRY_REPORT_EVERY_S);
        if reported.is_none_or(|at| at.elapsed() >= every) {
            *reported = Some(Instant::now());
            let failures = self.failures.swap(0, Relaxed);
            tracing::warn!(
                endpoint = self.endpoint,
                failures,
                "the collector does not accept telemetry: {reason}; what it should have received is lost"
            );
        }
        false
    }

    fn post(&self, path: &str, body: &[u8]) -> Result<u16, ureq::Error> {
        let request = self.agent.post(format!("{}{path}", self.endpoint));
        let mut request = request.content_type("application/x-protobuf");
        for (name, value) in &self.headers {
            request = request.header(name, value.reveal());
        }
        let mut answer = request.send(body)?;
        // The connection can be used again only if the body was read.
        let most = limits::TELEMETRY_ANSWER_MAX_BYTES;
        answer.body_mut().with_config().limit(most).read_to_vec()?;
        Ok(answer.status().as_u16())
    }
}
