//! Limits of what a deployed project keeps, and of changes to it.

/// Lines of a backend's log that are answered where nobody asks for another number.
pub const BACKEND_LOG_PAGE_ENTRIES: usize = 100;
/// Versions of projects that a server remembers.
pub const DEPLOYMENT_CACHE_ENTRIES: usize = 256;
/// Former database files of a project that are kept.
pub const RESTORE_POINTS_MAX_COUNT: usize = 10;
/// Milliseconds that a backend has for what it began before its database changes; then it is ended.
pub const DEPLOY_PAUSE_MAX_MS: u64 = 5_000;
/// Bytes of all objects of a bucket, and of the parts of those to be, at most.
pub const BUCKET_MAX_BYTES: u64 = 50 * 1024 * 1024 * 1024;
/// Copies of the database that one backup makes, where files that it names are removed meanwhile.
pub const BACKUP_COPIES_MAX_COUNT: usize = 5;
/// Bytes that a backup reads or writes at once.
pub const BACKUP_BUFFER_BYTES: usize = 1024 * 1024;
/// Bytes of the name of an entry of a backup at most.
pub const BACKUP_NAME_MAX_BYTES: u64 = 4096;
/// Bytes of what a backup says of itself.
pub const BACKUP_MANIFEST_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Seconds for which a file that no kept version needs stays, where nobody asks for it meanwhile.
pub const BLOB_SPARED_S: u64 = 86_400;
/// Seconds between two looks for files that no kept version needs.
pub const BLOB_SWEEP_EVERY_S: u64 = 3600;
/// Bytes of a project's schema, and of one of its migrations, at most.
pub const SCHEMA_MAX_BYTES: usize = 1024 * 1024;
/// Migrations of one project at most.
pub const MIGRATIONS_MAX_FILES: usize = 2000;
