//! The limits of this crate, each with its unit.

// # Projects

/// Bytes of one uploaded file at most, such as the zip of a build.
pub const UPLOAD_MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Files of one frontend at most.
pub const FRONTEND_FILES_MAX_COUNT: usize = 20_000;
/// Bytes of the files of one frontend together at most, unpacked.
pub const FRONTEND_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Bytes of the modules of one backend together at most.
pub const BACKEND_MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Projects of one server at most.
pub const PROJECTS_MAX_COUNT: i64 = 10_000;
/// Versions of one project that are stored at most; older ones are deleted, except the served one.
pub const DEPLOYMENTS_KEPT_MAX_COUNT: i64 = 10;
/// Bytes of JavaScript's heap that the backend of a project has.
pub const BACKEND_HEAP_MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Bytes of memory that the process of a backend takes at most; one that takes more is ended.
pub const BACKEND_MEMORY_MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Milliseconds that JavaScript of a backend runs without a pause at most; its process is ended then.
pub const BACKEND_SPIN_MAX_MS: u64 = 10_000;
/// Milliseconds between two pieces of a request to a backend at most, and from its end until the answer begins.
pub const BACKEND_ANSWER_MAX_MS: u64 = 30_000;
/// Milliseconds until the process of a backend listens, at most.
pub const BACKEND_START_MAX_MS: u64 = 20_000;
/// Lines of the log of a backend that are kept.
pub const BACKEND_LOG_MAX_ENTRIES: usize = 1000;
/// Bytes of the body of a request to the backend of a project at most.
pub const BACKEND_BODY_MAX_BYTES: usize = 100 * 1024 * 1024;
/// Bytes of one SQL statement of a backend at most.
pub const D1_SQL_MAX_BYTES: usize = 100_000;
/// Parameters of one SQL statement of a backend at most.
pub const D1_PARAMETERS_MAX_COUNT: usize = 100;
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
/// Keys on a page of a list of KV at most.
pub const KV_PAGE_MAX_KEYS: usize = 1000;
/// Seconds until a key of KV expires at least.
pub const KV_EXPIRATION_MIN_S: i64 = 60;
/// Bytes of the key of an object in a bucket at most.
pub const R2_KEY_MAX_BYTES: usize = 1024;
/// Bytes of an object in a bucket at most: 5 GiB minus 5 MiB.
pub const R2_OBJECT_MAX_BYTES: u64 = 1023 * 5 * 1024 * 1024;
/// Greatest number of a part of a multipart upload.
pub const R2_PARTS_MAX_COUNT: i64 = 10_000;
/// Seconds after which a multipart upload that was not ended is given up.
pub const R2_UPLOAD_KEPT_S: i64 = 7 * 86_400;
/// Bytes of a part of a multipart upload at least, except for the last.
pub const R2_PART_MIN_BYTES: u64 = 5 * 1024 * 1024;
/// Objects and prefixes on a page of a list of a bucket at most.
pub const R2_PAGE_MAX_KEYS: usize = 1000;
/// Former database files of a project that are kept.
pub const RESTORE_POINTS_MAX_COUNT: usize = 10;
/// Bytes of all objects of a bucket and of all parts of unfinished uploads at most.
pub const BUCKET_MAX_BYTES: u64 = 50 * 1024 * 1024 * 1024;

// # Operation

/// Seconds after which a server that does not report counts as silent.
pub const NODE_LEASE_S: i64 = 60;

// # Internal

