//! The Spanish catalogue: the texts of pages, and the messages that the API answers, too.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use askama::filters::HtmlSafe;
use lyceum_core::language::Language;
use serde_json::{Map, Value};

use super::{filled, markup, reader};

/// The Spanish texts by their English ones.
static SPANISH: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::read(include_str!("../../locales/es.json")));

/// Comparisons with the patterns for one message at most. Someone can write values into a message so that very many
/// divisions fit.
const COMPARISONS_MAX_COUNT: u32 = 400;

struct Catalogue {
    /// The texts of pages.
    texts: HashMap<String, String>,
    /// The messages, those with the most letters first. In a key, `{name}` stands for a value, and `{*name}` for a message
    /// that is translated, too.
    messages: Vec<(String, String)>,
}

impl Catalogue {
    fn read(json: &str) -> Self {
        let Ok(Value::Object(mut members)) = serde_json::from_str(json) else {
            panic!("the catalogue is a JSON object")
        };
        let mut part = |name: &str| match members.remove(name) {
            Some(Value::Object(texts)) => texts,
            _ => Map::new(),
        };
        let text =
            |(key, value): (String, Value)| (key, value.as_str().unwrap_or_default().to_owned());
        let (texts, messages) = (part("texts"), part("messages"));
        let mut messages: Vec<_> = messages.into_iter().map(text).collect();
        // `must be one of {words}` fits before `must be {value}`.
        messages.sort_by_key(|(pattern, _)| Reverse(filled(pattern, &[]).len()));
        Self { texts: texts.into_iter().map(text).collect(), messages }
    }

    /// The Spanish name of a field, if it has one.
    fn label<'p>(&'p self, path: &'p str) -> &'p str {
        let known = self.messages.iter().find(|(pattern, _)| pattern == path);
        known.map_or(path, |(_, spanish)| spanish)
    }
}

/// The text in a language, or in English if the catalogue does not have it. A test keeps the catalogue complete.
pub(super) fn text(language: Language, english: &str) -> &str {
    match language {
        Language::Spanish => SPANISH.texts.get(english).map_or(english, String::as_str),
        Language::English | Language::Marked => english,
    }
}

/// A message that the API answers, too, in a language; `None` if the catalogue does not have it.
pub(super) fn message(language: Language, english: &str) -> Option<String> {
    let mut parts_left = COMPARISONS_MAX_COUNT;
    let mut in_spanish = || spanish(english, &mut parts_left);
    match language {
        Language::English => Some(english.to_owned()),
        Language::Spanish => in_spanish(),
        Language::Marked => in_spanish().map(|_| format!("⟦{english}⟧")),
    }
}

/// The text of a problem as a sentence in the reader's language. If the catalogue does not have it, it is in English and
/// its HTML says so.
#[derive(Clone, Debug)]
pub struct ProblemText {
    html: String,
    is_english: bool,
}

impl ProblemText {
    /// The sentence for the message of a problem. Words between backticks are code.
    pub fn of(english: &str) -> Self {
        let found = message(reader(), english);
        let html = markup::code(found.as_deref().unwrap_or(english));
        Self { html: sentence(&html), is_english: found.is_none() }
    }
}

impl HtmlSafe for ProblemText {}

impl fmt::Display for ProblemText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_english {
            true => write!(f, "<span lang=\"en\">{}</span>", self.html),
            false => f.write_str(&self.html),
        }
    }
}

/// The Spanish text of one message, or of several ones with semicolons between them.
fn spanish(message: &str, parts_left: &mut u32) -> Option<String> {
    one_in_spanish(message, parts_left).or_else(|| {
        message.match_indices("; ").find_map(|(at, separator)| {
            let first = one_in_spanish(&message[..at], parts_left)?;
            let others = spanish(&message[at + separator.len()..], parts_left)?;
            Some([&first, separator, &others].concat())
        })
    })
}

/// The Spanish text of one message. A message about a value begins with its path, as in `email: is required`.
fn one_in_spanish(message: &str, parts_left: &mut u32) -> Option<String> {
    *parts_left = parts_left.checked_sub(1)?;
    let fitting = SPANISH.messages.iter().find_map(|(pattern, spanish_pattern)| {
        let mut values = values(pattern, message)?;
        for (_, value) in values.iter_mut().filter(|(name, _)| name.starts_with('*')) {
            *value = spanish(value, parts_left)?;
        }
        Some(filled(spanish_pattern, &values))
    });
    fitting.or_else(|| {
        let (path, rule) = message.split_once(": ")?;
        let rule = spanish(rule, parts_left).filter(|_| !path.contains(char::is_whitespace))?;
        Some(format!("{}: {rule}", SPANISH.label(path)))
    })
}

/// The values of a message that fits the pattern, such as `there is no {kind} with the id {id}`.
fn values<'p>(pattern: &'p str, message: &str) -> Option<Vec<(&'p str, String)>> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return (pattern == message).then(Vec::new);
    };
    let message = message.strip_prefix(before)?;
    let (name, rest) = rest.split_once('}')?;
    let literal = rest.split('{').next().unwrap_or_default();
    // The value ends at the first place after which the rest fits; at the end, nothing may follow it.
    let ends: Vec<usize> = match literal {
        "" => vec![message.len()],
        literal => message.match_indices(literal).map(|(at, _)| at).collect(),
    };
    ends.into_iter().find_map(|end| {
        let mut found = vec![(name, message[..end].to_owned())];
        found.extend(values(rest, &message[end..])?);
        Some(found)
    })
}

/// The text with a capital letter and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

#[test]
fn parts_of_a_message_are_translated_and_its_values_stay() {
    for (english, expected) in [
        ("email: is required", Some("correo electrónico: es obligatorio")),
        ("data[0].type: must be 'a'", Some("data[0].type: debe ser «a»")),
        (
            "id: is required; name: must be a string",
            Some("id: es obligatorio; nombre: debe ser un texto"),
        ),
        ("id: is required (and 2 more)", Some("id: es obligatorio (y 2 más)")),
        (
            "id: must be a number or a string (got 'is required')",
            Some("id: debe ser un número o un texto, y no «is required»"),
        ),
        ("two words: is required", None),
        ("id: is unknown", None),
    ] {
        let found = message(Language::Spanish, english);
        assert_eq!(found.as_deref(), expected);
    }
    // Each part of this message fits, alone and with its neighbours, so there are very many ways to divide it.
    let long = format!("{}end", "the key 'a' does not exist or was already revoked; ".repeat(200));
    assert_eq!(message(Language::Spanish, &long), None);
}

#[test]
fn values_of_a_message_are_found_by_its_pattern() {
    let found = |pattern, message| {
        values(pattern, message)
            .map(|values| values.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
    };
    assert_eq!(found("a class", "a class"), Some(vec![]));
    assert_eq!(found("a class", "a class of"), None);
    assert_eq!(found("{a} of {b}", "3 of 4 of 5"), Some(vec!["3".into(), "4 of 5".into()]));
    assert_eq!(found("'{a}' is taken", "'x' is taken"), Some(vec!["x".into()]));
    assert_eq!(found("'{a}' is taken", "'x' is free"), None);
}
