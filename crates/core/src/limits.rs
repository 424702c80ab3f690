//! Every limit of the platform, each a named constant with its unit. `docs/limits.md` lists them
//! all; a tidy test holds the two together.

mod bindings;
mod connections;
mod console;
mod hosting;
mod people;
mod postgres;

pub use bindings::*;
pub use connections::*;
pub use console::*;
pub use hosting::*;
pub use people::*;
pub use postgres::*;

/// Records on a page when the request does not say (OneRoster 1.2, `limit`).
pub const PAGE_DEFAULT_RECORDS: u64 = 100;
/// Records on a page at most; a larger `limit` is served at this size.
pub const PAGE_MAX_RECORDS: u64 = 3000;
/// Bytes of a JSON request body at most.
pub const BODY_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Errors of one body that an answer lists at most.
pub const BODY_ERRORS_MAX_COUNT: usize = 100;
/// Bytes of a `…/bulk` request body at most.
pub const BULK_BODY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Records in one `…/bulk` request at most.
pub const BULK_MAX_RECORDS: usize = 50_000;
/// Levels of arrays and objects in a JSON body at most.
pub const JSON_MAX_DEPTH: usize = 64;
/// Levels of objects and lists of any JSON text at most, trees of courses included.
pub const JSON_MAX_LEVELS: usize = 10_000;
/// Parameters of a query at most.
pub const QUERY_PARAMETERS_MAX_COUNT: usize = 100;
/// Bytes of one record's canonical JSON at most.
pub const RECORD_MAX_BYTES: usize = 1024 * 1024;
/// Bytes of a `sourcedId` at most (OneRoster 1.2 recommends GUIDs; clients use up to 255).
pub const SOURCED_ID_MAX_BYTES: usize = 255;
/// Members of one array field at most.
pub const LIST_MAX_MEMBERS: usize = 10_000;
/// Bytes of a filter expression at most.
pub const FILTER_MAX_BYTES: usize = 8 * 1024;
/// Clauses of a filter expression at most.
pub const FILTER_MAX_CLAUSES: usize = 64;
/// Nested parentheses of a filter expression at most.
pub const FILTER_MAX_DEPTH: usize = 16;
/// Bytes of a `search` text at most.
pub const SEARCH_MAX_BYTES: usize = 200;
/// Milliseconds that one scan of a table may take before the request is refused.
pub const SCAN_MAX_MS: u64 = 800;
/// Seconds that an access token is valid.
pub const TOKEN_LIFETIME_S: i64 = 3600;
/// Seconds that clocks may differ when a token's time is checked.
pub const TOKEN_LEEWAY_S: i64 = 30;
/// Bytes of an access token at most.
pub const TOKEN_MAX_BYTES: usize = 8 * 1024;
/// Days until a signing key is followed by a new one.
pub const KEY_ROTATION_DAYS: i64 = 90;
/// Seconds that a new signing key is published before it signs.
pub const KEY_PUBLISH_AHEAD_S: i64 = 60;
/// Seconds that a signing key verifies after its successor was made: longer than a token lives.
pub const KEY_OVERLAP_S: i64 = 7200;
/// Verified tokens that a server remembers at most.
pub const TOKEN_CACHE_ENTRIES: usize = 20_000;
/// Seconds until every server honours a revocation, at most.
pub const REVOCATION_MAX_S: u64 = 5;
/// Bytes of a client's name at most.
pub const CLIENT_NAME_MAX_BYTES: usize = 200;
/// Bytes of a client's id at most.
pub const CLIENT_ID_MAX_BYTES: usize = 255;
/// Bytes of a client's secret at least, where it is not a random one of ours.
pub const CLIENT_SECRET_MIN_BYTES: usize = 16;
/// Bytes of a client's secret at most.
pub const CLIENT_SECRET_MAX_BYTES: usize = 1024;
/// Secrets of a client that are valid at once, while it rotates.
pub const CLIENT_SECRET_MAX_COUNT: usize = 2;
/// Origins of web pages that one client may list.
pub const CLIENT_MAX_ORIGINS: usize = 100;
/// Bytes of one line of an imported CSV file at most.
pub const CSV_LINE_MAX_BYTES: usize = 1024 * 1024;
/// Files in an imported zip at most.
pub const ZIP_MAX_FILES: usize = 200;
/// Unpacked bytes of an imported zip at most (64 GiB).
pub const ZIP_MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024 * 1024;
/// Times that a file of an imported zip may unpack to its packed size; real rosters stay below 60.
pub const ZIP_UNPACKED_MAX_RATIO: u64 = 300;
/// Bytes that a file of an imported zip may unpack to before its ratio counts.
pub const ZIP_RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Columns of an imported CSV file at most; a complete export puts further metadata into `metadata.lyceum.record`.
pub const CSV_MAX_ENTRIES: usize = 1000;
/// Faults that one import reports in full; the rest is counted.
pub const IMPORT_MAX_REPORTED_FAULTS: usize = 1000;
/// Components and resources that one `/courses/structure` request or syllabus holds at most.
pub const COURSE_MAX_NODES: usize = 20_000;
/// Milliseconds that reading a course's whole tree may take.
pub const COURSE_READ_MAX_MS: u64 = 10_000;
/// Faults that one `/courses/structure` request reports at most.
pub const COURSE_MAX_REPORTED_FAULTS: usize = 100;
/// Bytes of a user's name, password or application in another system at most.
pub const CREDENTIAL_TEXT_MAX_BYTES: usize = 1024;
/// Bytes of one credential or definition of a badge that is kept at most.
pub const CREDENTIAL_STORED_MAX_BYTES: usize = 1024 * 1024;
/// Bytes of the id of a credential, badge or achievement at most.
pub const CREDENTIAL_ID_MAX_BYTES: usize = 2000;
/// Bytes of the profile of an issuer as JSON at most.
pub const ISSUER_PROFILE_MAX_BYTES: usize = 64 * 1024;
/// Bytes of the reason for revoking a credential at most.
pub const REVOCATION_REASON_MAX_BYTES: usize = 2000;
/// Seconds that others may keep a status list or a key document.
pub const STATUS_LIST_MAX_AGE_S: u64 = 60;
/// Seconds after which a status list that did not change is signed anew.
pub const STATUS_LIST_SIGNED_S: i64 = 3600;
/// Bytes of a document that is read from an address that a caller supplied at most.
pub const FETCH_MAX_BYTES: u64 = 1024 * 1024;
/// Milliseconds that reading one such document may take, redirects included.
pub const FETCH_MAX_MS: u64 = 5000;
/// Redirects that are followed for one such document at most.
pub const FETCH_REDIRECTS_MAX_COUNT: u32 = 3;
/// Such documents that are read at once at most.
pub const FETCH_MAX_COUNT: usize = 16;
/// Milliseconds that a call to another Lyceum server may take.
pub const CLIENT_CALL_MAX_MS: u64 = 10_000;
/// Bytes of its answer at most.
pub const CLIENT_ANSWER_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Calls to another Lyceum server that run at once at most.
pub const CLIENT_CALLS_MAX_COUNT: usize = 16;
/// Such documents that one verification reads at most.
pub const VERIFY_FETCH_MAX_COUNT: usize = 32;
/// Credentials in a compiled learner record at most; a record that has more says that it is partial.
pub const CLR_CREDENTIALS_MAX_COUNT: usize = 400;
/// Bytes of a signed learner record at most.
pub const CLR_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a client's own `X-Request-Id` at most; a longer one is replaced.
pub const REQUEST_ID_MAX_BYTES: usize = 128;
/// Bytes of a refused body that are read and thrown away so that its sender sees the answer.
pub const DRAIN_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Milliseconds that reading a refused body may take.
pub const DRAIN_MAX_MS: u64 = 5000;
/// Bytes of a token request's body at most.
pub const TOKEN_BODY_MAX_BYTES: usize = 16 * 1024;
/// Bytes of an answer below which compressing it is not worth the time.
pub const COMPRESSION_MIN_BYTES: u16 = 1024;
/// Milliseconds between two looks at the TLS files for a change.
pub const TLS_POLL_MS: u64 = 2000;
/// Milliseconds between two readings of the clients; well below `REVOCATION_MAX_S`.
pub const CLIENTS_REFRESH_MS: u64 = 2000;
/// Milliseconds after the signal to stop in which a server still takes requests, saying
/// `Connection: close`, so that none is lost on its way.
pub const SHUTDOWN_NOTICE_MS: u64 = 500;
/// Milliseconds for which `/ready` waits for the store.
pub const READY_WAIT_MS: u64 = 2000;
/// Milliseconds for which `/ready` answers that the store takes writes without looking again.
pub const READY_KEPT_MS: u64 = 5000;
/// Milliseconds for which `/ready` answers that it does not.
pub const READY_REFUSED_MS: u64 = 1000;
/// Seconds for which `/ready` says yes while writes only wait for others, such as an import.
pub const READY_WAITING_MAX_S: u64 = 600;
/// Bytes that the disk of an SQLite database has free at least where `/ready` says yes.
pub const READY_FREE_MIN_BYTES: u64 = 1024 * 1024;
/// Seconds that browsers may remember the answer to a preflight.
pub const PREFLIGHT_MAX_AGE_S: u64 = 600;
/// Closures that wait for one kind of store thread at most; a further one is refused with 503.
pub const STORE_QUEUE_MAX_ENTRIES: usize = 10_000;
/// Closures that share one SQLite commit at most.
pub const STORE_WRITE_BATCH_MAX_ENTRIES: usize = 1000;
/// Milliseconds for which a SQLite commit takes along what comes after it began.
pub const STORE_WRITE_BATCH_OPEN_MS: u64 = 1;
/// SQLite commits that wait for a sync of the disk at most; the writer waits then.
pub const STORE_UNSYNCED_MAX_ENTRIES: usize = 16;
/// Times that the store runs a closure at most (serialization failures, lost connections).
pub const STORE_MAX_ATTEMPTS: u32 = 20;
/// Milliseconds that a write waits for a lock that another process or connection holds.
pub const STORE_LOCK_WAIT_MS: u64 = 30_000;
/// Prepared statements that one connection keeps at most.
pub const STORE_STATEMENT_CACHE_ENTRIES: usize = 256;
/// Bytes of an SQLite file that each connection maps into memory.
pub const SQLITE_MMAP_BYTES: u64 = 8 * 1024 * 1024 * 1024;
/// Bytes of page cache of one SQLite connection.
pub const SQLITE_CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of page cache of an SQLite connection that writes.
pub const SQLITE_WRITE_CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of page cache of the temporary file in which an import remembers rows.
pub const SPOOL_CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes to which the SQLite write-ahead log is cut back after a long write.
pub const SQLITE_LOG_KEPT_BYTES: u64 = 64 * 1024 * 1024;
/// Threads that run scans and exports on SQLite.
pub const SQLITE_SCAN_THREADS: usize = 2;
/// Rows that one bulk insert statement carries.
pub const INSERT_CHUNK_ROWS: usize = 1000;
/// Attempts of a job before it counts as failed for good.
pub const JOB_MAX_ATTEMPTS: i64 = 12;
/// Records that one `DELETE …?cascade=true` marks at most.
pub const CASCADE_MAX_RECORDS: u64 = 100_000;
/// Hours that the time of an item of an event may last; a longer one is not believed.
pub const TIME_SPENT_SPAN_MAX_H: i64 = 48;
/// Hours from an event's time that the time of one of its items may lie; a farther one is not
/// believed, and its seconds count at the event.
pub const TIME_SPENT_REACH_MAX_H: i64 = 7 * 24;
/// Greatest number that one item of an event can add to a fact, in either direction.
pub const FACT_VALUE_MAX_COUNT: i32 = 1_000_000_000;
/// Actors whose facts are computed anew in one transaction.
pub const FACT_REBUILD_CHUNK_COUNT: i64 = 100;
/// Events whose places are noted anew in one transaction.
pub const FACT_LOCATE_CHUNK_COUNT: i64 = 20_000;
/// Bytes of one QTI document at most.
pub const QTI_DOCUMENT_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Elements of a QTI document that are nested in one another at most.
pub const QTI_DEPTH_MAX_LEVELS: usize = 100;
/// Elements and texts of one QTI document at most.
pub const QTI_MAX_NODES: usize = 200_000;
/// Attributes of one element of a QTI document at most.
pub const QTI_ATTRIBUTES_MAX_COUNT: usize = 100;
/// Faults of a QTI document that are told at most.
pub const QTI_MAX_FAULTS: usize = 100;
/// Bytes that one compiled pattern of a QTI item takes at most.
pub const QTI_PATTERN_MAX_BYTES: usize = 1024 * 1024;
/// Characters that a format fills a printed number up to, and digits behind its point, at most; a
/// format that asks for more is not followed.
pub const QTI_FORMAT_MAX_COUNT: usize = 100;
/// Steps of one response processing at most; further expressions are NULL.
pub const QTI_STEPS_MAX_COUNT: usize = 100_000;
/// Values of one container while an item is scored at most; a larger one is NULL.
pub const QTI_CONTAINER_MAX_VALUES: usize = 2000;
/// Bytes of one text while an item is scored at most; a longer one is refused.
pub const QTI_RESPONSE_MAX_BYTES: usize = 1024 * 1024;
/// Steps of a trace of processing that are kept at most.
pub const QTI_TRACE_MAX_ENTRIES: usize = 10_000;
/// Times that template processing starts over for a constraint at most.
pub const QTI_TEMPLATE_MAX_ATTEMPTS: usize = 100;
/// Bytes of the identifier of a stored QTI document at most.
pub const QTI_IDENTIFIER_MAX_BYTES: usize = 255;
/// Bytes of a JSON body that carries one QTI document at most.
pub const QTI_BODY_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a page of a list of QTI documents at most; a longer one asks for a smaller `limit`.
pub const QTI_PAGE_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Documents that one request to validate holds at most.
pub const QTI_BATCH_MAX_COUNT: usize = 1000;
/// Bytes of XML of the items that a server keeps parsed for scoring.
pub const QTI_PARSED_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Bytes of one feedback on a lesson or question at most.
pub const FEEDBACK_MAX_BYTES: usize = 64 * 1024;
/// Feedback that one read of a lesson's feedback shows at most, the newest.
pub const FEEDBACK_SHOWN_COUNT: usize = 100;
/// Events and entities in one Caliper envelope at most.
pub const EVENT_ENVELOPE_MAX_RECORDS: usize = 10_000;
/// Events after which no further envelope joins a transaction.
pub const EVENT_GROUP_MAX_RECORDS: usize = 2000;
/// Actors of events whose numbers a server keeps in memory at most, and sources: some 12 MB each.
pub const EVENT_NAMES_KNOWN_COUNT: usize = 100_000;
/// Memory for the heads of runs of events, with which ids are told to be new: two bytes an event.
pub const EVENT_HEADS_MAX_BYTES: usize = 512 * 1024 * 1024;
/// Events that come together at least for their text to be packed in blocks.
pub const EVENT_BLOCK_MIN_RECORDS: usize = 16;
/// Events whose text one block holds at most. Who wants one of them unpacks them all.
pub const EVENT_BLOCK_MAX_RECORDS: usize = 32;
/// Bytes of a block before it is packed, at most; a longer event stands in a row of its own.
pub const EVENT_BLOCK_MAX_BYTES: usize = 64 * 1024;
/// Faults of one Caliper envelope that are told in full; the rest is counted.
pub const EVENT_MAX_REPORTED_FAULTS: usize = 100;
/// Bytes of the IRI of an event, entity or sensor at most.
pub const EVENT_ID_MAX_BYTES: usize = 1024;
/// Bytes of an actor's e-mail address at most.
pub const EVENT_EMAIL_MAX_BYTES: usize = 320;
/// Points, questions or seconds of one metric of an event at most.
pub const EVENT_METRIC_MAX_COUNT: u32 = 1_000_000_000;
/// Bytes of a refused envelope that are kept for inspection and replay.
pub const EVENT_REFUSED_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Days that a refused envelope is kept.
pub const EVENT_REFUSED_KEPT_DAYS: i64 = 30;
/// Refused envelopes that are kept; the oldest go first.
pub const EVENT_REFUSED_KEPT_COUNT: i64 = 10_000;
/// Days that the state of an accepted envelope's job is kept.
pub const EVENT_JOB_KEPT_DAYS: i64 = 30;
/// Milliseconds between two looks at the log for a live stream.
pub const EVENT_STREAM_POLL_MS: u64 = 250;
/// Seconds after which a live stream says that it lives.
pub const EVENT_STREAM_HEARTBEAT_S: u64 = 15;
/// Milliseconds between two looks whether the reader of a live stream may still read it. With
/// `CLIENTS_REFRESH_MS` it is below `REVOCATION_MAX_S`.
pub const STREAM_CHECK_MS: u64 = 1000;
/// Events that a live stream reads from the log at once.
pub const EVENT_STREAM_BATCH_RECORDS: i64 = 100;
/// Milliseconds that a live stream waits at most for a number of the log that was given out and does
/// not appear, while transactions are under way that may have taken it. Longer than a request may
/// last, so that only transactions that take no events, such as an import, outlast it.
pub const EVENT_STREAM_GAP_MAX_MS: i64 = 60_000;
/// Subject tracks at most.
pub const SUBJECT_TRACKS_MAX_RECORDS: usize = 10_000;
/// Users for whom what is due (a new school year, subject tracks) is done in one transaction.
pub const SETTLE_PAGE_RECORDS: i64 = 500;
/// Enrollments of a course whose goals are reset at once at most.
pub const RESET_MAX_RECORDS: usize = 100_000;
/// Days without an event after which a user of an application no longer counts as active.
pub const APPLICATION_ACTIVE_DAYS: i64 = 30;
/// Actors of an application whose users are looked up at once.
pub const APPLICATION_ACTORS_CHUNK_COUNT: usize = 1000;
/// Milliseconds that counting the users of an application may take.
pub const APPLICATION_METRICS_MAX_MS: u64 = 10_000;
/// Times that a change inside a test is made at most where other changes come between.
pub const QTI_EDIT_MAX_ATTEMPTS: u32 = 20;
/// Tests of one assessment bank at most.
pub const BANK_TESTS_MAX_COUNT: usize = 100;
/// Attempts of a user that an assessment bank counts at most.
pub const BANK_ATTEMPT_MAX_COUNT: i64 = 1_000_000;
/// Bytes of the name of a lesson policy at most.
pub const POLICY_NAME_MAX_BYTES: usize = 200;
/// Attempts for which a lesson policy has a row of its own at most; later ones share the last.
pub const POLICY_ATTEMPTS_MAX_COUNT: usize = 20;
/// How many times a lesson's XP an attempt may earn at most.
pub const POLICY_MULTIPLIER_MAX_RATIO: u32 = 10;

