//! The output of a backend, stored in bounded memory.
//!
//! Records are numbered by time, so a reader continues across new versions and restarts of the server.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::record;
use crate::limits::{BACKEND_LOG_LINE_MAX_BYTES, BACKEND_LOG_MAX_ENTRIES};
use lyceum_core::time::{Clock, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::net::unix::pipe;
use tokio::sync::mpsc::UnboundedSender;

/// The source of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogStream {
    /// `console.log`, `console.info` and `console.debug`.
    Out,
    /// `console.warn`, `console.error` and the runtime.
    Error,
    /// The engine: why a process ended.
    Engine,
    /// The engine: a request with its method, path, status and duration.
    Request,
}

/// A log entry: the output of one console call with all its lines, or a message about the process.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BackendLogLine {
    /// Increases with each line, also across versions and restarts of the server.
    pub id: i64,
    /// When it was read.
    pub at: Timestamp,
    /// Its source.
    pub stream: LogStream,
    /// Its text, which may have several lines, such as a stack trace. Long texts are cut.
    pub text: String,
}

/// The id of the latest line of all logs.
pub(super) type LastLineId = Arc<AtomicI64>;

/// The latest lines of a version of a backend.
pub(super) struct Logs {
    lines: Mutex<VecDeque<BackendLogLine>>,
    clock: Arc<dyn Clock>,
    /// Receives each line as it arrives.
    subscriber: Option<UnboundedSender<BackendLogLine>>,
    last: LastLineId,
}

impl Logs {
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        subscriber: Option<UnboundedSender<BackendLogLine>>,
        last: LastLineId,
    ) -> Self {
        Self { lines: Mutex::default(), clock, subscriber, last }
    }

    /// Inserts the lines of the previous version before its own.
    pub(super) fn continue_from(&self, before: &Self) {
        let mut all = before.lines();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(lines.drain(..));
        all.sort_by_key(|line| line.id);
        let surplus = all.len().saturating_sub(BACKEND_LOG_MAX_ENTRIES);
        lines.extend(all.drain(surplus..));
    }

    pub(super) fn lines(&self) -> Vec<BackendLogLine> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }

    pub(super) fn add(&self, stream: LogStream, text: impl Into<String>) {
        let at = self.clock.now();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let next = |last| Some(at.milliseconds().saturating_mul(1000).max(last + 1));
        let last = self.last.fetch_update(Relaxed, Relaxed, next).unwrap_or_default();
        let id = next(last).unwrap_or_default();
        let line = BackendLogLine { id, at, stream, text: text.into() };
        if let Some(subscriber) = &self.subscriber {
            // The receiver may be gone.
            let _ = subscriber.send(line.clone());
        }
        if lines.len() == BACKEND_LOG_MAX_ENTRIES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The runtime's latest error lines, without their source positions in the runtime.
    pub(super) fn last_errors(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = lines.iter().rev().filter(|line| line.stream == LogStream::Error);
        let errors = errors.map(|line| line.text.trim()).filter(|text| !text.starts_with("stack:"));
        let mut last: Vec<&str> = errors.take(6).collect();
        last.reverse();
        last.join("\n")
    }

    /// Whether the process reported a full heap just before it ended.
    pub(super) fn ran_out_of_heap(&self) -> bool {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = lines.iter().rev().filter(|line| line.stream == LogStream::Error).take(20);
        errors.into_iter().any(|line| line.text.contains("heap out of memory"))
    }

    /// Reads records until the process closes its end of the pipe.
    pub(super) async fn read_from(self: Arc<Self>, stream: LogStream, pipe: pipe::Receiver) {
        let mut line = Vec::new();
        let mut bytes = [0; 8192];
        while pipe.readable().await.is_ok() {
            let count = match pipe.try_read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => count,
                Err(fault) if fault.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(_) => break,
            };
            for &byte in &bytes[..count] {
                if byte == b'\n' {
                    self.add_record(stream, &mut line);
                } else if line.len() < record::LINE_MAX_BYTES {
                    line.push(byte);
                }
            }
        }
        self.add_record(stream, &mut line);
    }

    fn add_record(&self, stream: LogStream, line: &mut Vec<u8>) {
        let (stream, mut text) = record::parse(&String::from_utf8_lossy(line), stream);
        text.truncate(text.floor_char_boundary(BACKEND_LOG_LINE_MAX_BYTES));
        if !text.trim().is_empty() {
            self.add(stream, text);
        }
        line.clear();
    }
}
