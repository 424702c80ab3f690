//! The limits of this crate, each with its unit.

// # Requests

/// Parameters of a query at most.
pub const QUERY_PARAMETERS_MAX_COUNT: usize = 100;
/// Bytes of the head of an HTTP/1.1 request at most.
pub const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Headers of one request at most.
pub const HEADERS_MAX_COUNT: usize = 100;
/// Requests of one client at once at most.
pub const CLIENT_REQUESTS_MAX_COUNT: usize = 10_000;
/// Bytes of answers that one client has not read at most.
pub const CLIENT_ANSWERS_MAX_BYTES: usize = 512 * 1024 * 1024;
/// Bytes of a body at most on a route that is open to everybody.
pub const PUBLIC_BODY_MAX_BYTES: usize = 16 * 1024;

// # Accounts

/// Seconds until every server honours a revocation, at most.
pub const REVOCATION_MAX_S: u64 = 5;
/// Wrong passwords for one account from one address within `GUESS_WINDOW_S`.
pub const GUESSES_ACCOUNT_AND_ADDRESS_COUNT: i64 = 10;
/// Wrong passwords for one account within `GUESS_WINDOW_S`, from all addresses.
pub const GUESSES_ACCOUNT_COUNT: i64 = 100;
/// Wrong passwords from one address within `GUESS_WINDOW_S`, for all accounts.
pub const GUESSES_ADDRESS_COUNT: i64 = 100;

// # Webhooks

/// Milliseconds that the target of a webhook has for its answer.
pub const WEBHOOK_SEND_MAX_MS: u64 = 10_000;

// # Projects

/// Web sockets to backends at most.
pub const UPGRADED_CONNECTIONS_MAX_COUNT: usize = 1_000;

// # Internal

/// Bytes of a parameter's name that a notice repeats at most.
pub const NOTICE_NAME_MAX_BYTES: usize = 64;
/// Bytes of all notices in the header `X-Lyceum-Notice` at most, besides the number of further ones.
pub const NOTICE_HEADER_MAX_BYTES: usize = 2048;
/// Verified tokens that a server remembers at most.
pub const TOKEN_CACHE_ENTRIES: usize = 20_000;
/// Bytes of a document that is read from an address that a caller supplied at most.
pub const FETCH_MAX_BYTES: u64 = 1024 * 1024;
/// Milliseconds that reading one such document may take, redirects included.
pub const FETCH_MAX_MS: u64 = 5000;
/// Bytes of a client's own `X-Request-Id` at most; a longer one is replaced.
pub const REQUEST_ID_MAX_BYTES: usize = 128;
/// Bytes of a refused body that are read and thrown away so that its sender sees the answer.
pub const DRAIN_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Milliseconds that reading a refused body may take.
pub const DRAIN_MAX_MS: u64 = 5000;
/// Bytes of an answer below which it is not compressed.
pub const COMPRESSION_MIN_BYTES: u16 = 1024;
/// Milliseconds between two checks whether the TLS files have changed.
pub const TLS_POLL_MS: u64 = 2000;
/// Milliseconds between two readings of the clients while the database changes; well below `REVOCATION_MAX_S`.
pub const CLIENTS_REFRESH_MS: u64 = 2000;
/// Seconds between two checks whether the signing key is old, or a former one has retired.
pub const KEYS_CHECK_EVERY_S: u64 = 60;
/// Milliseconds between two looks of a live stream at something that may have changed without a signal: a gap in the
/// event log, the log of a backend in memory.
pub const EVENT_STREAM_POLL_MS: u64 = 250;
/// Milliseconds between two checks whether the reader of a live stream may still read it. With
/// `CLIENTS_REFRESH_MS` it is below `REVOCATION_MAX_S`.
pub const STREAM_CHECK_MS: u64 = 1000;
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
/// Bytes of the headers of an HTTP/2 request at most, each counted with 32 bytes more (RFC 9113, 6.5.2).
pub const HTTP2_HEAD_MAX_BYTES: u32 = 16 * 1024;
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
/// The divisor of the memory for callers without a token: one address gets one part in so many.
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
/// Answers that are compressed at once for callers with a token at most; others are sent as they are.
pub const COMPRESSIONS_MAX_COUNT: usize = 64;
/// Answers that are compressed at once for callers without a token at most; others are sent as they are.
pub const ANONYMOUS_COMPRESSIONS_MAX_COUNT: usize = 8;
/// Reads of records that are open to everybody, without a token, at once at most; others wait.
pub const ANONYMOUS_READS_MAX_COUNT: usize = 2;
/// Such reads that wait at most; further ones are refused with 503.
pub const ANONYMOUS_READS_WAITING_MAX_COUNT: usize = 64;
/// Milliseconds that the frame of a problem's page may take.
pub const PROBLEM_PAGE_MAX_MS: u64 = 2_000;
/// Seconds after which the provider's endpoints and keys are read again.
pub const OIDC_PROVIDER_MAX_AGE_S: i64 = 3600;
/// Seconds at least between two requests for the provider's keys because of an unknown key.
pub const OIDC_KEYS_MIN_AGE_S: i64 = 10;
/// Requests a second that one demo visitor may send.
pub const DEMO_REQUESTS_PER_S: u32 = 5;
/// Redirects that are followed at most until a document at an address of a caller is read.
pub const FETCH_REDIRECTS_MAX_COUNT: u32 = 3;
/// Bytes of a target's answer that are read at most.
pub const WEBHOOK_ANSWER_MAX_BYTES: u64 = 64 * 1024;
/// Documents at addresses of callers that are read at once at most.
pub const FETCH_MAX_COUNT: usize = 16;
/// Messages of webhooks that a server sends at once at most.
pub const WEBHOOK_SENDS_MAX_COUNT: usize = 256;