/// Bytes of JSON of lesson banks that a server remembers at most.
pub const LESSON_BANK_CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of names of items in tests that a server remembers at most.
pub const LESSON_TEST_CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Lessons that a server remembers at most.
pub const LESSON_CACHE_ENTRIES: usize = 10_000;
/// Bytes of logs of running attempts that a server remembers at most.
pub const LESSON_LOG_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Bytes of XML of questions as learners see them that a server remembers at most.
pub const LESSON_VIEW_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Attempts of a student of one lesson at most.
pub const LESSON_ATTEMPT_MAX_COUNT: u32 = 1000;
/// Answers in one attempt of a lesson that is shown whole at most, changed ones included.
pub const LESSON_ANSWERS_MAX_COUNT: i64 = 10_000;
/// Bytes of a text in a request about lessons at most, such as an id or a title.
pub const INPUT_TEXT_MAX_BYTES: usize = 2048;
/// Operations in the log of a lesson plan at most.
pub const LESSON_PLAN_OPERATIONS_MAX_COUNT: i64 = 10_000;
/// Courses whose render configuration one request sets at most.
pub const RENDER_CONFIG_COURSES_MAX_COUNT: usize = 1000;
/// Test assignments that one request makes at most.
pub const TEST_ASSIGNMENTS_BULK_MAX_RECORDS: usize = 1000;
/// Courses of a subject of which progress is told at most.
pub const SUBJECT_COURSES_MAX_COUNT: i64 = 1000;
/// Steps that RDFC-1.0 may take to tell the blank nodes of one document apart.
pub const CANONIZE_MAX_COUNT: usize = 20_000;
/// JSON-LD contexts that were laid over each other and are remembered at most.
pub const CONTEXT_CACHE_ENTRIES: usize = 1024;
/// Bytes of a key or signature in multibase at most: an ECDSA signature of P-384 has 132.
pub const MULTIBASE_MAX_BYTES: usize = 256;
/// Bytes of a proof that discloses parts of a credential at most: it has a signature for each statement.
pub const SELECTIVE_PROOF_MAX_BYTES: usize = 1024 * 1024;
/// Bytes of a credential as JWT at most.
pub const JWT_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of an image of a badge at most.
pub const BAKED_IMAGE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Elements, attributes and texts of an SVG image of a badge at most.
pub const BAKED_SVG_MAX_NODES: u32 = 100_000;
/// Bytes of an unpacked status list at least: what hides which bit somebody asks for.
pub const STATUS_LIST_MIN_BYTES: usize = 16 * 1024;
/// Bytes of an unpacked status list at most.
pub const STATUS_LIST_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a credential that is verified at most, with the image that it is baked into.
pub const CREDENTIAL_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Credentials in a credential, endorsements and status lists among them, that are verified at once.
pub const VERIFY_CREDENTIALS_MAX_COUNT: usize = 1000;
/// Proofs of one credential that are verified: each costs a canonical form of the whole credential.
pub const VERIFY_PROOFS_MAX_COUNT: usize = 16;
/// Credentials in each other that are verified at once.
pub const VERIFY_MAX_DEPTH: usize = 4;
/// Bytes of a text of the game platform that people read at most, such as a title.
pub const GAME_TEXT_MAX_BYTES: usize = 2000;
/// Bytes of a slug of a game or item, or of the name of an achievement, at most: with `-staging`
/// behind it, it fits a label of a host's name.
pub const GAME_SLUG_MAX_BYTES: usize = 50;
/// Bytes of the metadata of a game, item or score, as JSON, at most.
pub const GAME_METADATA_MAX_BYTES: usize = 16 * 1024;
/// Bytes of the state that a game saves for a player, as JSON, at most.
pub const GAME_STATE_MAX_BYTES: usize = 1024 * 1024;
/// Records on a page of a list of the game platform at most.
pub const GAME_PAGE_MAX_RECORDS: i64 = 100;
/// How many of one item a player has at most.
pub const INVENTORY_MAX_COUNT: i64 = 1_000_000_000_000;
/// Greatest score, in either direction: whole numbers up to it are exact everywhere.
pub const SCORE_MAX_COUNT: i64 = 9_007_199_254_740_991;
/// Levels that players can reach at most.
pub const LEVELS_MAX_COUNT: usize = 1000;
/// Achievements of one game at most.
pub const ACHIEVEMENTS_MAX_COUNT: i64 = 1000;
/// Bytes of the key of a request that may be sent again at most.
pub const REQUEST_KEY_MAX_BYTES: usize = 200;
/// Days in which a request with a key, sent again, is answered as it was.
pub const REQUEST_KEPT_DAYS: i64 = 30;
/// Bytes of one CASE package at most, in a request and in a file.
pub const CASE_PACKAGE_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Items of one CASE package at most.
pub const CASE_ITEMS_MAX_RECORDS: usize = 100_000;
/// Associations of one CASE package at most.
pub const CASE_ASSOCIATIONS_MAX_RECORDS: usize = 400_000;
/// Definitions of one class in one CASE package at most.
pub const CASE_DEFINITIONS_MAX_RECORDS: usize = 20_000;
/// Levels of the tree of one CASE framework at most, the framework's own included.
pub const CASE_TREE_MAX_LEVELS: usize = 64;
/// Faults of one CASE package that are told at most.
pub const CASE_REPORTED_MAX_FAULTS: usize = 100;
/// Bytes of a word that finds CASE items at most; of longer ones the beginning counts.
pub const CASE_WORD_MAX_BYTES: usize = 60;
/// Words that one CASE item is found by at most.
pub const CASE_ITEM_MAX_ENTRIES: usize = 2000;
/// Words of one search for CASE items at most.
pub const CASE_SEARCH_MAX_ENTRIES: usize = 8;
/// Alignments in one request at most, and CASE items that one record is aligned to.
pub const ALIGNMENT_MAX_RECORDS: usize = 10_000;
/// Records that one answer about coverage names at most.
pub const COVERAGE_MAX_RECORDS: usize = 3000;
/// CASE items below one item whose coverage is looked for at most.
pub const COVERAGE_MAX_NODES: usize = 20_000;
/// Courses that a game teaches at most.
pub const LMS_COURSES_MAX_COUNT: usize = 100;
/// Seconds that a device's clock may be ahead when it tells when an activity was.
pub const ACTIVITY_AHEAD_MAX_S: i64 = 300;
/// Days of XP that one request shows at most.
pub const XP_HISTORY_MAX_DAYS: i32 = 400;
/// Bytes of the id of a resumable upload at most.
pub const UPLOAD_ID_MAX_BYTES: usize = 64;
/// Bytes of the name of a project's secret at most.
pub const SECRET_NAME_MAX_BYTES: usize = 64;
/// Bytes of the value of a project's secret at most.
pub const SECRET_MAX_BYTES: usize = 16 * 1024;
/// Secrets of one project at most.
pub const SECRETS_MAX_COUNT: usize = 100;
/// Bytes of one piece of an upload at most.
pub const UPLOAD_PIECE_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of one uploaded file at most, such as the zip of a build.
pub const UPLOAD_MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Files of one frontend at most.
pub const FRONTEND_FILES_MAX_COUNT: usize = 20_000;
/// Bytes of the files of one frontend together at most, unpacked.
pub const FRONTEND_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Bytes of the path of a file of a frontend at most.
pub const FRONTEND_PATH_MAX_BYTES: usize = 512;
/// Bytes of the list of files in a zip at most.
pub const ZIP_DIRECTORY_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Modules of one backend at most.
pub const BACKEND_MODULES_MAX_COUNT: usize = 100;
/// Bytes of the modules of one backend together at most.
pub const BACKEND_MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Routes of one backend at most.
pub const BACKEND_ROUTES_MAX_COUNT: usize = 1000;
/// Seconds that a node is remembered that holds no project and was not started again.
pub const NODE_REMEMBERED_S: i64 = 90 * 86_400;
/// Projects of one server at most.
pub const PROJECTS_MAX_COUNT: i64 = 10_000;
/// Versions of one project that are kept at most; older ones are forgotten, the served one never.
pub const DEPLOYMENTS_KEPT_MAX_COUNT: i64 = 10;
/// Entries of a project's audit log on a page at most.
pub const AUDIT_PAGE_MAX_RECORDS: i64 = 200;
/// Bytes of a plan with the values of its secrets at most.
pub const PLAN_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of JavaScript's heap that the backend of a project has.
pub const BACKEND_HEAP_MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Bytes of memory that the process of a backend takes at most; one that takes more is ended.
pub const BACKEND_MEMORY_MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Milliseconds that JavaScript of a backend runs without a pause at most; its process is ended then.
pub const BACKEND_SPIN_MAX_MS: u64 = 10_000;
/// Milliseconds between two looks at the process of a backend.
pub const BACKEND_PULSE_MS: u64 = 500;
/// Milliseconds between two pieces of a request to a backend at most, and from its end until the answer begins.
pub const BACKEND_ANSWER_MAX_MS: u64 = 30_000;
/// Milliseconds until the process of a backend listens, at most.
pub const BACKEND_START_MAX_MS: u64 = 20_000;
/// Seconds without a request after which the process of a backend ends.
pub const BACKEND_IDLE_S: u64 = 600;
/// Milliseconds that a version that is replaced has for the requests that it began.
pub const BACKEND_DRAIN_MAX_MS: u64 = 30_000;
/// Milliseconds of the first wait before a backend that crashed again, or did not start, is started again; each
/// further one is twice as long. A start takes about a hundredth of that.
pub const BACKEND_BACKOFF_MS: u64 = 4_000;
/// Milliseconds of the longest such wait.
pub const BACKEND_BACKOFF_MAX_MS: u64 = 30_000;
/// Seconds after which a backend that runs has left its crashes behind.
pub const BACKEND_STABLE_S: u64 = 60;
/// Milliseconds that a kept connection to a backend has to take a request; then another one is used.
pub const BACKEND_CONNECTION_READY_MS: u64 = 100;
/// Connections to the process of a backend that are kept for the next requests.
pub const BACKEND_IDLE_CONNECTIONS_MAX_COUNT: usize = 64;
/// Milliseconds that evaluating a project's config may take, on the developer's machine.
pub const CONFIG_EVALUATION_MAX_MS: u64 = 5_000;
/// Bytes of memory that a config may take while it is evaluated.
pub const CONFIG_HEAP_MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of what a config prints and exports at most.
pub const CONFIG_ANSWER_MAX_BYTES: usize = 1024 * 1024;
/// Lines of the log of a backend that are kept.
pub const BACKEND_LOG_MAX_ENTRIES: usize = 1000;
/// Bytes of a line of the log of a backend at most; of longer ones the beginning is kept.
pub const BACKEND_LOG_LINE_MAX_BYTES: usize = 8 * 1024;
/// Frontends whose lists of files a server remembers.
pub const FRONTEND_CACHE_ENTRIES: usize = 64;
/// Bytes of the body of a request to the backend of a project at most.
pub const BACKEND_BODY_MAX_BYTES: usize = 100 * 1024 * 1024;
/// Bytes of copies of blobs that a server before a bucket of S3 keeps on disk at most.
pub const BLOB_COPIES_MAX_BYTES: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes that are sent to a bucket of S3, or read from it, at once; what is longer goes in parts.
pub const S3_PART_BYTES: u64 = 8 * 1024 * 1024;
/// Seconds that a bucket of S3 has for one answer at most.
pub const S3_ANSWER_MAX_S: u64 = 120;