/// Bytes of the path of a file of a frontend at most.
pub const FRONTEND_PATH_MAX_BYTES: usize = 512;
/// Bytes of the list of files in a zip at most.
pub const ZIP_DIRECTORY_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Modules of one backend at most.
pub const BACKEND_MODULES_MAX_COUNT: usize = 100;
/// Routes of one backend at most.
pub const BACKEND_ROUTES_MAX_COUNT: usize = 1000;
/// Milliseconds for which a node holds its projects without renewing its lease.
pub const HOME_LEASE_MS: u64 = 10_000;
/// Milliseconds by which a node ends its lease earlier than the database does, because clocks differ in speed.
pub const HOME_LEASE_SPARE_MS: u64 = 500;
/// Seconds after which a blob that a shared bucket does not need any more is removed; replicas may need it until then.
pub const BUCKET_SPARED_S: i64 = 86_400;
/// Seconds for which the list of nodes shows a node that no longer reports and holds no project.
pub const NODE_LISTED_S: i64 = 3_600;
/// Seconds after which a node that holds no project and does not report is deleted from the database.
pub const NODE_REMEMBERED_S: i64 = 90 * 86_400;
/// Entries of a project's audit log on a page at most.
pub const AUDIT_PAGE_MAX_RECORDS: i64 = 200;
/// Milliseconds between two checks of a backend's process.
pub const BACKEND_PULSE_MS: u64 = 500;
/// Seconds without a request after which the process of a backend ends.
pub const BACKEND_IDLE_S: u64 = 600;
/// Milliseconds that a version that is replaced has for the requests that it began.
pub const BACKEND_DRAIN_MAX_MS: u64 = 30_000;
/// Milliseconds of the first wait before a backend that crashed again, or did not start, is started again; each
/// further one is twice as long. A start takes about a hundredth of that.
pub const BACKEND_BACKOFF_MS: u64 = 4_000;
/// Milliseconds of the longest such wait.
pub const BACKEND_BACKOFF_MAX_MS: u64 = 30_000;
/// Seconds that a backend must run until its earlier crashes no longer count.
pub const BACKEND_STABLE_S: u64 = 60;
/// Milliseconds that an idle connection to a backend has to accept a request; then another one is used.
pub const BACKEND_CONNECTION_READY_MS: u64 = 100;
/// Milliseconds that a connection to a backend is kept without a request. workerd closes it after 5 s, and a request that
/// is sent at that moment is lost.
pub const BACKEND_CONNECTION_IDLE_MAX_MS: u64 = 2_500;
/// Connections to the process of a backend that are kept for the next requests.
pub const BACKEND_IDLE_CONNECTIONS_MAX_COUNT: usize = 64;
/// Bytes of a line of the log of a backend at most; of longer ones the beginning is kept.
pub const BACKEND_LOG_LINE_MAX_BYTES: usize = 8 * 1024;
/// Requests to one binding of a backend that are served at once at most; others wait.
pub const BINDING_REQUESTS_MAX_COUNT: usize = 8;
/// Milliseconds that a binding waits for a file that another program writes to.
pub const BINDING_BUSY_MAX_MS: u64 = 10_000;
/// Bytes of one request to the database of a project at most.
pub const D1_REQUEST_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Columns of a table or result of a project's database at most.
pub const D1_COLUMNS_MAX_COUNT: usize = 100;
/// Bytes of the metadata of a key in the KV of a project, as JSON, at most.
pub const KV_METADATA_MAX_BYTES: usize = 1024;
/// Keys that one request to KV reads at most.
pub const KV_BULK_KEYS_MAX_COUNT: usize = 100;
/// Seconds that a backend lets a value of KV be cached at least.
pub const KV_CACHE_MIN_S: i64 = 30;
/// Bytes of the custom metadata of an object in a bucket at most.
pub const R2_METADATA_MAX_BYTES: usize = 2048;
/// Objects and prefixes on a page of a list of a bucket at most if it includes their metadata.
pub const R2_PAGE_WITH_METADATA_MAX_KEYS: usize = 100;
/// Keys that one request deletes from a bucket at most.
pub const R2_DELETE_MAX_KEYS: usize = 1000;
/// Bytes of the description before the value in a request to a bucket at most.
pub const R2_REQUEST_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes in memory at once of an answer that is sent piece by piece.
pub const ANSWER_PIECE_BYTES: usize = 64 * 1024;
/// Rows that one export of an endless list of the console holds at most.
pub const CONSOLE_EXPORT_MAX_ROWS: i64 = 100_000;
/// Milliseconds that a backend has to finish its requests before its database changes; then it is ended.
pub const DEPLOY_PAUSE_MAX_MS: u64 = 5_000;
/// Bytes that a backup reads or writes at once.
pub const BACKUP_BUFFER_BYTES: usize = 1024 * 1024;
/// Seconds after which a server that makes a backup and does not report counts as stopped; longer than the time between two
/// reports and the largest difference of clocks together.
pub const BACKUP_LEASE_S: i64 = 180;
/// Seconds until a server tries a failed backup again.
pub const BACKUP_RETRY_S: i64 = 900;
/// Bytes of the name of an entry of a backup at most.
pub const BACKUP_NAME_MAX_BYTES: u64 = 4096;
/// Bytes of the description that a backup contains of itself at most.
pub const BACKUP_MANIFEST_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Seconds after which servers replace the marks of their installation.
pub const INSTALLATION_MARK_EVERY_S: i64 = 60;
/// Seconds for which a database remembers marks that were replaced: a slow server may still store one.
pub const INSTALLATION_MARK_KEPT_S: i64 = 24 * 60 * 60;
/// Seconds after its last mark for which an installation counts as running. Longer than a minute to the next mark, 20 s to the
/// next comparison, and a minute for clocks that differ.
pub const INSTALLATION_RUNNING_S: i64 = 900;
/// Seconds after its last mark for which the objects of another installation count as needed by it.
pub const INSTALLATION_OWNS_S: i64 = 30 * 24 * 60 * 60;
