//! Removes secrets from texts: values that are known to be secret, and what looks like one.
//!
//! It removes too much rather than too little, because a bug report is read by strangers.

use std::sync::LazyLock;

use regex::{Captures, Regex};

const REDACTED: &str = "[redacted]";
/// A shorter known value, such as `1`, would make texts unreadable.
const KNOWN_MIN_BYTES: usize = 4;

/// The rest of a line after a name such as `api_key`, up to the end of the line: `apiKey: "…"`, `TOKEN=…`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)([a-z0-9_.-]*(?:secret|passw|token|api_?-?key|private|credential|authorization|cookie|master)[a-z0-9_.-]*["']?\s*[:=]\s*)\S.*"#,
    )
});
/// A user and a password in an address.
static IN_ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(://)[^/\s@]+@"));
/// Values after `Bearer` and `Basic`.
static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(bearer|basic)\s+\S+"));
/// A long word.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9_+=-]{16,}"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// Removes secrets from texts.
pub(super) struct Redaction {
    /// Known secret values, the longest first, because one may contain another.
    known: Vec<String>,
}

impl Redaction {
    pub(super) fn of(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<_> =
            known.into_iter().filter(|value| value.len() >= KNOWN_MIN_BYTES).collect();
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { known }
    }

    /// The text without secrets.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.known {
            text = text.replace(value, REDACTED);
        }
        let text = NAMED.replace_all(&text, format!("${{1}}{REDACTED}"));
        let text = IN_ADDRESS.replace_all(&text, format!("${{1}}{REDACTED}@"));
        let text = HEADER.replace_all(&text, format!("${{1}} {REDACTED}"));
        let text = WORD.replace_all(&text, |found: &Captures<'_>| match is_random(&found[0]) {
            true => REDACTED.to_owned(),
            false => found[0].to_owned(),
        });
        text.into_owned()
    }
}

/// Whether a long word looks like a key: letters and digits, mixed.
fn is_random(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}
