//! The limits of this crate, each with its unit.

// # Internal

/// Seconds that browsers may remember the answer to a preflight.
pub const PREFLIGHT_MAX_AGE_S: u64 = 600;
/// Bytes of one piece of an upload at most.
pub const UPLOAD_PIECE_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Milliseconds that evaluating a project's config may take, on the developer's machine.
pub const CONFIG_EVALUATION_MAX_MS: u64 = 5_000;
/// Bytes of memory that a config may take while it is evaluated.
pub const CONFIG_HEAP_MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of what a config prints and exports at most.
pub const CONFIG_ANSWER_MAX_BYTES: usize = 1024 * 1024;
