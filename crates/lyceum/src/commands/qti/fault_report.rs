//! Formats an error as compilers do: place and message, then the source line, and below the column
//! how to fix it.

use std::path::Path;

use lyceum_qti::{DocumentFault, Severity};
use serde_json::{Value, json};

/// Maximum number of characters shown of a source line.
const SHOWN_CHARACTERS: usize = 76;

pub(super) fn as_text(path: &Path, text: &str, fault: &DocumentFault) -> String {
    let (line, column) = (fault.place.line, fault.place.column as usize);
    let severity = match fault.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let head =
        format!("{}:{line}:{column}: {severity}: {}", path.display(), printable(&fault.message));
    let source = text.trim_start_matches('\u{feff}').split('\n').nth(line as usize - 1);
    let source = source.unwrap_or_default();
    // Of a long line, only the part around the column is shown.
    let skipped = match column > SHOWN_CHARACTERS / 2 && source.chars().count() > SHOWN_CHARACTERS {
        true => column - SHOWN_CHARACTERS / 2,
        false => 0,
    };
    let shown: String = source.chars().skip(skipped).take(SHOWN_CHARACTERS).collect();
    let (gutter, before) = (line.to_string().len(), column - 1 - skipped);
    let (empty, shown, remedy) = ("", printable(&shown), printable(&fault.remedy));
    let shown = shown.trim_end();
    format!("{head}\n {line} | {shown}\n {empty:gutter$} | {empty:before$}^ {remedy}")
}

/// Replaces control characters, which a terminal would interpret, with spaces.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

pub(super) fn as_json(path: &Path, fault: &DocumentFault) -> Value {
    let mut json = json!(fault);
    json["file"] = json!(path);
    json
}
