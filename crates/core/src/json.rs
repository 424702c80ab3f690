//! Refuses JSON that two parsers could read differently.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use crate::limits::JSON_MAX_LEVELS;
use crate::message;
use crate::problem::{Problem, ProblemKind, Result};

/// Up to this many keys of an object are compared one by one, which is faster than hashing them.
const FEW_KEYS: usize = 16;

/// Refuses JSON in which an object has the same key twice. Parsers disagree which of the two values counts
/// (RFC 8259, section 4).
///
/// Text that is not JSON passes, because the parser that reads it later reports the error better. Takes
/// one pass without recursion.
///
/// Errors: `Malformed` with the path of the first repeated key, and for text that is nested deeper than
/// [`JSON_MAX_LEVELS`].
pub fn refuse_repeated_keys(text: &[u8]) -> Result<()> {
    let Some(path) = repeated_key(text)? else { return Ok(()) };
    let problem = Problem::invalid(path, "appears twice in one JSON object; send the key once");
    Err(Problem { kind: ProblemKind::Malformed, ..problem })
}

/// Converts a number to JSON. A whole number is written without a fraction.
pub fn number(value: f64) -> serde_json::Value {
    #[expect(clippy::cast_possible_truncation, reason = "held within the range before")]
    let whole = value as i64;
    if value.fract() == 0.0 && value.abs() < 1e15 { whole.into() } else { value.into() }
}

/// An object or a list that is open.
enum OpenLevel<'t> {
    Object { keys: ObjectKeys<'t>, awaits_key: bool },
    List { index: usize },
}

/// The path of the first key that appears twice in its object.
fn repeated_key(text: &[u8]) -> Result<Option<String>> {
    let mut levels: Vec<OpenLevel<'_>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' if levels.len() >= JSON_MAX_LEVELS => {
                let message = message!(
                    "the JSON is nested too deeply; the limit is {JSON_MAX_LEVELS} levels"
                );
                return Err(Problem::new(ProblemKind::Malformed, message));
            }
            b'{' => {
                levels.push(OpenLevel::Object { keys: ObjectKeys::default(), awaits_key: true });
            }
            b'[' => levels.push(OpenLevel::List { index: 0 }),
            b'}' | b']' => drop(levels.pop()),
            b',' => match levels.last_mut() {
                Some(OpenLevel::Object { awaits_key, .. }) => *awaits_key = true,
                Some(OpenLevel::List { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                let Some(length) = string_length(&text[at..]) else { return Ok(None) };
                let end = at + length;
                if let Some(OpenLevel::Object { keys, awaits_key }) = levels.last_mut()
                    && std::mem::take(awaits_key)
                    && !keys.add(key(&text[at..end]))
                {
                    return Ok(Some(path(&levels)));
                }
                at = end + 1;
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The bytes before the closing quote, or `None` if the string does not end.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The key with its escapes decoded.
fn key(raw: &[u8]) -> Cow<'_, str> {
    if raw.contains(&b'\\') {
        let quoted = [b"\"", raw, b"\""].concat();
        if let Ok(text) = serde_json::from_slice::<String>(&quoted) {
            return text.into();
        }
    }
    String::from_utf8_lossy(raw)
}

/// The keys of an object so far. The last one is the one that is being read.
#[derive(Default)]
struct ObjectKeys<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
    last: Cow<'t, str>,
}

impl<'t> ObjectKeys<'t> {
    /// Adds a key. Returns false if the object has it already.
    fn add(&mut self, key: Cow<'t, str>) -> bool {
        self.last.clone_from(&key);
        if self.many.is_empty() {
            if self.few.contains(&key) {
                return false;
            }
            if self.few.len() < FEW_KEYS {
                self.few.push(key);
                return true;
            }
            self.many.extend(self.few.drain(..));
        }
        self.many.insert(key)
    }
}

/// `data[0].actor.id`
fn path(levels: &[OpenLevel<'_>]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            OpenLevel::Object { keys, .. } => {
                let dot = if path.is_empty() { "" } else { "." };
                let _ = write!(path, "{dot}{}", keys.last);
            }
            OpenLevel::List { index } => {
                let _ = write!(path, "[{index}]");
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::{refuse_repeated_keys, repeated_key};
    use crate::limits::JSON_MAX_LEVELS;

    #[test]
    fn a_repeated_key_is_reported_with_its_path() {
        for (text, path) in [
            (r#"{"a":1,"a":2}"#, "a"),
            (r#"{"course":{"title":"x","org":{"id":1},"title":"y"}}"#, "course.title"),
            (r#" [ {"a":1} , {"b":[[],{"c":{},"c":[]}]} ]"#, "[1].b[1].c"),
            (r#"{"data":[{"x":"}{\"\\"},{"actor":null,"actor":{}}]}"#, "data[1].actor"),
            (r#"{"\u0061":1,"a":2}"#, "a"),
            (r#"{"a\"b":1,"a\"b":2}"#, r#"a"b"#),
        ] {
            assert_eq!(repeated_key(text.as_bytes()).unwrap().as_deref(), Some(path), "{text}");
        }
        let problem = refuse_repeated_keys(br#"{"a":{"b":1,"b":1}}"#).unwrap_err();
        assert_eq!(problem.details[0].path, "a.b");
        assert!(
            problem.message.to_string().starts_with("a.b: appears twice"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn the_same_key_in_different_objects_is_accepted() {
        for text in
            [r#"{"a":{"a":["a","a"]},"b":[{"a":1},{"a":1}],"c":"a"}"#, r#"["a","a"]"#, r#""a""#, ""]
        {
            assert_eq!(repeated_key(text.as_bytes()).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn many_keys_and_deep_nesting_are_followed() {
        let keys: Vec<String> = (0..100).map(|n| format!("\"k{n}\":{n}")).collect();
        let all = keys.join(",");
        assert_eq!(repeated_key(format!("{{{all}}}").as_bytes()).unwrap(), None);
        for n in [0, 15, 16, 99] {
            let text = format!("{{{all},\"k{n}\":0}}");
            assert_eq!(repeated_key(text.as_bytes()).unwrap(), Some(format!("k{n}")));
        }
        let deep = |levels: usize| format!("{}{{\"a\":1,\"a\":2}}", "[".repeat(levels - 1));
        let path = repeated_key(deep(JSON_MAX_LEVELS).as_bytes()).unwrap();
        assert!(path.is_some_and(|path| path.ends_with("[0].a")));
        let refused = repeated_key(deep(JSON_MAX_LEVELS + 1).as_bytes()).unwrap_err();
        assert!(refused.message.contains("10000 levels"), "{}", refused.message);
    }

    #[test]
    fn text_that_is_not_json_is_accepted() {
        for text in ["{", "}{", "]", "{\"a", "{\"a\\", ",,:", "{\"a\":1,\"b\"", "\u{1}\u{2}"] {
            assert!(refuse_repeated_keys(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
