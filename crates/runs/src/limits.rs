//! The limits of this crate, each with its unit.

// # Internal

/// Memory for the heads of runs, which show whether a key is new: two bytes a record.
pub const RUN_HEADS_MAX_BYTES: usize = 512 * 1024 * 1024;
