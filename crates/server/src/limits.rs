//! The limits of this crate, each with its unit.

// # Internal

/// Passwords that a server hashes at once at most; others wait.
pub const PASSWORD_HASHES_MAX_COUNT: usize = 2;
/// Requests that wait for a password to be hashed at most; further ones are refused with 503.
pub const PASSWORD_HASHES_WAITING_MAX_COUNT: usize = 32;
/// Milliseconds that reading the database for metrics may take.
pub const METRICS_READ_MAX_MS: u64 = 5000;
/// Connections of the listener for metrics at most; further ones wait.
pub const METRICS_CONNECTIONS_MAX_COUNT: usize = 16;
/// Seconds after which a connection of the listener for metrics that sends no request is closed.
pub const METRICS_IDLE_MAX_S: u64 = 90;
/// Milliseconds that sending spans or metrics to the collector may take, and that the end of the server waits for it.
pub const TELEMETRY_SEND_MAX_MS: u64 = 5_000;
/// Bytes of an answer of the collector that are read.
pub const TELEMETRY_ANSWER_MAX_BYTES: u64 = 64 * 1024;
/// Seconds between two lines of the log about a collector that does not accept spans or metrics.
pub const TELEMETRY_REPORT_EVERY_S: u64 = 60;
/// Milliseconds in which spans are gathered before they are sent.
pub const SPANS_SEND_EVERY_MS: u64 = 2_000;
/// Spans that are sent at once.
pub const SPANS_BATCH_MAX_COUNT: usize = 512;
/// Spans that wait to be sent; further ones are dropped and counted.
pub const SPANS_WAITING_MAX_COUNT: usize = 4_096;
