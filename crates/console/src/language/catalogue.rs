//! The Spanish catalogue: the texts of pages, and the messages that the API answers, too.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use askama::filters::HtmlSafe;
use lyceum_core::Message;
use lyceum_core::language::Language;
use lyceum_core::message::{MessageValue, filled};

use super::{markup, reader};

/// The Spanish texts by their English ones.
static SPANISH: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::read(include_str!("../../locales/es.json")));

struct Catalogue {
    /// The texts of pages.
    texts: HashMap<String, String>,
    /// The messages by their templates. In a text, `{name}` stands for a value, and `{*name}` for a value that is
    /// a word with an entry of its own.
    messages: HashMap<String, String>,
}

impl Catalogue {
    fn read(json: &str) -> Self {
        let parts = serde_json::from_str::<HashMap<String, HashMap<String, String>>>(json);
        let mut parts = parts.expect("the catalogue is an object of objects with texts");
        let mut part = |name| parts.remove(name).unwrap_or_default();
        Self { texts: part("texts"), messages: part("messages") }
    }
}

/// The text in a language, or in English if the catalogue does not have it. A test keeps the catalogue complete.
pub(super) fn text(language: Language, english: &str) -> &str {
    match language {
        Language::Spanish => SPANISH.texts.get(english).map_or(english, String::as_str),
        Language::English | Language::Marked => english,
    }
}

/// A message in a language; `None` if the catalogue does not have its template.
pub(super) fn message(language: Language, message: &Message) -> Option<String> {
    match language {
        Language::English => Some(message.to_string()),
        Language::Spanish => spanish(message),
        Language::Marked => spanish(message).map(|_| format!("⟦{message}⟧")),
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
    pub fn of(english: impl Into<Message>) -> Self {
        let english = english.into();
        let found = message(reader(), &english);
        let is_english = found.is_none();
        let html = markup::code(&found.unwrap_or_else(|| english.to_string()));
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

fn spanish(message: &Message) -> Option<String> {
    let text = SPANISH.messages.get(message.template())?;
    Some(filled(text, |name| {
        let value = match message.value(name.trim_start_matches('*'))? {
            MessageValue::Message(part) => spanish(part).unwrap_or_else(|| part.to_string()).into(),
            MessageValue::Text(word) if name.starts_with('*') => {
                SPANISH.messages.get(word).unwrap_or(word).into()
            }
            MessageValue::Text(text) => text.into(),
        };
        Some(value)
    }))
}

/// The text with a capital letter and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}
