//! Reads JSON value by value, together with the text of each value.
//!
//! An event is read, and kept exactly as it was sent. To look for its end first would be to read each byte twice.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];
/// The characters that may follow a number or a word.
const ENDS: [char; 7] = [',', ']', '}', ' ', '\t', '\r', '\n'];

/// The rest of a text.
pub(crate) struct TextReader<'a>(&'a str);

impl<'a> TextReader<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self(text)
    }

    /// Takes a mark such as `{`. Answers whether it comes next.
    pub(crate) fn takes(&mut self, mark: char) -> bool {
        let rest = self.0.trim_start_matches(WHITE).strip_prefix(mark);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Whether nothing is left.
    pub(crate) fn is_over(&self) -> bool {
        self.0.trim_start_matches(WHITE).is_empty()
    }

    /// Reads what stands between here and the end of a list or an object, with commas between: `each` reads one of it.
    /// `None`: that is no JSON.
    pub(crate) fn each(
        &mut self,
        end: char,
        mut each: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        if self.takes(end) {
            return Some(());
        }
        loop {
            each(self)?;
            if self.takes(end) {
                return Some(());
            }
            self.takes(',').then_some(())?;
        }
    }

    /// Steps over the next value. `None`: what comes next is no JSON.
    pub(crate) fn skip(&mut self) -> Option<()> {
        self.value::<IgnoredAny>().map(drop)
    }

    /// The next value, which may be JSON that is not wanted here, and its text. `None`: what comes next is no JSON.
    pub(crate) fn value<T: Deserialize<'a>>(&mut self) -> Option<(serde_json::Result<T>, &'a str)> {
        let text = self.0.trim_start_matches(WHITE);
        let (value, bytes) = match text.as_bytes().first()? {
            b'{' | b'[' | b'"' => match first(text)? {
                (Err(error), _) => {
                    (Err(error), first::<IgnoredAny>(text).filter(|(any, _)| any.is_ok())?.1)
                }
                read => read,
            },
            _ => {
                let bytes = text.find(ENDS).unwrap_or(text.len());
                serde_json::from_str::<IgnoredAny>(&text[..bytes]).ok()?;
                (serde_json::from_str(&text[..bytes]), bytes)
            }
        };
        let (value_text, rest) = text.split_at(bytes);
        self.0 = rest;
        Some((value, value_text))
    }
}

/// The value at the start of the text, which shows its own end, and how long it is.
fn first<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(serde_json::Result<T>, usize)> {
    let mut values = Deserializer::from_str(text).into_iter();
    let value = values.next()?;
    Some((value, values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn values_are_read_with_their_text() {
        let mut reader = TextReader::of(" [ {\"a\": [1, \"]\"]} ,-2.5e3,\"x\\\"y\" , null]\n");
        assert!(reader.takes('['));
        let mut texts = Vec::new();
        let read = reader.each(']', |reader| {
            let (value, text) = reader.value::<Value>()?;
            assert_eq!(value.unwrap(), serde_json::from_str::<Value>(text).unwrap());
            texts.push(text);
            Some(())
        });
        assert_eq!(read, Some(()));
        assert_eq!(texts, [r#"{"a": [1, "]"]}"#, "-2.5e3", r#""x\"y""#, "null"]);
        assert!(reader.is_over() && !reader.takes(']') && reader.value::<Value>().is_none());
    }

    #[test]
    fn values_of_another_type_are_skipped_and_invalid_json_ends_reading() {
        let mut reader = TextReader::of(r#"{"a":["b"]} "c" 7"#);
        for text in [r#"{"a":["b"]}"#, r#""c""#, "7"] {
            let (value, of) = reader.value::<bool>().unwrap();
            assert!(value.is_err());
            assert_eq!(of, text);
        }
        for text in ["", "{", r#"{"a" 1}"#, "tru", "1-", "01", "\"a", "]", "[1,]", "\u{a0}1"] {
            assert!(TextReader::of(text).value::<Value>().is_none(), "{text}");
        }
        for (text, is_list) in
            [("]", true), ("1,2]", true), ("1,]", false), (",]", false), ("1 2]", false)]
        {
            assert_eq!(
                TextReader::of(text).each(']', TextReader::skip).is_some(),
                is_list,
                "{text}"
            );
        }
    }
}
