//! The limits of this crate, each with its unit.

// # Rosters

/// Members of one array field at most.
pub const LIST_MAX_MEMBERS: usize = 10_000;
/// Bytes of one line of an imported CSV file at most.
pub const CSV_LINE_MAX_BYTES: usize = 1024 * 1024;
/// Files in an imported zip at most.
pub const ZIP_MAX_FILES: usize = 200;
/// Unpacked bytes of an imported zip at most (64 GiB).
pub const ZIP_MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024 * 1024;
/// Times that a file of an imported zip may unpack to its packed size; real rosters stay below 60.
pub const ZIP_UNPACKED_MAX_RATIO: u64 = 300;
/// Percent of the stored records of a kind that an import with `--absent end` ends at most, if it does not allow removals.
pub const IMPORT_ENDED_MAX_PERCENT: u64 = 20;
/// Records of a kind that an import with `--absent end` may always end at most, whatever their share is.
pub const IMPORT_ENDED_UNCHECKED_MAX_RECORDS: u64 = 5;
/// Components and resources that one `/courses/structure` request or syllabus holds at most.
pub const COURSE_MAX_NODES: usize = 20_000;
/// Records that one `DELETE …?cascade=true` marks at most.
pub const CASCADE_MAX_RECORDS: u64 = 100_000;

// # Internal

/// Organizations above one another at most, the lowest included. Each one is stored with all above it.
pub const ORG_TREE_MAX_LEVELS: usize = 100;
/// Bytes that a file of an imported zip may unpack to before its ratio counts.
pub const ZIP_RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Columns of an imported CSV file at most; a complete export puts further metadata into `metadata.lyceum.record`.
pub const CSV_MAX_ENTRIES: usize = 1000;
/// Faults that one import reports in full; the rest is counted.
pub const IMPORT_MAX_REPORTED_FAULTS: usize = 1000;
/// Faults that one `/courses/structure` request reports at most.
pub const COURSE_MAX_REPORTED_FAULTS: usize = 100;
/// Characters of a user's name, password or application in another system at most.
pub const CREDENTIAL_TEXT_MAX_CHARS: usize = 1024;
/// Imports that the console lists at most, the newest.
pub const IMPORTS_LISTED_MAX_COUNT: i64 = 1000;
/// Rows of each outcome that an import lists for a file at most.
pub const IMPORT_NOTED_MAX_ROWS: i64 = 100_000;
/// Seconds without a sign of life after which another server continues an import.
pub const IMPORT_LEASE_S: i64 = 15;
