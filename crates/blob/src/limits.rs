//! The limits of this crate, each with its unit.

// # Internal

/// Bytes of the id of a resumable upload at most.
pub const UPLOAD_ID_MAX_BYTES: usize = 64;
/// Bytes of copies of blobs that a server before a bucket of S3 keeps on disk at most.
pub const BLOB_COPIES_MAX_BYTES: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes that are sent to a bucket of S3, or read from it, at once; longer files are sent in parts.
pub const S3_PART_BYTES: u64 = 8 * 1024 * 1024;
/// Seconds that a bucket of S3 has for one answer at most.
pub const S3_ANSWER_MAX_S: u64 = 120;
/// Bytes of a part of a file whose size is not known before it is sent to a bucket of S3. A bucket takes 10 000 parts.
pub const S3_LARGE_PART_BYTES: usize = 32 * 1024 * 1024;
