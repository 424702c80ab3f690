//! Limits that no crate or several crates bound: each a constant with its unit. `docs/limits.md` lists those that are
//! not below the heading `Internal`, of all crates.

// # Requests

/// Records on a page if the request does not name a `limit` (OneRoster 1.2).
pub const PAGE_DEFAULT_RECORDS: u64 = 100;
/// Records on a page at most; a larger `limit` is served at this size.
pub const PAGE_MAX_RECORDS: u64 = 3000;
/// Bytes of a JSON request body at most.
pub const BODY_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Levels of arrays and objects in a JSON body at most.
pub const JSON_MAX_DEPTH: usize = 64;
/// Bytes of one record's canonical JSON at most.
pub const RECORD_MAX_BYTES: usize = 1024 * 1024;
/// Characters of a `sourcedId` at most (OneRoster 1.2 recommends GUIDs; clients use up to 255).
pub const SOURCED_ID_MAX_CHARS: usize = 255;
/// Bytes of a filter expression at most.
pub const FILTER_MAX_BYTES: usize = 8 * 1024;
/// Clauses of a filter expression at most.
pub const FILTER_MAX_CLAUSES: usize = 64;
/// Nested parentheses of a filter expression at most.
pub const FILTER_MAX_DEPTH: usize = 16;
/// Bytes of a `search` text at most.
pub const SEARCH_MAX_BYTES: usize = 200;

// # Projects

/// Bytes of a value in the KV of a project at most.
pub const KV_VALUE_MAX_BYTES: usize = 25 * 1024 * 1024;

// # Operation

/// Seconds by which the clocks of the servers of one database may differ. A token, credential or report of one server is
/// accepted by the others within this time before it begins, and a token also after it ends.
pub const CLOCK_DIFFERENCE_MAX_S: i64 = 60;
/// Open connections of a server at most; the default of `server.connections`.
pub const CONNECTIONS_MAX_COUNT: usize = 10_000;
/// Open connections of one address (of IPv6: one /64 network) at most; the default of `server.connections_per_address`.
pub const CONNECTIONS_PER_ADDRESS_MAX_COUNT: usize = 2_000;

// # Internal

/// Errors of one body that an answer lists at most.
pub const BODY_ERRORS_MAX_COUNT: usize = 100;
/// Levels of objects and lists of any JSON text at most, trees of courses included.
pub const JSON_MAX_LEVELS: usize = 10_000;
/// Milliseconds that a write waits for a lock that another process or connection holds.
pub const STORE_LOCK_WAIT_MS: u64 = 30_000;
/// Bytes of an SQLite file that each connection maps into memory.
pub const SQLITE_MMAP_BYTES: u64 = 8 * 1024 * 1024 * 1024;
/// Characters of a text in a request about lessons at most, such as an id or a title.
pub const INPUT_TEXT_MAX_CHARS: usize = 2048;
/// Connections of one server process to PostgreSQL for reads and writes.
pub const POSTGRES_CONNECTIONS: usize = 16;
/// Words of a name, such as the title of a course, by which it is found.
pub const NAME_WORDS_MAX_COUNT: usize = 16;
/// Bytes of a word of a name by which it is found; the rest of a longer word does not count.
pub const NAME_WORD_MAX_BYTES: usize = 48;
