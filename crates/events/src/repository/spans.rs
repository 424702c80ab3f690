//! Spans: numbers of the log that follow each other, of events of one source and one day. Lists by source or
//! time go over them, and an event needs no place in an index of its own.
//!
//! Spans do not overlap. Each version that counts is in one; those that no longer do may be, too.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::dialect::{is_one_of_numbers, join_between};
use lyceum_store::{Dialect, Tx, Value};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Spans of events that are appended together.
#[derive(Default)]
pub(super) struct Spans(Vec<Span>);

struct Span {
    first: i64,
    last: i64,
    source: i64,
    day: i64,
}

impl Spans {
    /// Adds an event behind those before it.
    pub(super) fn add(&mut self, seq: i64, source: i64, time: Timestamp) {
        let day = day(time);
        match self.0.last_mut() {
            Some(span) if (span.last + 1, span.source, span.day) == (seq, source, day) => {
                span.last = seq;
            }
            _ => self.0.push(Span { first: seq, last: seq, source, day }),
        }
    }

    pub(super) fn write(&self, tx: &mut Tx<'_>) -> Result<()> {
        let values: Vec<Value<'_>> = self
            .0
            .iter()
            .flat_map(|span| [span.first, span.last, span.source, span.day])
            .map(Value::Int)
            .collect();
        tx.send_rows("event_spans", &["first", "last", "source", "day"], &values, "")
    }
}

/// The day of UTC. The last one before 1970 has the number of the first, as where SQL divides.
pub(super) fn day(at: Timestamp) -> i64 {
    at.milliseconds() / DAY_MS
}

/// The item of `FROM` with the events of the spans `p` in front of it.
pub(super) fn events(dialect: Dialect, name: &str) -> String {
    join_between(dialect, ("event_log", name), "seq", ("p.first", "p.last"))
}

/// How many events of sources count. Reads their spans, and the versions that count no longer.
pub(super) fn count(tx: &mut Tx<'_>, sources: &[i64]) -> Result<i64> {
    let sources = serde_json::to_string(sources).map_err(Problem::internal)?;
    let is_one = |source| is_one_of_numbers(tx.dialect(), source, "$1");
    let sql = format!(
        "SELECT CAST(COALESCE(SUM(last - first + 1), 0) AS BIGINT) FROM event_spans WHERE {}",
        is_one("source")
    );
    // Of the versions that do not count, some never did, and are in no span.
    let former = format!(
        "SELECT COUNT(*) FROM event_versions v JOIN event_log l ON l.seq = v.seq WHERE {} AND l.seq <= \
         (SELECT p.last FROM event_spans p WHERE p.first <= l.seq ORDER BY p.first DESC LIMIT 1)",
        is_one("l.source")
    );
    let mut number = |sql: &str| tx.query_one(sql, &[(&sources).into()], |row| row.int(0));
    Ok(number(&sql)?.unwrap_or_default() - number(&former)?.unwrap_or_default())
}
