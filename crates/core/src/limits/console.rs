//! Limits of the console.

/// Rows on a page of a list of the console.
pub const CONSOLE_PAGE_ROWS_COUNT: usize = 50;
/// Bytes of a form of the console at most.
pub const CONSOLE_FORM_MAX_BYTES: usize = 1024 * 1024;
/// Unknown students that the console lists at most.
pub const UNKNOWN_STUDENTS_MAX_RECORDS: i64 = 10_000;
/// Rows of a list of the console that one export holds at most, where the list has no end.
pub const CONSOLE_EXPORT_MAX_ROWS: i64 = 100_000;
/// Rows of such a list that are held at a time while its export is made.
pub const CONSOLE_EXPORT_SLICE_ROWS: i64 = 20_000;
/// Events that the console sorts at most by what no index of the log has: type, action, person.
pub const CONSOLE_SORTED_EVENTS_MAX_ROWS: i64 = 10_000;
/// Milliseconds that the reads of a page of the console may take. A person waits for some seconds, as for all
/// students of a large network, rather than be refused.
pub const CONSOLE_READ_MAX_MS: u64 = 10_000;
/// Milliseconds that one export of a list without an end may read.
pub const CONSOLE_EXPORT_MAX_MS: u64 = 20_000;
/// Apps that the log of events can be filtered by at most, those that appeared last.
pub const CONSOLE_APPS_COUNT: i64 = 100;
/// Numbers before the first event of an hour that the console looks at, too: events that arrive together get
/// theirs in any order.
pub const EVENT_FLOW_UNORDERED_COUNT: i64 = 100_000;
/// Files and folders of a bucket that the console reads of one folder; it may be some hundreds more.
pub const CONSOLE_BUCKET_MAX_ROWS: usize = 5000;
/// Jobs and backups that the console lists at most, the newest.
pub const CONSOLE_JOBS_COUNT: i64 = 1000;
/// Components, lessons and materials that the page of one course shows at most; its files have all.
pub const CONSOLE_TREE_MAX_ROWS: usize = 2000;
/// Credentials, definitions of badges and learner records that a list of the console reads at most.
pub const CONSOLE_CREDENTIALS_MAX_COUNT: u64 = 10_000;
/// Bytes of a zip of rosters that is sent in a browser at most; `lyceum import` takes larger ones.
pub const IMPORT_UPLOAD_MAX_BYTES: usize = 128 * 1024 * 1024;
/// Imports that the console lists at most, the newest.
pub const IMPORTS_LISTED_MAX_COUNT: i64 = 1000;
/// Rows of a file of an import of which it is noted what came of them, of each outcome at most.
pub const IMPORT_NOTED_MAX_ROWS: i64 = 100_000;
/// Seconds after which another server goes on with an import that its own gave no sign of.
pub const IMPORT_LEASE_S: i64 = 15;
/// Milliseconds after which a server tells the others again how far an import is.
pub const IMPORT_TELL_MS: u64 = 1000;
/// Milliseconds between two looks for imports that somebody else added.
pub const IMPORT_POLL_MS: u64 = 2000;
