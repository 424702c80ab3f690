//! The limits of this crate, each with its unit.

// # Internal

/// Roster records that one step of an erasure changes at most.
pub const ERASURE_STEP_MAX_RECORDS: i64 = 200;
/// Rows of the event log that one step of an erasure reads at most.
pub const ERASURE_EVENT_STEP_MAX_RECORDS: i64 = 2000;
/// Compressed blocks of events that one step of an erasure reads at most.
pub const ERASURE_BLOCK_STEP_MAX_COUNT: i64 = 64;
/// Seconds in which the server that works on an erasure must report, before another one continues it.
pub const ERASURE_LEASE_S: i64 = 10;
/// Tables of projects that an erasure lists at most.
pub const ERASURE_LISTED_MAX_COUNT: usize = 1000;
