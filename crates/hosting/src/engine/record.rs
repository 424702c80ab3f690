//! What the runtime prints, taken apart: a line of JSON a record, whose text may have many lines.

use lyceum_core::limits::BACKEND_LOG_LINE_MAX_BYTES;
use serde::Deserialize;

use super::Stream;

/// Bytes of a printed line that are read: escapes of JSON make a text six times as long at most.
pub(super) const LINE_MAX_BYTES: usize = 6 * BACKEND_LOG_LINE_MAX_BYTES + 256;

/// A record as the runtime prints it. One of its own names the source; others are the backend's.
#[derive(Deserialize)]
struct Record {
    level: String,
    message: String,
    source: Option<String>,
}

/// Where a printed line comes from, and its text. `stream` is the pipe, for what is no record: the last words
/// of a process that crashes.
pub(super) fn read(line: &str, stream: Stream) -> (Stream, String) {
    let Some(Record { level, message, source }) = record(line) else {
        return (stream, line.to_owned());
    };
    let is_plain = source.is_none() && matches!(level.as_str(), "log" | "info" | "debug");
    let stream = if is_plain { Stream::Out } else { Stream::Error };
    // What follows are addresses in the runtime's own program.
    let own = source.and_then(|_| message.split("\nstack: ").next().map(str::to_owned));
    (stream, own.unwrap_or(message))
}

fn record(line: &str) -> Option<Record> {
    if let Ok(record) = serde_json::from_str(line) {
        return Some(record);
    }
    // One that was cut: its text ends in the middle, perhaps in the middle of an escape.
    let (head, text) =
        line.split_once("\"message\":\"").filter(|_| line.starts_with("{\"timestamp\":"))?;
    (0..8).find_map(|cut| {
        let end = text.len().checked_sub(cut).filter(|end| text.is_char_boundary(*end))?;
        serde_json::from_str(&format!("{head}\"message\":\"{}\"}}", &text[..end])).ok()
    })
}
