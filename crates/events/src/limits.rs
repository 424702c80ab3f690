//! The limits of this crate, each with its unit.

// # Events

/// Hours that the time of an item of an event may last; a longer one is not believed.
pub const TIME_SPENT_SPAN_MAX_H: i64 = 48;
/// Hours from an event's time that the time of one of its items may lie; a farther one is not
/// believed, and its seconds count at the event.
pub const TIME_SPENT_REACH_MAX_H: i64 = 7 * 24;
/// Seconds that the time of an event or envelope may be after the server's time.
pub const EVENT_AHEAD_MAX_S: i64 = 86_400;
/// Events and entities in one Caliper envelope at most.
pub const EVENT_ENVELOPE_MAX_RECORDS: usize = 10_000;
/// Days that a refused envelope is kept.
pub const EVENT_REFUSED_KEPT_DAYS: i64 = 30;
/// Refused envelopes that are kept; the oldest go first.
pub const EVENT_REFUSED_KEPT_COUNT: i64 = 10_000;
/// Days that the state of an accepted envelope's job is kept.
pub const EVENT_JOB_KEPT_DAYS: i64 = 30;

// # Internal

/// Greatest number that one item of an event can add to a fact, in either direction.
pub const FACT_VALUE_MAX_COUNT: i32 = 1_000_000_000;
/// Rows whose facts are added to the sums in one transaction, each with at most 256 facts. On SQLite, other writers wait
/// meanwhile.
pub const FACT_SUM_CHUNK_ROWS: i64 = 512;
/// Rows of sums or places that are sent to the database at once.
pub const FACT_ROWS_SENT_COUNT: usize = 8192;
/// Actors whose facts are recomputed in one transaction.
pub const FACT_REBUILD_CHUNK_COUNT: i64 = 100;
/// Events whose places are recomputed in one transaction.
pub const FACT_LOCATE_CHUNK_COUNT: i64 = 20_000;
/// Actors of events whose numbers a server keeps in memory at most, and sources: some 12 MB each.
pub const EVENT_NAMES_KNOWN_COUNT: usize = 100_000;
/// Events that come together at least for their text to be packed in blocks.
pub const EVENT_BLOCK_MIN_RECORDS: usize = 16;
/// Events whose text one block holds at most. Who wants one of them unpacks them all.
pub const EVENT_BLOCK_MAX_RECORDS: usize = 32;
/// Bytes of a block before compression, at most; a longer event has a row of its own.
pub const EVENT_BLOCK_MAX_BYTES: usize = 64 * 1024;
/// Errors of one Caliper envelope that an answer lists; the others are only counted.
pub const EVENT_MAX_REPORTED_FAULTS: usize = 100;
/// Bytes of the IRI of an event, entity or sensor at most.
pub const EVENT_ID_MAX_BYTES: usize = 1024;
/// Bytes of an actor's e-mail address at most.
pub const EVENT_EMAIL_MAX_BYTES: usize = 320;
/// Points, questions or seconds of one metric of an event at most.
pub const EVENT_METRIC_MAX_COUNT: u32 = 1_000_000_000;
/// Bytes of a refused envelope that are kept for inspection and replay.
pub const EVENT_REFUSED_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Events that a live stream reads from the log at once.
pub const EVENT_STREAM_BATCH_RECORDS: i64 = 100;
/// Milliseconds that a live stream waits at most for a number of the log that was given out and does
/// not appear, while transactions are under way that may have taken it. Longer than a request may
/// last, so that only transactions that take no events, such as an import, outlast it.
pub const EVENT_STREAM_GAP_MAX_MS: i64 = 60_000;
/// Rows of a list of events in the console that are held at a time while its export is made.
pub const CONSOLE_EXPORT_SLICE_ROWS: usize = 20_000;
/// Events that the console sorts at most by what no index of the log has: type, action, person.
pub const CONSOLE_SORTED_EVENTS_MAX_ROWS: i64 = 10_000;
/// Apps that the log of events can be filtered by at most, those that appeared last.
pub const CONSOLE_APPS_COUNT: i64 = 100;
/// Event numbers before the first event of an hour that the console also reads, because events that arrive together are
/// numbered in any order.
pub const EVENT_FLOW_UNORDERED_COUNT: i64 = 100_000;
