//! The limits of this crate, each with its unit.

// # Internal

/// Subject tracks at most.
pub const SUBJECT_TRACKS_MAX_RECORDS: usize = 10_000;
/// Users whose due enrollments (a new school year, subject tracks) are created in one transaction.
pub const SETTLE_PAGE_RECORDS: i64 = 500;
/// Enrollments of a course whose goals are reset at once at most.
pub const RESET_MAX_RECORDS: usize = 100_000;
/// Days without school that the school hours of an organization may name.
pub const SCHOOL_DAYS_OFF_MAX_COUNT: usize = 400;
/// Days without an event after which a user of an application no longer counts as active.
pub const APPLICATION_ACTIVE_DAYS: i64 = 30;
/// Actors of an application whose users are looked up at once.
pub const APPLICATION_ACTORS_CHUNK_COUNT: usize = 1000;
