//! The wording of the most common messages about data that a client sent, so that every crate says the same
//! thing in the same words.
//!
//! Each message begins with a verb, because the path of the value stands before it: `course.title: is required`.

use std::fmt::Display;
use std::io::{self, ErrorKind};

use crate::text::{near_miss, nearest};
use crate::{Message, message};

/// A word that a client sent is repeated in a message up to this length.
const REPEATED_MAX_BYTES: usize = 40;

/// A value has another JSON type than a string.
pub const MUST_BE_STRING: &str = "must be a string";

/// A value has another JSON type than a number.
pub const MUST_BE_NUMBER: &str = "must be a number";

/// A value has another JSON type than a boolean.
pub const MUST_BE_BOOLEAN: &str = "must be true or false";

/// A value has another JSON type than an array.
pub const MUST_BE_ARRAY: &str = "must be an array";

/// A value has another JSON type than an object.
pub const MUST_BE_OBJECT: &str = "must be an object";

/// A text or list is empty.
pub const MUST_NOT_BE_EMPTY: &str = "must not be empty";

/// A text of one line has a line break or another control character.
pub const MUST_NOT_CONTAIN_CONTROL_CHARACTERS: &str = "must not contain control characters";

/// A text has a character that PostgreSQL cannot store.
pub const MUST_NOT_CONTAIN_NUL: &str = "must not contain the character U+0000";

/// A value is not a date (RFC 3339, `full-date`).
pub const MUST_BE_DATE: &str = "must be a date such as 2026-01-15";

/// A value is not a date with a time and an offset (RFC 3339, `date-time`).
pub const MUST_BE_INSTANT: &str = "must be an instant such as 2026-01-15T08:00:00Z";

/// A value is not a UUID in lower case.
pub const MUST_BE_UUID: &str =
    "must be a UUID in lower case such as c496e222-b8df-11e7-ba24-039ffdae3771";

/// A value is missing; `value` says what to send: "a string".
pub fn required(value: impl Into<Message>) -> Message {
    message!("is required; send {value}", value = value.into())
}

/// A word is not in a vocabulary. Names the word that was probably meant, if one is similar.
pub fn must_be_one_of(words: &[&str], got: &str) -> Message {
    let list = words.join(", ");
    if got.len() > REPEATED_MAX_BYTES {
        return message!("must be one of {list}");
    }
    match nearest(got, words.iter().copied()) {
        Some(word) => message!("must be one of {list} (got '{got}'; did you mean '{word}'?)"),
        None => message!("must be one of {list} (got '{got}')"),
    }
}

/// A text has fewer characters than it must have.
pub fn too_short(min_characters: usize) -> Message {
    match min_characters {
        1 => MUST_NOT_BE_EMPTY.into(),
        _ => message!("must have at least {min_characters} characters"),
    }
}

/// A text takes more bytes than the store has room for. A text that has too many characters is [`too_many`].
pub fn too_long(max_bytes: usize) -> Message {
    message!("must have at most {max_bytes} bytes")
}

/// A list has more members than its limit; `members` is their plural name.
pub fn too_many(max_members: usize, members: &str) -> Message {
    message!("must have at most {max_members} {members}")
}

/// A value refers to a record that does not exist.
pub fn unknown_reference(kind: impl Display, sourced_id: &str) -> Message {
    message!("there is no {kind} with the sourcedId '{sourced_id}'; create it first")
}

/// An object has a member that its type does not define; `owner` is the name of the type.
pub fn unknown_member(owner: &str) -> Message {
    message!("is not a member of {owner}; remove it")
}

/// An object has an unknown member. Names the one that was probably meant, if one is similar.
pub fn not_a_member<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Message {
    match near_miss(name, known.clone()) {
        Some(similar) => message!("is not a member of this object; did you mean '{similar}'?"),
        None => {
            let known = known.collect::<Vec<_>>().join(", ");
            message!("is not a member of this object, which has {known}; remove it")
        }
    }
}

/// Why a file or a connection failed, in common words: to stand behind what was tried and a colon.
pub fn io_reason(error: &io::Error) -> Message {
    match error.kind() {
        ErrorKind::NotFound => "it does not exist".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::ConnectionRefused => "no program listens there".into(),
        ErrorKind::AddrInUse => "another program uses this address".into(),
        ErrorKind::AddrNotAvailable => "this machine does not have this address".into(),
        ErrorKind::TimedOut => "no answer in time".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        ErrorKind::StorageFull => "the disk is full".into(),
        _ if let Some(message) = error.get_ref().and_then(|it| it.downcast_ref::<Message>()) => {
            message.clone()
        }
        _ => {
            let text = error.to_string();
            Message::untranslated(text.split(" (os error").next().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::must_be_one_of;

    #[test]
    fn a_similar_word_is_suggested() {
        let words = ["student", "teacher"];
        assert_eq!(
            must_be_one_of(&words, "studnet"),
            "must be one of student, teacher (got 'studnet'; did you mean 'student'?)"
        );
        assert_eq!(must_be_one_of(&words, "x"), "must be one of student, teacher (got 'x')");
    }
}
