//! Replaces the strings that name a person in texts and JSON.

use std::ops::Range;

use serde_json::{Map, Value};

/// Shorter strings are not looked for in texts of others, because they occur by chance.
pub const REDACTED_MIN_BYTES: usize = 6;
/// From this length on, a string in a text of others counts even between `-`, `_` or `.`.
const UNMISTAKABLE_MIN_BYTES: usize = 12;

/// The owner of the text that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOwner {
    /// The person's own: long strings count wherever they occur.
    Person,
    /// Somebody else's: only whole words count, so that `user-12` stays if `user-1` is replaced.
    Others,
}

/// A string that names the person.
#[derive(Clone, Debug)]
struct NameString {
    text: String,
    /// A-Z in any case, as in names and e-mail addresses. Ids distinguish case.
    any_case: bool,
    replacement: String,
}

/// The strings that name a person, and what replaces them.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    strings: Vec<NameString>,
}

impl Redaction {
    /// Replaces an id, which distinguishes case.
    pub fn id(&mut self, id: &str, replacement: &str) {
        self.add(id.to_owned(), false, replacement);
    }

    /// Replaces a name or an e-mail address, with A-Z in any case.
    pub fn name(&mut self, name: &str, replacement: &str) {
        self.add(name.to_ascii_lowercase(), true, replacement);
    }

    fn add(&mut self, text: String, any_case: bool, replacement: &str) {
        if !text.is_empty() && !self.strings.iter().any(|known| known.text == text) {
            self.strings.push(NameString { text, any_case, replacement: replacement.to_owned() });
            // If one string contains another, the longer one is replaced.
            self.strings.sort_by_key(|string| std::cmp::Reverse(string.text.len()));
        }
    }

    /// The strings that are looked for in texts of others, in lower case.
    pub fn search_terms(&self) -> Vec<String> {
        let long = self.strings.iter().filter(|string| string.text.len() >= REDACTED_MIN_BYTES);
        long.map(|string| string.text.to_ascii_lowercase()).collect()
    }

    /// Whether the text contains one of the strings.
    pub fn names_in(&self, text: &str, owner: TextOwner) -> bool {
        let lower = text.to_ascii_lowercase();
        self.strings.iter().any(|string| string.next_in(text, &lower, 0, owner).is_some())
    }

    /// Whether the JSON text contains one of the strings, also with escaped letters.
    pub fn names_in_json(&self, text: &str, owner: TextOwner) -> bool {
        self.names_in(text, owner)
            || text.contains("\\u")
                && serde_json::from_str::<Value>(text)
                    .is_ok_and(|mut value| self.redact_json(&mut value, owner))
    }

