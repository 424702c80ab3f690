//! Parses the runtime's output: each line is a record in JSON, whose text may have several lines.

use serde::Deserialize;

use super::LogStream;
use crate::limits::BACKEND_LOG_LINE_MAX_BYTES;

/// Bytes of a printed line that are read. JSON escapes make a text at most six times as long.
pub(super) const LINE_MAX_BYTES: usize = 6 * BACKEND_LOG_LINE_MAX_BYTES + 256;

/// A record that the runtime prints. The runtime's own records have a source, and the backend's have none.
#[derive(Deserialize)]
struct RuntimeRecord {
    level: String,
    message: String,
    source: Option<String>,
}

/// The stream and the text of a printed line. `stream` is used for lines that are not records, such as the last
/// output of a process that crashes.
pub(super) fn parse(line: &str, stream: LogStream) -> (LogStream, String) {
    let Some(RuntimeRecord { level, message, source }) = parse_record(line) else {
        return (stream, line.to_owned());
    };
    let is_plain = source.is_none() && matches!(level.as_str(), "log" | "info" | "debug");
    let stream = if is_plain { LogStream::Out } else { LogStream::Error };
    // Addresses in the runtime's program follow.
    let without_addresses =
        source.and_then(|_| message.split("\nstack: ").next().map(str::to_owned));
    (stream, without_addresses.unwrap_or(message))
}

fn parse_record(line: &str) -> Option<RuntimeRecord> {
    if let Ok(record) = serde_json::from_str(line) {
        return Some(record);
    }
    // The record may have been cut, even in the middle of an escape.
    let (head, text) =
        line.split_once("\"message\":\"").filter(|_| line.starts_with("{\"timestamp\":"))?;
    (0..8).find_map(|cut| {
        let end = text.len().checked_sub(cut).filter(|end| text.is_char_boundary(*end))?;
        serde_json::from_str(&format!("{head}\"message\":\"{}\"}}", &text[..end])).ok()
    })
}
