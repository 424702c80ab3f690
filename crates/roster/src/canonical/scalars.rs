//! Single values: texts, words, booleans, dates, numbers.

use std::borrow::Cow;
use std::fmt::Write as _;

use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{PayloadDialect, message, messages};
use serde_json::Value;

use super::{CanonicalWriter, NUL, check_json};
use crate::grade;
use crate::kind::{FieldType, Vocabulary, VocabularyExtension};

/// The date in a text. Clients send instants for dates of the standard, so the date part of an instant is accepted.
pub(crate) fn day(text: &str) -> Option<&str> {
    let (day, time) = text.split_at_checked(DATE_BYTES)?;
    let is_date = parse_date(day).is_some_and(|date| date.year() >= 1);
    let is_instant = || time.starts_with(['T', 't', ' ']) && text.parse::<Timestamp>().is_ok();
    (is_date && (time.is_empty() || is_instant())).then_some(day)
}

/// The number of bytes of a date such as 2026-01-15.
const DATE_BYTES: usize = 10;

impl CanonicalWriter<'_> {
    /// Writes a scalar and returns the text for its column or link.
    pub(super) fn scalar<'v>(
        &mut self,
        ty: FieldType,
        value: &'v Value,
        path: &str,
    ) -> Option<Cow<'v, str>> {
        match ty {
            FieldType::Text | FieldType::Uri => self.text(value, path),
            FieldType::Word(words) => self.word(words, value, path),
            FieldType::Flag => self.flag(value, path),
            FieldType::Date => self.date(value, path),
            FieldType::Instant => self.instant(value, path),
            FieldType::Integer | FieldType::Number => self.number(ty, value, path),
            FieldType::Json => {
                match check_json(value) {
                    Ok(()) => write!(self.out(), "{value}").expect("writing never fails"),
                    Err(message) => self.fault(path.into(), message),
                }
                None
            }
            _ => unreachable!("`member` handles lists, references and secrets"),
        }
    }

    pub(super) fn text<'v>(&mut self, value: &'v Value, path: &str) -> Option<Cow<'v, str>> {
        let text = match value {
            Value::String(text) => Cow::from(text),
            Value::Number(number) if self.dialect == PayloadDialect::Platform => {
                number.to_string().into()
            }
            Value::Bool(flag) if self.dialect == PayloadDialect::Platform => {
                flag.to_string().into()
            }
            _ => {
                self.fault(path.into(), messages::MUST_BE_STRING.into());
                return None;
            }
        };
        if text.contains('\0') {
            self.fault(path.into(), NUL.into());
            return None;
        }
        self.string(&text);
        Some(text)
    }

    pub(super) fn grade<'v>(&mut self, value: &'v Value, path: &str) -> Option<Cow<'v, str>> {
        let text = match value {
            Value::Number(number) if self.dialect == PayloadDialect::Platform => {
                let text = grade::number_text(number);
                self.string(&text);
                text.into()
            }
            _ => self.text(value, path)?,
        };
        match grade::check(&text) {
            Err(message) if self.is_checked => {
                self.fault(path.into(), message);
                None
            }
            _ => Some(text),
        }
    }

    pub(super) fn word<'v>(
        &mut self,
        words: Vocabulary,
        value: &'v Value,
        path: &str,
    ) -> Option<Cow<'v, str>> {
        match value.as_str() {
            Some(word) if words.allows(word) || self.into_extra && words.is_platforms(value) => {
                self.string(word);
                Some(word.into())
            }
            _ => {
                let extension = match words.open {
                    VocabularyExtension::Closed => None,
                    VocabularyExtension::Extensions => Some("ext:…"),
                    VocabularyExtension::Sources => Some("/…"),
                };
                let known: Vec<_> = words.words.iter().copied().chain(extension).collect();
                let message = match value.as_str() {
                    Some(got) => messages::must_be_one_of(&known, got),
                    None => messages::MUST_BE_STRING.into(),
                };
                self.fault(path.into(), message);
                None
            }
        }
    }

    fn flag(&mut self, value: &Value, path: &str) -> Option<Cow<'static, str>> {
        let text = match value {
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::String(text) if text == "true" => "true",
            Value::String(text) if text == "false" => "false",
            _ => {
                self.fault(path.into(), "must be \"true\" or \"false\"".into());
                return None;
            }
        };
        self.string(text);
        Some(text.into())
    }

    fn date<'v>(&mut self, value: &'v Value, path: &str) -> Option<Cow<'v, str>> {
        match value.as_str().and_then(day) {
            Some(day) => {
                self.string(day);
                Some(day.into())
            }
            None => {
                let message = "must be a date such as 2026-01-15, or an RFC 3339 instant, of \
                               which the date is used";
                self.fault(path.into(), message!("{message} (got {value})"));
                None
            }
        }
    }

    fn instant(&mut self, value: &Value, path: &str) -> Option<Cow<'static, str>> {
        let instant = value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
        match instant.filter(|instant| instant.date().year() >= 1) {
            Some(instant) => {
                let text = instant.to_string();
                self.string(&text);
                Some(text.into())
            }
            None => {
                self.fault(path.into(), messages::MUST_BE_INSTANT.into());
                None
            }
        }
    }

    fn number(&mut self, ty: FieldType, value: &Value, path: &str) -> Option<Cow<'static, str>> {
        let fits = match ty {
            FieldType::Integer => value.as_i64().is_some(),
            _ => value.as_f64().is_some_and(f64::is_finite),
        };
        if !fits {
            let what = if matches!(ty, FieldType::Integer) { "a whole number" } else { "a number" };
            self.fault(path.into(), message!("must be {what}"));
            return None;
        }
        let text = value.to_string();
        self.out().push_str(&text);
        Some(text.into())
    }
}
