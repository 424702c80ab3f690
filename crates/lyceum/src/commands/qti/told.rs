//! A fault as compilers tell it: the place and what is wrong, the line, and below its column the
//! mend.

use std::path::Path;

use lyceum_qti::{Fault, Severity};
use serde_json::{Value, json};

/// Characters of a source line that are shown at most.
const SHOWN_CHARACTERS: usize = 76;

pub(super) fn as_text(path: &Path, text: &str, fault: &Fault) -> String {
    let (line, column) = (fault.place.line, fault.place.column as usize);
    let severity = match fault.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let head =
        format!("{}:{line}:{column}: {severity}: {}", path.display(), printable(&fault.message));
    let source = text.trim_start_matches('\u{feff}').split('\n').nth(line as usize - 1);
    let source = source.unwrap_or_default();
    // Of a long line, what stands around the column.
    let skipped = match column > SHOWN_CHARACTERS / 2 && source.chars().count() > SHOWN_CHARACTERS {
        true => column - SHOWN_CHARACTERS / 2,
        false => 0,
    };
    let shown: String = source.chars().skip(skipped).take(SHOWN_CHARACTERS).collect();
    let (gutter, before) = (line.to_string().len(), column - 1 - skipped);
    let (empty, shown, mend) = ("", printable(&shown), printable(&fault.mend));
    let shown = shown.trim_end();
    format!("{head}\n {line} | {shown}\n {empty:gutter$} | {empty:before$}^ {mend}")
}

/// What a terminal would take for a command becomes a blank.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

pub(super) fn as_json(path: &Path, fault: &Fault) -> Value {
    let mut json = json!(fault);
    json["file"] = json!(path);
    json
}
