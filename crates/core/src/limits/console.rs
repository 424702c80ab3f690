//! Limits of the console.

/// Rows on a page of a list of the console.
pub const CONSOLE_PAGE_ROWS_COUNT: usize = 50;
/// Bytes of a form of the console at most.
pub const CONSOLE_FORM_MAX_BYTES: usize = 1024 * 1024;
/// Events that the console looks at to tell how many came in lately.
pub const EVENT_FLOW_MAX_RECORDS: i64 = 20_000;
/// Unknown students that the console lists at most.
pub const UNKNOWN_STUDENTS_MAX_RECORDS: i64 = 10_000;
