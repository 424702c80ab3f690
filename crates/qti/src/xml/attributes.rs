//! The attributes of one tag.

use std::borrow::Cow;

use super::Attribute;
use crate::limits::QTI_ATTRIBUTES_MAX_COUNT;

/// An error: its place in bytes, what is wrong, and how to fix it.
type AttributeError = (usize, String, String);

/// Reads the text between the name of a tag and its end, which begins at `place`.
pub(super) fn read<'x>(
    raw: &'x str,
    place: usize,
    into: &mut Vec<Attribute<'x>>,
) -> Result<(), AttributeError> {
    let from = into.len();
    let mut rest = raw;
    loop {
        let trimmed = rest.trim_ascii_start();
        let at = place + raw.len() - trimmed.len();
        if trimmed.is_empty() {
            return Ok(());
        }
        if trimmed.len() == rest.len() {
            return Err((at, "there is no space before an attribute".into(), "add a space".into()));
        }
        let Some((name, after)) = trimmed.split_once('=') else {
            let name = trimmed.split_ascii_whitespace().next().unwrap_or_default();
            let remedy = format!("write {name}=\"…\"");
            return Err((at, format!("the attribute '{name}' has no value"), remedy));
        };
        let name = name.trim_ascii_end();
        if !is_name(name) {
            let name = name.split_ascii_whitespace().next().unwrap_or_default();
            let remedy = format!("write {name}=\"…\"");
            return Err((at, format!("'{name}' is not an attribute with a value"), remedy));
        }
        let after = after.trim_ascii_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = quote.and_then(|q| after[1..].split_once(q));
        let Some((value, after)) = value else {
            let remedy = format!("write {name}=\"…\"");
            return Err((at, format!("the value of '{name}' is not quoted"), remedy));
        };
        if into[from..].iter().any(|other| other.name == name) {
            return Err((at, format!("the attribute '{name}' appears twice"), "keep one".into()));
        }
        if into.len() - from >= QTI_ATTRIBUTES_MAX_COUNT {
            let what = format!("the element has more than {QTI_ATTRIBUTES_MAX_COUNT} attributes");
            return Err((at, what, "remove some".into()));
        }
        into.push(Attribute {
            name: Cow::Borrowed(name),
            value: value_of(value).map_err(|(what, remedy)| (at, what, remedy))?,
            start: u32::try_from(at).expect("the size limit is below 4 GiB"),
        });
        rest = after;
    }
}

/// Resolves references and turns white space into spaces (XML 1.0, 3.3.3).
fn value_of(raw: &str) -> Result<Cow<'_, str>, (String, String)> {
    if !raw.bytes().any(|b| matches!(b, b'&' | b'<' | b'\n' | b'\r' | b'\t')) {
        return Ok(Cow::Borrowed(raw));
    }
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find(['&', '<', '\n', '\r', '\t']) {
        value.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'<' => return Err(("a value contains '<'".into(), "write it as &lt;".into())),
            b'&' => {
                let (name, _) = rest[at + 1..].split_once(';').ok_or_else(|| {
                    ("an ampersand does not begin an entity".to_owned(), "write &amp;".to_owned())
                })?;
                value.push(reference(name).ok_or_else(|| {
                    let remedy =
                        "XML has only &lt; &gt; &amp; &quot; &apos; and &#number;".to_owned();
                    (format!("the entity '&{name};' is unknown"), remedy)
                })?);
                rest = &rest[at + name.len() + 2..];
            }
            b'\r' if rest.as_bytes().get(at + 1) == Some(&b'\n') => rest = &rest[at + 1..],
            _ => {
                value.push(' ');
                rest = &rest[at + 1..];
            }
        }
    }
    value.push_str(rest);
    Ok(Cow::Owned(value))
}

/// The character of an entity, given the text between `&` and `;`.
pub(super) fn reference(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| {
                matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
            })
        }
    }
}

/// A name of XML, near enough: what begins with a letter and holds letters, digits and `.-_:`.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | ':'))
        && characters.all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '·'))
        && text.bytes().filter(|b| *b == b':').count() <= 1
        && !text.starts_with(':')
        && !text.ends_with(':')
}
