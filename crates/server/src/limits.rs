//! The limits of this crate, each with its unit.

/// Seconds that a browser remembers the language that was chosen on a page without a session (a year).
pub const LANGUAGE_COOKIE_LIFETIME_S: i64 = 365 * 24 * 3600;
/// Bytes of a `…/bulk` request body at most.
pub const BULK_BODY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Records in one `…/bulk` request at most.
pub const BULK_MAX_RECORDS: usize = 50_000;
/// Parameters of a query at most.
pub const QUERY_PARAMETERS_MAX_COUNT: usize = 100;
/// Bytes of a parameter's name that a notice repeats at most.
pub const NOTICE_NAME_MAX_BYTES: usize = 64;
/// Bytes of all notices in the header `X-Lyceum-Notice` at most, besides the number of further ones.
pub const NOTICE_HEADER_MAX_BYTES: usize = 2048;
/// Milliseconds that one scan of a table may take before the request is refused.
pub const SCAN_MAX_MS: u64 = 800;
/// Verified tokens that a server remembers at most.
pub const TOKEN_CACHE_ENTRIES: usize = 20_000;
/// Seconds until every server honours a revocation, at most.
pub const REVOCATION_MAX_S: u64 = 5;
/// Milliseconds that reading a course's whole tree may take.
pub const COURSE_READ_MAX_MS: u64 = 10_000;
/// Seconds after which a status list that did not change is signed again.
pub const STATUS_LIST_SIGNED_S: i64 = 3600;
/// Bytes of a document that is read from an address that a caller supplied at most.
pub const FETCH_MAX_BYTES: u64 = 1024 * 1024;
/// Milliseconds that reading one such document may take, redirects included.
pub const FETCH_MAX_MS: u64 = 5000;
/// Redirects that are followed for one such document at most.
pub const FETCH_REDIRECTS_MAX_COUNT: u32 = 3;
/// Such documents that are read at once at most.
pub const FETCH_MAX_COUNT: usize = 16;
/// Such documents that one verification reads at most.
pub const VERIFY_FETCH_MAX_COUNT: usize = 32;
/// Bytes of a client's own `X-Request-Id` at most; a longer one is replaced.
pub const REQUEST_ID_MAX_BYTES: usize = 128;
/// Bytes of a refused body that are read and thrown away so that its sender sees the answer.
pub const DRAIN_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Milliseconds that reading a refused body may take.
pub const DRAIN_MAX_MS: u64 = 5000;
/// Bytes of a token request's body at most.
pub const TOKEN_BODY_MAX_BYTES: usize = 16 * 1024;
/// Bytes of an answer below which it is not compressed.
pub const COMPRESSION_MIN_BYTES: u16 = 1024;
/// Milliseconds between two checks whether the TLS files have changed.
pub const TLS_POLL_MS: u64 = 2000;
/// Milliseconds between two readings of the clients while the database changes; well below `REVOCATION_MAX_S`.
pub const CLIENTS_REFRESH_MS: u64 = 2000;
/// Seconds between two checks whether the signing key is old, or a former one has retired.
pub const KEYS_CHECK_EVERY_S: u64 = 60;
/// Milliseconds for which `/ready` waits for the store.
pub const READY_WAIT_MS: u64 = 2000;
/// Milliseconds for which `/ready` answers that the store takes writes without looking again.
pub const READY_KEPT_MS: u64 = 5000;
/// Milliseconds for which `/ready` answers that the store takes no writes, without looking again.
pub const READY_REFUSED_MS: u64 = 1000;
/// Seconds for which `/ready` answers 200 while writes only wait for others, such as an import.
pub const READY_WAITING_MAX_S: u64 = 600;
/// Bytes of a JSON body that carries one QTI document at most.
pub const QTI_BODY_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Events after which no further envelope joins a transaction.
pub const EVENT_GROUP_MAX_RECORDS: usize = 2000;
/// Milliseconds between two looks for ids and facts of events that can be moved into runs, while the database
/// changes.
pub const EVENT_GATHER_PAUSE_MS: u64 = 1000;
/// Seconds between two looks for facts of events that are not summed.
pub const FACT_SUM_EVERY_S: u64 = 20;
/// Rows of ids and facts of events that are moved before PostgreSQL is told to reuse their space.
pub const EVENT_ROWS_FREED_COUNT: usize = 100_000;
/// Seconds from the moment a server tells PostgreSQL to reuse the space of such rows until it does so again, at least.
pub const EVENT_ROWS_FREED_EVERY_S: u64 = 30;
/// Seconds between two removals of the heads of runs of events that are not used any more.
pub const EVENT_HEADS_CHECK_EVERY_S: u64 = 60;
/// Milliseconds between two looks of a live stream at something that may have changed without a signal: a gap in the
/// event log, the log of a backend in memory.
pub const EVENT_STREAM_POLL_MS: u64 = 250;
/// Changes on a page of `/changes`, unless the request says how many.
pub const CHANGES_PAGE_DEFAULT_RECORDS: u64 = 100;
/// The most changes on a page of `/changes`.
pub const CHANGES_PAGE_MAX_RECORDS: u64 = 1000;
/// Milliseconds between two looks into the event log for live streams at least.
pub const EVENT_STREAM_PAUSE_MS: u64 = 100;
/// Seconds after which a live stream says that it lives.
pub const EVENT_STREAM_HEARTBEAT_S: u64 = 15;
/// Milliseconds between two checks whether the reader of a live stream may still read it. With
/// `CLIENTS_REFRESH_MS` it is below `REVOCATION_MAX_S`.
pub const STREAM_CHECK_MS: u64 = 1000;
/// Milliseconds that counting the users of an application may take.
pub const APPLICATION_METRICS_MAX_MS: u64 = 10_000;
/// Times that a change inside a test is tried at most if other changes come between.
pub const QTI_EDIT_MAX_ATTEMPTS: u32 = 20;
/// Bytes of one CASE package at most, in a request and in a file.
pub const CASE_PACKAGE_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a plan with the values of its secrets at most.
pub const PLAN_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Frontends whose lists of files a server remembers.
pub const FRONTEND_CACHE_ENTRIES: usize = 64;
/// File descriptors that connections leave to files and the store at least.
pub const DESCRIPTORS_RESERVED_MIN_COUNT: usize = 64;
/// File descriptors that connections leave to files and the store at most.
pub const DESCRIPTORS_RESERVED_MAX_COUNT: usize = 2048;
/// Connections that a full server answers with 503 at a time; it closes further ones without an answer.
pub const REFUSALS_MAX_COUNT: usize = 64;
/// Milliseconds that refusing one connection may take.
pub const REFUSAL_MAX_MS: u64 = 500;
/// Milliseconds after which an answer that its caller does not read makes room for others on a full server.
pub const STALLED_ANSWER_MS: u64 = 500;
/// Milliseconds after which a body that its caller has not sent makes room for others on a full server.
pub const STALLED_BODY_MS: u64 = 2_000;
/// Milliseconds between two searches for connections to close, when the last search found none.
pub const ROOM_SEARCH_EVERY_MS: u64 = 50;
/// Bytes that a client may send in a TLS handshake: twice a `ClientHello` with post-quantum keys. Rustls reserves 4 KB
/// more than it has read, in powers of two, so a larger limit would take 16 KB for each connection.
pub const TLS_HANDSHAKE_MAX_BYTES: u64 = 4 * 1024;
/// Milliseconds that a TLS handshake may take.
pub const TLS_HANDSHAKE_MAX_MS: u64 = 10_000;
/// Bytes of the head of an HTTP/1.1 request at most.
pub const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Bytes of the headers of an HTTP/2 request at most, each counted with 32 bytes more (RFC 9113, 6.5.2).
pub const HTTP2_HEAD_MAX_BYTES: u32 = 16 * 1024;
/// Headers of one request at most.
pub const HEADERS_MAX_COUNT: usize = 100;
/// Requests at once on one HTTP/2 connection at most.
pub const HTTP2_STREAMS_MAX_COUNT: u32 = 100;
/// Bytes of request bodies that an HTTP/2 caller sends before the server has read them, for one connection.
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Bytes of request bodies that an HTTP/2 caller sends before the server has read them, for one request.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 512 * 1024;
/// Bytes of one answer that HTTP/2 takes for sending ahead at most.
pub const HTTP2_SEND_BUFFER_BYTES: usize = 64 * 1024;
/// HTTP/2 requests that a caller reset before the server looked at them; more end the connection.
pub const HTTP2_RESETS_WAITING_MAX_COUNT: usize = 20;
/// HTTP/2 requests that the server reset because of a caller's errors; more end the connection.
pub const HTTP2_RESETS_OF_ERRORS_MAX_COUNT: usize = 100;
/// Bytes that the connections of all callers without a token hold at most, beyond 16 KB each.
pub const ANONYMOUS_CONNECTIONS_MAX_BYTES: usize = 20 * 1024 * 1024;
/// Bytes that requests without a token and their answers hold at most.
pub const ANONYMOUS_REQUESTS_MAX_BYTES: usize = 20 * 1024 * 1024;
/// One address gets this fraction (one part in so many) of the memory for callers without a token.
pub const ANONYMOUS_PARTS_COUNT: usize = 4;
/// Bytes that a request without a token counts for.
pub const ANONYMOUS_REQUEST_BYTES: usize = 24 * 1024;
/// Bytes of an answer that do not count, as most answers are short.
pub const ANSWER_FREE_BYTES: usize = 8 * 1024;
/// Milliseconds that a request without a token waits for memory before it is refused.
pub const ANONYMOUS_WAIT_MAX_MS: u64 = 5_000;
/// Milliseconds between two checks whether memory is free.
pub const ANONYMOUS_WAIT_STEP_MS: u64 = 5;
/// Bytes that a caller without a token sends on a connection before the connection counts as a large one.
pub const CONNECTION_FREE_BYTES: usize = 8 * 1024;
/// Bytes that an HTTP/1.1 connection without a token counts for once it carried a request.
pub const CONNECTION_USED_BYTES: usize = 12 * 1024;
/// Bytes that a large HTTP/1.1 connection counts for: its buffer, and what was read of a body.
pub const CONNECTION_LARGE_BYTES: usize = 128 * 1024;
/// Bytes that an HTTP/2 connection without a token counts for.
pub const HTTP2_CONNECTION_BYTES: usize = 32 * 1024;
/// Bytes that a large HTTP/2 connection counts for: its window, and the heads of its requests.
pub const HTTP2_CONNECTION_LARGE_BYTES: usize = 2 * 1024 * 1024;
/// Requests of one client at once at most.
pub const CLIENT_REQUESTS_MAX_COUNT: usize = 10_000;
/// Bytes of answers that one client has not read at most.
pub const CLIENT_ANSWERS_MAX_BYTES: usize = 512 * 1024 * 1024;
/// Answers that are compressed at once for callers with a token at most; others are sent as they are.
pub const COMPRESSIONS_MAX_COUNT: usize = 64;
/// Answers that are compressed at once for callers without a token at most; others are sent as they are.
pub const ANONYMOUS_COMPRESSIONS_MAX_COUNT: usize = 8;
/// Reads of records that are open to everybody, without a token, at once at most; others wait.
pub const ANONYMOUS_READS_MAX_COUNT: usize = 2;
/// Such reads that wait at most; further ones are refused with 503.
pub const ANONYMOUS_READS_WAITING_MAX_COUNT: usize = 64;
/// Web sockets to backends at most.
pub const UPGRADED_CONNECTIONS_MAX_COUNT: usize = 1_000;
/// Bytes of a form of the console at most.
pub const CONSOLE_FORM_MAX_BYTES: usize = 1024 * 1024;
/// Bytes of a request with an answer to an item, with drawn and uploaded files, at most.
pub const ITEM_ANSWER_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Unknown students that the console lists at most.
pub const UNKNOWN_STUDENTS_MAX_RECORDS: i64 = 10_000;
/// Milliseconds that the reads of a page of the console may take. A person waits for some seconds, as for all
/// students of a large network, rather than be refused.
pub const CONSOLE_READ_MAX_MS: u64 = 10_000;
/// Milliseconds that a search in the console may read.
pub const CONSOLE_SEARCH_MAX_MS: u64 = 3_000;
/// Records of each kind that a search in the console shows at most on its page.
pub const SEARCH_PAGE_MAX_RECORDS: usize = 50;
/// Records of each kind that a search in the console shows at most while a person types.
pub const SEARCH_LIST_MAX_RECORDS: usize = 6;
/// Milliseconds that the frame of a problem's page may take.
pub const PROBLEM_PAGE_MAX_MS: u64 = 2_000;
/// Students who need attention that the home page of a teacher names.
pub const HOME_NEEDS_COUNT: usize = 8;
/// Milliseconds that one export of a list without an end may read.
pub const CONSOLE_EXPORT_MAX_MS: u64 = 20_000;
/// Files and folders of a bucket that the console reads of one folder; it may be some hundreds more.
pub const CONSOLE_BUCKET_MAX_ROWS: usize = 5000;
/// Components, lessons and materials that the page of one course shows at most; its files have all.
pub const CONSOLE_TREE_MAX_ROWS: usize = 2000;
/// Bytes of a zip of rosters that is sent in a browser or over HTTP at most; `lyceum import` takes larger ones.
pub const IMPORT_UPLOAD_MAX_BYTES: usize = 128 * 1024 * 1024;
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
/// Bytes of the disk of the data folder that a backup leaves free.
pub const BACKUP_SPARED_BYTES: u64 = 256 * 1024 * 1024;
/// Milliseconds between two looks at the schedule of backups.
pub const BACKUP_POLL_MS: u64 = 1000;
/// Milliseconds after which a server that makes a backup reports again.
pub const BACKUP_REPORT_MS: u64 = 30_000;
/// Seconds after its last upload for which a file stays that no stored version needs.
pub const BLOB_SPARED_S: u64 = 86_400;
/// Seconds between two searches for files that no stored version needs.
pub const BLOB_SWEEP_EVERY_S: u64 = 3600;
/// Passwords that a server hashes at once at most; others wait.
pub const PASSWORD_HASHES_MAX_COUNT: usize = 2;
/// Requests that wait for a password to be hashed at most; further ones are refused with 503.
pub const PASSWORD_HASHES_WAITING_MAX_COUNT: usize = 32;
/// Wrong passwords for one account from one address within that time.
pub const GUESSES_ACCOUNT_AND_ADDRESS_COUNT: i64 = 10;
/// Wrong passwords for one account within that time, from all addresses.
pub const GUESSES_ACCOUNT_COUNT: i64 = 100;
/// Wrong passwords from one address within that time, for all accounts.
pub const GUESSES_ADDRESS_COUNT: i64 = 100;
/// Wrong device codes of one person within that time.
pub const GUESSES_DEVICE_CODE_COUNT: i64 = 20;
/// Links that do not work from one address within that time.
pub const GUESSES_LINK_COUNT: i64 = 30;
/// Bytes of a body at most on a route that is open to everybody.
pub const PUBLIC_BODY_MAX_BYTES: usize = 16 * 1024;
/// Bytes of a form of the sign-in pages at most.
pub const SIGN_IN_FORM_MAX_BYTES: usize = 16 * 1024;
/// Seconds that a person has to return from the OpenID provider.
pub const OIDC_ATTEMPT_LIFETIME_S: i64 = 10 * 60;
/// Seconds after which the provider's endpoints and keys are read again.
pub const OIDC_PROVIDER_MAX_AGE_S: i64 = 3600;
/// Seconds at least between two requests for the provider's keys because of an unknown key.
pub const OIDC_KEYS_MIN_AGE_S: i64 = 10;
/// Seconds that the token is valid which a page gives to the game that it shows. The page gets the next token before.
pub const PLAY_TOKEN_LIFETIME_S: i64 = 600;
/// Seconds between two searches for expired demo visitors.
pub const DEMO_PURGE_EVERY_S: u64 = 3600;
/// New demo visitors from one address within 15 minutes at most.
pub const DEMO_VISITORS_MAX_COUNT: i64 = 120;
/// Requests a second that one demo visitor may send.
pub const DEMO_REQUESTS_PER_S: u32 = 5;
/// Messages of webhooks that a server sends at once at most.
pub const WEBHOOK_SENDS_MAX_COUNT: usize = 256;
/// Of these, messages to targets whose last answer was a failure at most.
pub const WEBHOOK_FAILING_SENDS_MAX_COUNT: usize = 32;
/// Milliseconds that the target of a webhook has for its answer.
pub const WEBHOOK_SEND_MAX_MS: u64 = 10_000;
/// Bytes of a target's answer that are read at most.
pub const WEBHOOK_ANSWER_MAX_BYTES: u64 = 64 * 1024;
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
/// Badges that a student's home shows at most.
pub const STUDENT_BADGES_MAX_COUNT: usize = 100;
/// Milliseconds that reading the database for metrics may take.
pub const METRICS_READ_MAX_MS: u64 = 5000;
/// Connections of the listener for metrics at most; further ones wait.
pub const METRICS_CONNECTIONS_MAX_COUNT: usize = 16;
/// Seconds after which a connection of the listener for metrics that sends no request is closed.
pub const METRICS_IDLE_MAX_S: u64 = 90;
/// Seconds between two reports of a server that it lives; well below `NODE_LEASE_S`.
pub const NODE_REPORT_EVERY_S: u64 = 15;
/// Milliseconds between two renewals of the lease of a node; well below `HOME_LEASE_MS`.
pub const HOME_LEASE_RENEW_MS: u64 = 3_000;
/// Milliseconds between two looks at the leases of other nodes, by which their projects are taken later.
pub const HOME_LEASE_WATCH_MS: u64 = 1_000;
/// Milliseconds that another node has to accept a connection.
pub const FORWARD_CONNECT_MAX_MS: u64 = 2_000;
/// Milliseconds between two checks whether the node to which a request was forwarded still holds the project.
pub const FORWARD_CHECK_EVERY_MS: u64 = 2_000;
/// Connections to one other node that are kept for the next requests.
pub const FORWARD_IDLE_CONNECTIONS_MAX_COUNT: usize = 64;
/// Seconds that such a connection is kept without a request; below the shortest `server.keep_alive_s` that is usual.
pub const FORWARD_IDLE_S: u64 = 30;
/// Milliseconds after which a node refuses a request that another node forwarded, by its own clock. Half of them are
/// for the way; clocks of nodes may differ by the other half.
pub const FORWARDED_MAX_AGE_MS: u64 = 120_000;
/// Milliseconds that sending spans or metrics to the collector may take, and that the end of the server waits for it.
pub const TELEMETRY_SEND_MAX_MS: u64 = 5_000;
/// Bytes of an answer of the collector that are read.
pub const TELEMETRY_ANSWER_MAX_BYTES: u64 = 64 * 1024;
/// Seconds between two lines of the log about a collector that does not accept spans or metrics.
pub const TELEMETRY_REPORT_EVERY_S: u64 = 60;
/// Milliseconds in which spans are gathered before they are sent.
pub const SPANS_SEND_EVERY_MS: u64 = 2_000;
/// Spans that are sent at once.
pub const SPANS_BATCH_MAX_COUNT: usize = 512;
/// Spans that wait to be sent; further ones are dropped and counted.
pub const SPANS_WAITING_MAX_COUNT: usize = 4_096;
/// Seconds between two comparisons of the mark of the installation in the store of replicas with the one in the
/// database.
pub const INSTALLATION_CHECK_EVERY_S: u64 = 20;
/// Comparisons of the mark at once at most, while other servers replace it.
pub const INSTALLATION_CHECK_MAX_COUNT: u32 = 5;
/// Seconds for which a server must find that its installation owns the S3 bucket before it deletes objects there: long enough
/// that a server with a copy of its database notices it.
pub const BUCKET_OWNER_PROOF_S: u64 = 300;
/// Seconds after a look that proved it for which a server may delete objects of the S3 bucket. Much shorter than the proof: a
/// server that could not look for so long deletes nothing before another one may.
pub const BUCKET_RIGHT_S: u64 = 60;
/// Projects that a server takes from other servers at once at most.
pub const TAKEOVERS_MAX_COUNT: usize = 4;
/// Milliseconds that an attempt to take a project waits at most for the database and for other work on the project.
pub const TAKEOVER_STEP_MAX_MS: u64 = 60_000;
/// Milliseconds after a failed attempt to take a project until the next one.
pub const TAKEOVER_RETRY_MS: u64 = 2_000;
/// Seconds that a node waits for another node's answer about an upload, beyond the time that the other node may take.
pub const FORWARD_SPARE_S: u64 = 2;
