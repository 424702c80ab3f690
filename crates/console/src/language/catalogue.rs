//! The Spanish catalogue, and the texts of problems.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use askama::filters::HtmlSafe;
use lyceum_core::language::Language;
use serde_json::{Map, Value};

use super::{markup, reader};

/// The Spanish texts by their English ones.
static SPANISH: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::read(include_str!("../../locales/es.json")));

struct Catalogue {
    /// The texts of pages.
    texts: HashMap<String, String>,
    /// The messages of problems. Each `{name}` in a key stands for a value in the message.
    problems: Vec<(String, String)>,
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
        let (texts, problems) = (part("texts"), part("problems"));
        Self {
            texts: texts.into_iter().map(text).collect(),
            problems: problems.into_iter().map(text).collect(),
        }
    }
}

/// The text in a language, or in English if the catalogue does not have it. A test keeps the catalogue complete.
pub(super) fn text(language: Language, english: &str) -> &str {
    match language {
        Language::Spanish => SPANISH.texts.get(english).map_or(english, String::as_str),
        Language::English | Language::Marked => english,
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
    pub fn of(message: &str) -> Self {
        let found = match reader() {
            Language::English => None,
            Language::Spanish => translated(message),
            Language::Marked => translated(message).map(|_| format!("⟦{}⟧", markup::code(message))),
        };
        let is_english = found.is_none() && reader() != Language::English;
        let html = found.unwrap_or_else(|| markup::code(message));
        Self { html: sentence(&html), is_english }
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

/// The Spanish HTML of a message.
fn translated(message: &str) -> Option<String> {
    SPANISH.problems.iter().find_map(|(pattern, spanish)| {
        let values = values(pattern, message)?;
        Some(markup::html(spanish, &values))
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
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
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