    /// The text with each string replaced; `None` if it contains none.
    pub fn redacted(&self, text: &str, owner: TextOwner) -> Option<String> {
        let lower = text.to_ascii_lowercase();
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for string in &self.strings {
            let mut from = 0;
            while let Some(place) = string.next_in(text, &lower, from, owner) {
                from = place.end;
                if found
                    .iter()
                    .all(|(known, _)| place.end <= known.start || known.end <= place.start)
                {
                    found.push((place, &string.replacement));
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        found.sort_by_key(|(place, _)| place.start);
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for (place, replacement) in found {
            out += &text[at..place.start];
            out += replacement;
            at = place.end;
        }
        Some(out + &text[at..])
    }

    /// Replaces the strings in all texts and member names of a JSON value. Returns whether there were any.
    pub fn redact_json(&self, value: &mut Value, owner: TextOwner) -> bool {
        match value {
            Value::String(text) => match self.redacted(text, owner) {
                Some(redacted) => {
                    *text = redacted;
                    true
                }
                None => false,
            },
            Value::Array(list) => {
                list.iter_mut().fold(false, |any, value| any | self.redact_json(value, owner))
            }
            Value::Object(members) => self.redact_object(members, owner),
            _ => false,
        }
    }

    /// [`Self::redact_json`] for an object.
    pub fn redact_object(&self, members: &mut Map<String, Value>, owner: TextOwner) -> bool {
        let mut any = false;
        if members.keys().any(|name| self.names_in(name, owner)) {
            any = true;
            let renamed = std::mem::take(members).into_iter();
            members.extend(
                renamed.map(|(name, value)| (self.redacted(&name, owner).unwrap_or(name), value)),
            );
        }
        members.values_mut().fold(any, |any, value| self.redact_json(value, owner) || any)
    }

    /// The text with each string replaced, as JSON if it is an object or array; `None` if it contains none.
    pub fn redacted_text(&self, text: &str, owner: TextOwner) -> Option<String> {
        if text.starts_with(['{', '['])
            && let Ok(mut value) = serde_json::from_str::<Value>(text)
        {
            return self.redact_json(&mut value, owner).then(|| value.to_string());
        }
        self.redacted(text, owner)
    }
}

impl NameString {
    /// The next place of the string at or after `from`.
    fn next_in(
        &self,
        text: &str,
        lower: &str,
        from: usize,
        owner: TextOwner,
    ) -> Option<Range<usize>> {
        let length = self.text.len();
        if owner == TextOwner::Others && length < REDACTED_MIN_BYTES {
            return None;
        }
        let searched = if self.any_case { lower } else { text };
        let mut at = from;
        while let Some(found) = searched[at..].find(&self.text) {
            let start = at + found;
            let end = start + length;
            if self.is_whole(&text[..start], &text[end..], owner) {
                return Some(start..end);
            }
            at = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        None
    }

    /// Whether the string between these texts is a name of its own.
    fn is_whole(&self, before: &str, after: &str, owner: TextOwner) -> bool {
        let length = self.text.len();
        if owner == TextOwner::Person && length >= REDACTED_MIN_BYTES {
            return true;
        }
        let joins = |letter: char| "-_.".contains(letter);
        let (mut back, mut on) = (before.chars().rev(), after.chars());
        let goes_on = |next: Option<char>, second: Option<char>| match next {
            Some(letter) if letter.is_alphanumeric() => true,
            Some(letter) if joins(letter) => {
                owner == TextOwner::Others
                    && length < UNMISTAKABLE_MIN_BYTES
                    && second.is_some_and(char::is_alphanumeric)
            }
            _ => false,
        };
        !goes_on(back.next(), back.next()) && !goes_on(on.next(), on.next())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Redaction, TextOwner};

    fn redaction() -> Redaction {
        let mut redaction = Redaction::default();
        redaction.id("user-1", "erased");
        redaction.id("7", "erased");
        redaction.id("student-000001", "erased");
        redaction.name("Ada@Example.org", "erased");
        redaction
    }

    #[test]
    fn texts_of_others_lose_whole_words_only() {
        for (text, redacted) in [
            ("user-1", Some("erased")),
            ("https://a.example/users/user-1/", Some("https://a.example/users/erased/")),
            ("It was user-1.", Some("It was erased.")),
            ("user-12", None),
            ("user-1-2", None),
            ("User-1", None),
            ("lesson 7", None),
            ("essay-student-000001-2", Some("essay-erased-2")),
            ("student-0000011", None),
            ("mailto:ADA@example.ORG", Some("mailto:erased")),
            ("é user-1 é", Some("é erased é")),
        ] {
            let found = redaction().redacted(text, TextOwner::Others);
            assert_eq!(found.as_deref(), redacted, "{text}");
            assert_eq!(redaction().names_in(text, TextOwner::Others), redacted.is_some(), "{text}");
        }
    }

    #[test]
    fn own_texts_lose_every_occurrence() {
        for (text, redacted) in [
            ("user-1-2", Some("erased-2")),
            ("lesson-7", Some("lesson-erased")),
            ("lesson-17", None),
            ("xuser-1x", Some("xerasedx")),
        ] {
            assert_eq!(
                redaction().redacted(text, TextOwner::Person).as_deref(),
                redacted,
                "{text}"
            );
        }
    }

    #[test]
    fn json_is_redacted_in_names_and_values_and_behind_escapes() {
        let mut value = json!({ "user-1": [{ "a": "by user-1" }], "b": 7 });
        assert!(redaction().redact_json(&mut value, TextOwner::Others));
        assert_eq!(value, json!({ "erased": [{ "a": "by erased" }], "b": 7 }));
        assert!(!redaction().redact_json(&mut value, TextOwner::Others));
        assert!(redaction().names_in_json("{\"a\":\"\\u0075ser-1\"}", TextOwner::Others));
    }
}
