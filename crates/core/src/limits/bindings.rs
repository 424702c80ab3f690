//! Limits of what the backends of projects are bound to: database, keys, bucket.

/// Requests to one binding of a backend that are served at once at most; others wait.
pub const BINDING_REQUESTS_MAX_COUNT: usize = 8;
/// Milliseconds that a binding waits for a file that another program writes to.
pub const BINDING_BUSY_MAX_MS: u64 = 10_000;
/// Bytes of one request to the database of a project at most.
pub const D1_REQUEST_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of one SQL statement of a backend at most.
pub const D1_SQL_MAX_BYTES: usize = 100_000;
/// Parameters of one SQL statement of a backend at most.
pub const D1_PARAMETERS_MAX_COUNT: usize = 100;
/// Columns of a table or result of a project's database at most.
pub const D1_COLUMNS_MAX_COUNT: usize = 100;
/// Bytes of a text, blob or row of a project's database at most.
pub const D1_VALUE_MAX_BYTES: usize = 2_000_000;
/// SQL statements of one request to the database of a project at most.
pub const D1_STATEMENTS_MAX_COUNT: usize = 1000;
/// Bytes of the rows that the statements of one request answer at most, as JSON.
pub const D1_RESULT_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Milliseconds that the statements of one request run at most.
pub const D1_RUN_MAX_MS: u64 = 30_000;
/// Bytes of the database of a project at most.
pub const D1_DATABASE_MAX_BYTES: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes of the KV of a project, with its keys and what the file itself takes, at most.
pub const KV_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Bytes of a key in the KV of a project at most.
pub const KV_KEY_MAX_BYTES: usize = 512;
/// Bytes of a value in the KV of a project at most.
pub const KV_VALUE_MAX_BYTES: usize = 25 * 1024 * 1024;
/// Bytes of the metadata of a key in the KV of a project, as JSON, at most.
pub const KV_METADATA_MAX_BYTES: usize = 1024;
/// Keys on a page of a list of KV at most.
pub const KV_PAGE_MAX_KEYS: usize = 1000;
/// Keys that one request to KV reads at most.
pub const KV_BULK_KEYS_MAX_COUNT: usize = 100;
/// Seconds until a key of KV expires at least.
pub const KV_EXPIRATION_MIN_S: i64 = 60;
/// Seconds that a backend lets a value of KV be cached at least.
pub const KV_CACHE_MIN_S: i64 = 30;
/// Bytes of the key of an object in a bucket at most.
pub const R2_KEY_MAX_BYTES: usize = 1024;
/// Bytes of the custom metadata of an object in a bucket at most.
pub const R2_METADATA_MAX_BYTES: usize = 2048;
/// Bytes of an object in a bucket at most: 5 GiB but for 5 MiB.
pub const R2_OBJECT_MAX_BYTES: u64 = 1023 * 5 * 1024 * 1024;
/// Greatest number of a part of a multipart upload.
pub const R2_PARTS_MAX_COUNT: i64 = 10_000;
/// Seconds after which a multipart upload that was not ended is given up.
pub const R2_UPLOAD_KEPT_S: i64 = 7 * 86_400;
/// Bytes of a part of a multipart upload at least, but for the last.
pub const R2_PART_MIN_BYTES: u64 = 5 * 1024 * 1024;
/// Objects and prefixes on a page of a list of a bucket at most.
pub const R2_PAGE_MAX_KEYS: usize = 1000;
/// Objects and prefixes on such a page at most where metadata is told with them.
pub const R2_PAGE_WITH_METADATA_MAX_KEYS: usize = 100;
/// Keys that one request deletes from a bucket at most.
pub const R2_DELETE_MAX_KEYS: usize = 1000;
/// Bytes of what a request to a bucket says before the value at most.
pub const R2_REQUEST_MAX_BYTES: u64 = 8 * 1024 * 1024;
