//! Secrets of a project: read from its `.env`, compared by keyed digests.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use ring::hmac;

use crate::limits;

/// HMAC-SHA256 of a secret under the project's key, in base64url. Equal values have equal digests, which reveal
/// nothing without the key.
pub fn digest(key: &[u8], name: &str, value: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let tag = hmac::sign(&key, format!("{name}={value}").as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(tag)
}

/// Whether the text is a valid name of a secret: a letter or `_`, then letters, digits and `_`.
pub fn is_name(text: &str) -> bool {
    (1..=limits::SECRET_NAME_MAX_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !text.as_bytes()[0].is_ascii_digit()
}

/// Parses the text of an `.env` file. Each line is `NAME=value`, optionally after `export`, and comments are allowed.
/// `'…'` is taken literally; `"…"` may contain `\n`, `\t`, `\"` and `\\`. Both may span lines. If a name occurs
/// twice, the last one counts.
///
/// Errors: `Malformed` with the line, but never with a value.
pub fn read(text: &str) -> Result<BTreeMap<String, String>> {
    let mut secrets = BTreeMap::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut line = 1;
    while !rest.is_empty() {
        let (head, tail) = rest.split_once('\n').unwrap_or((rest, ""));
        let entry = head.trim();
        if entry.is_empty() || entry.starts_with('#') {
            (rest, line) = (tail, line + 1);
            continue;
        }
        let first = line;
        let fault = |message: Message| {
            Problem::new(ProblemKind::Malformed, message!("line {first}: {message}"))
        };
        let (name, _) =
            entry.split_once('=').ok_or_else(|| fault("write it as NAME=value".into()))?;
        let name = name.trim().trim_start_matches("export ").trim();
        if !is_name(name) {
            return Err(fault(
                "a name may contain only letters, digits and '_', and must not begin with a digit"
                    .into(),
            ));
        }
        let at = rest.find('=').expect("the entry has one") + 1;
        let (value, end) =
            value(&rest[at..]).ok_or_else(|| fault("the quote is not closed".into()))?;
        if value.len() > limits::SECRET_MAX_BYTES {
            let most = limits::SECRET_MAX_BYTES;
            return Err(fault(message!("a value must have at most {most} bytes")));
        }
        line += rest[..at + end].matches('\n').count();
        rest = &rest[at + end..];
        let left = rest.split_once('\n').map_or(rest, |(left, _)| left).trim();
        if !left.is_empty() && !left.starts_with('#') {
            return Err(fault("there is text after the closing quote".into()));
        }
        rest = rest.split_once('\n').map_or("", |(_, tail)| tail);
        line += 1;
        secrets.insert(name.to_owned(), value);
        if secrets.len() > limits::SECRETS_MAX_COUNT {
            return Err(fault(message!("the limit is {n} secrets", n = limits::SECRETS_MAX_COUNT)));
        }
    }
    Ok(secrets)
}

/// A value and the number of bytes that it takes; `None` if a quote is not closed.
fn value(text: &str) -> Option<(String, usize)> {
    let lead = text.len() - text.trim_start_matches([' ', '\t']).len();
    let body = &text[lead..];
    if let Some(quoted) = body.strip_prefix('\'') {
        let end = quoted.find('\'')?;
        return Some((quoted[..end].to_owned(), lead + end + 2));
    }
    if let Some(quoted) = body.strip_prefix('"') {
        let mut value = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => return Some((value, lead + at + 2)),
                '\\' => match letters.next()?.1 {
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'r' => value.push('\r'),
                    letter @ ('"' | '\\') => value.push(letter),
                    letter => value.extend(['\\', letter]),
                },
                other => value.push(other),
            }
        }
        return None;
    }
    let end = body.find('\n').unwrap_or(body.len());
    let plain = body[..end].split(" #").next().unwrap_or_default();
    Some((plain.trim().to_owned(), lead + end))
}
