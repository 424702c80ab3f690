//! Turns the marks of a text into HTML.

use super::filled;
use crate::chart::escaped;

/// The pattern as HTML: `code`, **strong words** and [links]({address}). Values are escaped and their marks mean nothing.
pub(super) fn html(pattern: &str, values: &[(&str, String)]) -> String {
    let Some((before, mark, inner, after)) = first_mark(pattern) else {
        return plain(pattern, values);
    };
    let inner = match mark {
        Mark::Code => format!("<code>{}</code>", plain(inner, values)),
        Mark::Strong => format!("<strong>{}</strong>", html(inner, values)),
        Mark::Link(address) => {
            format!("<a href=\"{}\">{}</a>", plain(address, values), html(inner, values))
        }
    };
    format!("{}{inner}{}", plain(before, values), html(after, values))
}

/// A text without marks but backticks, as HTML.
pub(super) fn code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let part = |(at, part)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    parts.map(part).collect()
}

enum Mark<'p> {
    Code,
    Strong,
    Link(&'p str),
}

/// The text before the first mark, the mark, the text in it and the text after it.
fn first_mark(pattern: &str) -> Option<(&str, Mark<'_>, &str, &str)> {
    let starts = ["`", "**", "["].into_iter();
    let (at, start) = starts.filter_map(|start| Some((pattern.find(start)?, start))).min()?;
    let (before, rest) = (&pattern[..at], &pattern[at + start.len()..]);
    if start == "[" {
        let (inner, rest) = rest.split_once("](")?;
        let (address, after) = rest.split_once(')')?;
        return Some((before, Mark::Link(address), inner, after));
    }
    let (inner, after) = rest.split_once(start)?;
    let mark = if start == "`" { Mark::Code } else { Mark::Strong };
    Some((before, mark, inner, after))
}

fn plain(pattern: &str, values: &[(&str, String)]) -> String {
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, escaped(value))).collect();
    // A pattern has none of the escaped characters but quotes.
    filled(&escaped(pattern), &values)
}

#[test]
fn marks_become_elements_and_values_stay_text() {
    let values = [("to", "/a?b&c".to_owned()), ("name", "<b>**x** `y`".to_owned())];
    for (pattern, expected) in [
        ("Plain {name}", "Plain &lt;b&gt;**x** `y`"),
        (
            "[Go **now**]({to}) or `run {name}`.",
            "<a href=\"/a?b&amp;c\">Go <strong>now</strong></a> or <code>run &lt;b&gt;**x** `y`</code>.",
        ),
        ("2 * 3 [4]", "2 * 3 [4]"),
    ] {
        assert_eq!(html(pattern, &values), expected);
    }
}
