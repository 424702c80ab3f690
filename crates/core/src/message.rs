//! Messages: an English template and the values that fill it. A message is made where something happens and becomes a text
//! where it leaves the server: English in answers of the API, the reader's language on pages.

use std::borrow::Cow;
use std::fmt::{self, Display};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use crate::{Problem, Reach};

/// A message for people. Its `Display`, its `Debug` and its JSON are the English text.
///
/// [`message!`](crate::message!) makes a message with values; a constant text is a message by itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    template: Cow<'static, str>,
    values: Box<[(Cow<'static, str>, MessageValue)]>,
}

/// A value in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MessageValue {
    /// A text that is not translated, such as a name or a number.
    Text(String),
    /// A part of the message with a template of its own.
    Message(#[serde(with = "StoredMessage")] Message),
}

/// The form of a message in the store.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Message")]
struct StoredMessage {
    template: Cow<'static, str>,
    values: Box<[(Cow<'static, str>, MessageValue)]>,
}

impl Message {
    /// Creates a message from its parts. Call [`message!`](crate::message!) instead.
    pub fn filled(template: &'static str, values: Vec<(&'static str, MessageValue)>) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { template: template.into(), values }
    }

    /// A text that others wrote, such as the error of a library. Pages show it as it is, unless the catalogue has it.
    pub fn untranslated(text: impl Into<String>) -> Self {
        Self { template: Cow::Owned(text.into()), values: Box::default() }
    }

    /// The messages with semicolons between them. Empty if there are none.
    pub fn joined(messages: impl IntoIterator<Item = Self>) -> Self {
        let joined = |pair: &[Self]| match pair {
            [first, second] => crate::message!("{first}; {second}"),
            rest => rest[0].clone(),
        };
        let mut messages: Vec<Self> = messages.into_iter().collect();
        // A chain of thousands would need more stack than a thread has.
        while messages.len() > 1 {
            messages = messages.chunks(2).map(joined).collect();
        }
        messages.pop().unwrap_or_else(|| "".into())
    }

    /// The English template: its names in braces are those of the values.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Whether the English text contains a part.
    pub fn contains(&self, part: &str) -> bool {
        self.to_string().contains(part)
    }

    /// The value with this name.
    pub fn value(&self, name: &str) -> Option<&MessageValue> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The message with a part of its values replaced, such as the path of a file by the name that its owner knows.
    #[must_use]
    pub fn replaced(mut self, part: &str, by: &str) -> Self {
        for (_, value) in &mut self.values {
            match value {
                MessageValue::Text(text) => *text = text.replace(part, by),
                MessageValue::Message(message) => *message = message.clone().replaced(part, by),
            }
        }
        self
    }

    /// The text for a column of the store, from which [`Self::from_stored`] reads the message.
    pub fn stored(&self) -> String {
        match self.values.is_empty() {
            true => self.template.to_string(),
            false => json!(MessageValue::Message(self.clone())).to_string(),
        }
    }

    /// The message that a column of the store has. A text that [`Self::stored`] did not make is a message without values.
    pub fn from_stored(text: String) -> Self {
        match serde_json::from_str(&text) {
            Ok(MessageValue::Message(message)) => message,
            _ => Self::untranslated(text),
        }
    }
}

impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Self { template: text.into(), values: Box::default() }
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values.is_empty() {
            true => f.write_str(&self.template),
            false => {
                let value = |name: &str| Some(self.value(name)?.to_string().into());
                f.write_str(&filled(&self.template, value))
            }
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl std::error::Error for Message {}

impl Display for MessageValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Message(message) => message.fmt(f),
        }
    }
}

/// The template with the value of each name in braces. A name without a value stays as it is written. As in `format!`,
/// `{{` and `}}` are braces.
pub fn filled<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(&before.replace("}}", "}"));
        let found = after.split_once('}').and_then(|(name, after)| Some((value(name)?, after)));
        match found {
            Some((value, after)) => {
                text.push_str(&value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = after.strip_prefix('{').unwrap_or(after);
            }
        }
    }
    text + &rest.replace("}}", "}")
}

impl PartialEq<str> for Message {
    fn eq(&self, text: &str) -> bool {
        let english = self.to_string();
        english == text
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The English text that an answer of the API has, as a message without values.
impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::untranslated)
    }
}

impl JsonSchema for Message {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// For `#[serde(with = "…")]` on a field of data that only this program reads again.
pub mod stored {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Message;

    /// Writes the text of [`Message::stored`].
    pub fn serialize<S: Serializer>(message: &Message, serializer: S) -> Result<S::Ok, S::Error> {
        message.stored().serialize(serializer)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
        String::deserialize(deserializer).map(Message::from_stored)
    }
}

/// A value on its way into a message. Methods of a type go before those of a trait, so a message keeps its template, and
/// everything else becomes its text.
#[doc(hidden)]
pub struct Filling<'v, T: ?Sized>(pub &'v T);

macro_rules! messages_stay_messages {
    ($($type:ty: $message:expr;)*) => {$(
        impl Filling<'_, $type> {
            /// The message as a part of another one.
            pub fn value(&self) -> MessageValue {
                let message: fn(&$type) -> Message = $message;
                MessageValue::Message(message(self.0))
            }
        }
    )*};
}

messages_stay_messages! {
    Message: Clone::clone;
    &Message: |message| (*message).clone();
    Problem: |problem| problem.message.clone();
    &Problem: |problem| problem.message.clone();
    Reach: Reach::text;
    &Reach: |reach| reach.text();
}

/// The values of messages that are texts.
#[doc(hidden)]
pub trait TextValue {
    /// The text of the value.
    fn value(&self) -> MessageValue;
}

impl<T: Display + ?Sized> TextValue for Filling<'_, T> {
    fn value(&self) -> MessageValue {
        MessageValue::Text(self.0.to_string())
    }
}

/// The second half of [`message!`](crate::message!): each name has its value.
#[doc(hidden)]
#[macro_export]
macro_rules! filled_message {
    ($template:literal $(, $name:literal = $value:expr)*) => {{
        #[allow(unused_imports)]
        use $crate::message::TextValue as _;
        $crate::Message::filled(
            $template,
            ::std::vec![$(($name, $crate::message::Filling(&$value).value())),*],
        )
    }};
}

#[cfg(test)]
mod tests {
    use super::Message;
    use crate::message;

    #[test]
    fn a_message_keeps_its_parts_and_is_shown_in_english() {
        let (id, most) = ("{most}", 3);
        let part = message!("'{id}' is longer than {most}");
        let whole = message!("{part}; {code} {id}", code = "{x}".to_uppercase());
        assert_eq!(whole, "'{most}' is longer than 3; {X} {most}");
        assert_eq!(whole.template(), "{part}; {code} {id}");
        assert_eq!(Message::from_stored(whole.stored()), whole);
        let range = 1..3;
        assert_eq!(message!("{{{range.start}: {{{range.end}}}}}"), "{1: {3}}");
        let constant = Message::from("{template} is required");
        assert_eq!(Message::from_stored(constant.stored()), constant);
        let former = "{\"template\" is a text of a former release";
        assert_eq!(Message::from_stored(former.to_owned()), *former);
    }

    #[test]
    fn very_many_messages_are_joined() {
        let text = Message::joined((0..100_000).map(|_| "wrong".into())).to_string();
        assert_eq!(text.matches("wrong; ").count(), 99_999);
    }
}
