//! The limits of this crate, each with its unit.

// # Internal

/// Milliseconds that a call to another Lyceum server may take.
pub const CLIENT_CALL_MAX_MS: u64 = 10_000;
/// Bytes of its answer at most.
pub const CLIENT_ANSWER_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Calls to another Lyceum server that run at once at most.
pub const CLIENT_CALLS_MAX_COUNT: usize = 16;
