//! The regular expressions of XML Schema, which QTI uses for pattern masks and `qti-pattern-match`.
//! They match the whole text. Matching takes time in proportion to the text, whatever the pattern.

use regex::{Regex, RegexBuilder};

use crate::limits::QTI_PATTERN_MAX_BYTES;

/// A pattern that was understood.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: Box<str>,
    regex: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Letters that may begin a name in XML, and those that may follow (`\i`, `\c`).
const FIRST: &str = r"\p{L}_:";
const FURTHER: &str = r"\p{L}\p{M}\p{N}._:\-·";

impl Pattern {
    /// Understands a pattern. Anchors at its ends, which authors write although XML Schema has none,
    /// are allowed. Errors: what is wrong with it, for its author.
    pub fn new(source: &str) -> Result<Self, String> {
        let trimmed = source.strip_prefix('^').unwrap_or(source);
        let trimmed = match trimmed.strip_suffix('$') {
            Some(rest) if !rest.ends_with('\\') => rest,
            _ => trimmed,
        };
        RegexBuilder::new(&format!("^(?:{})$", translated(trimmed)))
            .size_limit(QTI_PATTERN_MAX_BYTES)
            .build()
            .map(|regex| Self { source: source.into(), regex })
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(limit) => {
                    format!("the pattern needs more than {limit} bytes; repeat less")
                }
                other => {
                    let text = other.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    format!("not a pattern: {}", last.trim_start_matches("error: "))
                }
            })
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// As the author wrote it.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Says in the syntax of the `regex` crate what XML Schema says in its own: `\i` and `\c`, classes
/// subtracted with `-[`, dot and anchors as ordinary letters inside classes.
fn translated(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 8);
    let mut depth = 0_u32;
    let mut rest = source.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => match rest.next() {
                Some('i') => class(&mut out, "", FIRST),
                Some('I') => class(&mut out, "^", FIRST),
                Some('c') => class(&mut out, "", FURTHER),
                Some('C') => class(&mut out, "^", FURTHER),
                Some(property @ ('p' | 'P')) if rest.peek() == Some(&'{') => {
                    let name: String = rest.by_ref().take_while(|c| *c != '}').skip(1).collect();
                    match (name.as_str(), property) {
                        // Of the blocks the one that authors use.
                        ("IsBasicLatin", 'p') => class(&mut out, "", r"\x00-\x7F"),
                        ("IsBasicLatin", _) => class(&mut out, "^", r"\x00-\x7F"),
                        (name, 'p') => out.extend(["\\p{", name, "}"]),
                        (name, _) => out.extend(["\\P{", name, "}"]),
                    }
                }
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' => {
                depth += 1;
                out.push('[');
            }
            ']' => {
                depth = depth.saturating_sub(1);
                out.push(']');
            }
            '-' if depth > 0 && rest.peek() == Some(&'[') => out.push_str("--"),
            '&' | '~' if depth > 0 => out.extend(['\\', letter]),
            '$' if depth == 0 => out.push_str(r"\$"),
            '^' if depth == 0 => out.push_str(r"\^"),
            other => out.push(other),
        }
    }
    out
}

/// A class, by itself or inside of another.
fn class(out: &mut String, not: &str, members: &str) {
    out.extend(["[", not, members, "]"]);
}
