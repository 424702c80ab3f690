//! The limits of this crate, each with its unit.

// # Requests

/// Bytes of a `…/bulk` request body at most.
pub const BULK_BODY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Records in one `…/bulk` request at most.
pub const BULK_MAX_RECORDS: usize = 50_000;
/// Milliseconds that one scan of a table may take before the request is refused.
pub const SCAN_MAX_MS: u64 = 800;
/// Changes on a page of `/changes`, unless the request says how many.
pub const CHANGES_PAGE_DEFAULT_RECORDS: u64 = 100;
/// The most changes on a page of `/changes`.
pub const CHANGES_PAGE_MAX_RECORDS: u64 = 1000;

// # Rosters

/// Bytes of a zip of rosters that is sent in a browser or over HTTP at most; `lyceum import` takes larger ones.
pub const IMPORT_UPLOAD_MAX_BYTES: usize = 128 * 1024 * 1024;

// # Questions and lessons

/// Bytes of a JSON body that carries one QTI document at most.
pub const QTI_BODY_MAX_BYTES: usize = 16 * 1024 * 1024;

// # Credentials and standards

/// Bytes of one CASE package at most, in a request and in a file.
pub const CASE_PACKAGE_MAX_BYTES: usize = 64 * 1024 * 1024;

// # Operation

/// Bytes of the disk of the data folder that a backup leaves free.
pub const BACKUP_SPARED_BYTES: u64 = 256 * 1024 * 1024;

// # Internal

/// Times that an update of a learner record is added to one that came first, before it is refused.
pub const CLR_MERGE_MAX_COUNT: u32 = 100;
/// Milliseconds that reading a course's whole tree may take.
pub const COURSE_READ_MAX_MS: u64 = 10_000;
/// Seconds after which a status list that did not change is signed again.
pub const STATUS_LIST_SIGNED_S: i64 = 3600;
/// Documents that one verification reads from addresses in a credential at most.
pub const VERIFY_FETCH_MAX_COUNT: usize = 32;
/// Bytes of a token request's body at most.
pub const TOKEN_BODY_MAX_BYTES: usize = 16 * 1024;
/// Milliseconds for which `/ready` waits for the store.
pub const READY_WAIT_MS: u64 = 2000;
/// Milliseconds for which `/ready` answers that the store takes writes without looking again.
pub const READY_KEPT_MS: u64 = 5000;
/// Milliseconds for which `/ready` answers that the store takes no writes, without looking again.
pub const READY_REFUSED_MS: u64 = 1000;
/// Seconds for which `/ready` answers 200 while writes only wait for others, such as an import.
pub const READY_WAITING_MAX_S: u64 = 600;
/// Events after which no further envelope joins a transaction.
pub const EVENT_GROUP_MAX_RECORDS: usize = 2000;
/// Milliseconds between two looks for ids of events that can be moved into runs, while the database changes.
pub const EVENT_GATHER_PAUSE_MS: u64 = 1000;
/// Seconds between two looks for facts of events that are not summed.
pub const FACT_SUM_EVERY_S: u64 = 20;
/// Ids of events that are moved before PostgreSQL is told to reuse the space of their rows, and of summed facts.
pub const EVENT_ROWS_FREED_COUNT: usize = 100_000;
/// Seconds from the moment a server tells PostgreSQL to reuse the space of such rows until it does so again, at least.
pub const EVENT_ROWS_FREED_EVERY_S: u64 = 30;
/// Seconds between two removals of the heads of runs of events that are not used any more.
pub const EVENT_HEADS_CHECK_EVERY_S: u64 = 60;
/// Milliseconds between two looks into the event log for live streams at least.
pub const EVENT_STREAM_PAUSE_MS: u64 = 100;
/// Seconds after which a live stream says that it lives.
pub const EVENT_STREAM_HEARTBEAT_S: u64 = 15;
/// Milliseconds that counting the users of an application may take.
pub const APPLICATION_METRICS_MAX_MS: u64 = 10_000;
/// Times that a change inside a test is tried at most if other changes come between.
pub const QTI_EDIT_MAX_ATTEMPTS: u32 = 20;
/// Bytes of a plan with the values of its secrets at most.
pub const PLAN_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Frontends whose lists of files a server remembers.
pub const FRONTEND_CACHE_ENTRIES: usize = 64;
/// Milliseconds after which a server reports the progress of an import again.
pub const IMPORT_TELL_MS: u64 = 1000;
/// Milliseconds between two checks for imports that another server added, while the database changes.
pub const IMPORT_POLL_MS: u64 = 2000;
/// Milliseconds between two checks for erasures that another process began or did not finish, while the
/// database changes.
pub const ERASURE_POLL_MS: u64 = 1000;
/// Milliseconds after which a server that searches or compacts for an erasure reports again.
pub const ERASURE_RENEW_MS: u64 = 3000;
/// Lines of a backend's log in one answer, unless the request names another number.
pub const BACKEND_LOG_PAGE_ENTRIES: usize = 100;
/// Versions of projects that a server remembers.
pub const DEPLOYMENT_CACHE_ENTRIES: usize = 256;
/// Times that one backup copies the database at most, because files that the copy names were removed meanwhile.
pub const BACKUP_COPIES_MAX_COUNT: usize = 5;
/// Milliseconds between two looks at the schedule of backups.
pub const BACKUP_POLL_MS: u64 = 1000;
/// Milliseconds after which a server that makes a backup reports again.
pub const BACKUP_REPORT_MS: u64 = 30_000;
/// Seconds after its last upload for which a file stays that no stored version needs.
pub const BLOB_SPARED_S: u64 = 86_400;
/// Seconds between two searches for files that no stored version needs.
pub const BLOB_SWEEP_EVERY_S: u64 = 3600;
/// Bytes of a form of the sign-in pages at most.
pub const SIGN_IN_FORM_MAX_BYTES: usize = 16 * 1024;
/// Seconds that the token is valid which a page gives to the game that it shows. The page gets the next token before.
pub const PLAY_TOKEN_LIFETIME_S: i64 = 600;
/// Seconds between two searches for expired demo visitors.
pub const DEMO_PURGE_EVERY_S: u64 = 3600;
/// New demo visitors from one address within 15 minutes at most.
pub const DEMO_VISITORS_MAX_COUNT: i64 = 120;
/// Messages to targets whose last answer was a failure that a server sends at once at most.
pub const WEBHOOK_FAILING_SENDS_MAX_COUNT: usize = 32;
/// Milliseconds between two looks for new changes while webhooks are active.
pub const WEBHOOK_POLL_MS: u64 = 200;
/// Milliseconds between two looks of a server that does not send webhooks, while the database changes.
pub const WEBHOOK_IDLE_POLL_MS: u64 = 500;
/// Milliseconds between two renewals of the lease of the sender, well below `WEBHOOK_SENDER_LEASE_S`.
pub const WEBHOOK_RENEW_MS: u64 = 3_000;
/// Milliseconds that a sender gathers outcomes and changes for its next transaction.
pub const WEBHOOK_GATHER_MS: u64 = 20;
/// Seconds that a target is left alone after it did not answer; twice as long after each further failure.
pub const WEBHOOK_PAUSE_MIN_S: i64 = 5;
/// Seconds that a target that does not answer is left alone at most.
pub const WEBHOOK_PAUSE_MAX_S: i64 = 300;
/// Seconds between two removals of old entries of the delivery log.
pub const WEBHOOK_FORGET_EVERY_S: u64 = 600;
