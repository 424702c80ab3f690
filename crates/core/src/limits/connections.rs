//! Limits of connections, and of what callers without a token can make the server hold.

/// Connections that a server keeps open at most, where the settings say nothing else.
pub const CONNECTIONS_MAX_COUNT: usize = 10_000;
/// Connections of one address (of IPv6: one /64 network) at most, where the settings say nothing else.
pub const CONNECTIONS_PER_ADDRESS_MAX_COUNT: usize = 2_000;
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
/// One address gets one part in so many of what callers without a token may hold.
pub const ANONYMOUS_PARTS_COUNT: usize = 4;
/// Bytes that a request without a token counts for.
pub const ANONYMOUS_REQUEST_BYTES: usize = 24 * 1024;
/// Bytes of an answer that do not count, as most answers are short.
pub const ANSWER_FREE_BYTES: usize = 8 * 1024;
/// Bytes of an answer that is sent piece by piece that are in memory at once.
pub const ANSWER_PIECE_BYTES: usize = 64 * 1024;
/// Milliseconds that a request without a token waits for memory before it is refused.
pub const ANONYMOUS_WAIT_MAX_MS: u64 = 5_000;
/// Milliseconds between two looks whether there is memory.
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
/// Connections that became web sockets to backends at most.
pub const UPGRADED_CONNECTIONS_MAX_COUNT: usize = 1_000;
