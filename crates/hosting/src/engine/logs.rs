//! What a backend printed, kept in bounded memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use lyceum_core::limits::{BACKEND_LOG_LINE_MAX_BYTES, BACKEND_LOG_MAX_ENTRIES};
use lyceum_core::time::{Clock, Timestamp};
use tokio::net::unix::pipe;

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// `console.log`, `console.info` and `console.debug`.
    Out,
    /// `console.warn`, `console.error` and the runtime itself.
    Error,
    /// The engine, of the process: why it ended.
    Engine,
}

/// One line.
#[derive(Clone, Debug, serde::Serialize)]
pub struct LogLine {
    /// When it was read.
    pub at: Timestamp,
    /// Where it came from.
    pub stream: Stream,
    /// The line without its end; a long one is cut.
    pub text: String,
}

/// The last lines of a backend.
pub(super) struct Logs {
    lines: Mutex<VecDeque<LogLine>>,
    clock: Arc<dyn Clock>,
}

impl Logs {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { lines: Mutex::default(), clock }
    }

    pub(super) fn lines(&self) -> Vec<LogLine> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }

    pub(super) fn say(&self, stream: Stream, text: impl Into<String>) {
        let line = LogLine { at: self.clock.now(), stream, text: text.into() };
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == BACKEND_LOG_MAX_ENTRIES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// What went wrong, as the runtime says it: its last lines of errors, without its own places.
    pub(super) fn last_errors(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = lines.iter().rev().filter(|line| line.stream == Stream::Error);
        let errors = errors.map(|line| line.text.trim()).filter(|text| !text.starts_with("stack:"));
        let mut last: Vec<&str> = errors.take(6).collect();
        last.reverse();
        last.join("\n")
    }

    /// Whether the last words of a process were that its heap is full.
    pub(super) fn ran_out_of_heap(&self) -> bool {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = lines.iter().rev().filter(|line| line.stream == Stream::Error).take(20);
        errors.into_iter().any(|line| line.text.contains("heap out of memory"))
    }

    /// Reads lines until the writing end is closed.
    pub(super) async fn follow(self: Arc<Self>, stream: Stream, pipe: pipe::Receiver) {
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
                    self.keep(stream, &mut line);
                } else if line.len() < BACKEND_LOG_LINE_MAX_BYTES {
                    line.push(byte);
                }
            }
        }
        self.keep(stream, &mut line);
    }

    fn keep(&self, stream: Stream, line: &mut Vec<u8>) {
        if !line.is_empty() {
            self.say(stream, String::from_utf8_lossy(line));
            line.clear();
        }
    }
}
