//! Logs statements that take long: their SQL, which has placeholders instead of values.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::limits::SLOW_STATEMENT_SHOWN_MAX_BYTES;

/// Part of the logger, and set with it. A statement knows its connection only, and connections do not know settings.
static SLOW_FROM_MS: AtomicU64 = AtomicU64::new(0);

/// Logs statements that take this many milliseconds or more, from now on in the whole process; 0: none.
pub fn log_slow_statements(from_ms: u64) {
    SLOW_FROM_MS.store(from_ms, Relaxed);
}

/// Runs a statement, or a bulk statement of a table, which is named instead. On PostgreSQL its time includes statements
/// that were sent before and not waited for.
pub(crate) fn timed<T>(sql: &str, run: impl FnOnce() -> T) -> T {
    let from_ms = SLOW_FROM_MS.load(Relaxed);
    if from_ms == 0 {
        return run();
    }
    let begun = Instant::now();
    let result = run();
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    if ms >= from_ms {
        let sql = &sql[..sql.floor_char_boundary(SLOW_STATEMENT_SHOWN_MAX_BYTES)];
        tracing::warn!(target: "lyceum::slow", ms, sql, "a statement was slow");
    }
    result
}
