//! Reads members of requests, and collects all errors with their paths.

use lyceum_core::messages::{
    MUST_BE_BOOLEAN, MUST_BE_INSTANT, MUST_BE_OBJECT, MUST_BE_STRING, MUST_NOT_BE_EMPTY,
    must_be_one_of, too_long,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, Result, limits};
use lyceum_roster::grade;
use lyceum_roster::record::Object;
use serde_json::Value;

/// An object of a request, and the errors found in it so far.
pub(crate) struct Input<'a> {
    object: &'a Object,
    faults: Vec<Detail>,
}

impl<'a> Input<'a> {
    pub(crate) fn of(object: &'a Object) -> Self {
        Self { object, faults: Vec::new() }
    }

    pub(crate) fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Detail { path: path.into(), message: message.into() });
    }

    /// A required text.
    pub(crate) fn text(&mut self, name: &str) -> String {
        if self.is_missing(name) {
            self.fault(name, "is required");
        }
        self.opt_text(name).unwrap_or_default()
    }

    /// An optional text.
    pub(crate) fn opt_text(&mut self, name: &str) -> Option<String> {
        let value = self.member(name)?;
        match checked(value) {
            Ok(text) => Some(text.to_owned()),
            Err(message) => {
                self.fault(name, message);
                None
            }
        }
    }

    /// A required word from a vocabulary.
    pub(crate) fn word(&mut self, name: &str, words: &[&'static str]) -> &'static str {
        if self.is_missing(name) {
            self.fault(name, format!("is required; send one of {}", words.join(", ")));
            return "";
        }
        self.opt_word(name, words).unwrap_or_default()
    }

    /// An optional word from a vocabulary.
    pub(crate) fn opt_word(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let value = self.member(name)?;
        let word = words.iter().find(|word| value == **word);
        if word.is_none() {
            let got = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.fault(name, must_be_one_of(words, &got));
        }
        word.copied()
    }

    /// An optional number of at least 0.
    pub(crate) fn opt_number(&mut self, name: &str) -> Option<f64> {
        let number = self.member(name)?.as_f64().filter(|number| *number >= 0.0);
        if number.is_none() {
            self.fault(name, "must be a number of at least 0");
        }
        number
    }

    /// An optional instant.
    pub(crate) fn opt_instant(&mut self, name: &str) -> Option<Timestamp> {
        let instant = self.opt_text(name)?.parse().ok();
        if instant.is_none() {
            self.fault(name, MUST_BE_INSTANT);
        }
        instant
    }

    /// An optional boolean, by default `false`.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        match self.member(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.fault(name, MUST_BE_BOOLEAN);
                false
            }
        }
    }

    /// An optional object.
    pub(crate) fn opt_object(&mut self, name: &str) -> Option<&'a Object> {
        let object = self.member(name)?.as_object();
        if object.is_none() {
            self.fault(name, MUST_BE_OBJECT);
        }
        object
    }

    /// A required object.
    pub(crate) fn object(&mut self, name: &str) -> Option<&'a Object> {
        if self.is_missing(name) {
            self.fault(name, "is required; send an object");
        }
        self.opt_object(name)
    }

    /// A required list of 1 to `most` members.
    pub(crate) fn list(&mut self, name: &str, most: usize) -> &'a [Value] {
        let list = self.object.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if list.is_empty() || list.len() > most {
            self.fault(name, format!("must be an array of 1 to {most} members"));
            return &[];
        }
        list
    }

    /// A required grade: a number or a text.
    pub(crate) fn grade(&mut self, name: &str) -> String {
        if self.is_missing(name) {
            self.fault(name, "is required");
        }
        self.opt_grade(name).unwrap_or_default()
    }

    /// An optional grade.
    pub(crate) fn opt_grade(&mut self, name: &str) -> Option<String> {
        match grade::read(self.member(name)?) {
            Ok(grade) => Some(grade),
            Err(message) => {
                self.fault(name, message);
                None
            }
        }
    }

    /// Optional grades, each a number or a text.
    pub(crate) fn opt_grades(&mut self, name: &str) -> Option<Vec<String>> {
        self.member(name)?;
        let mut grades = Vec::new();
        for (at, value) in self.list(name, limits::LIST_MAX_MEMBERS).iter().enumerate() {
            match grade::read(value) {
                Ok(grade) => grades.push(grade),
                Err(message) => self.fault(format!("{name}[{at}]"), message),
            }
        }
        Some(grades)
    }

    /// Returns `read`, unless there were errors. Errors: `Invalid`, with all errors.
    pub(crate) fn done<T>(self, read: T) -> Result<T> {
        if self.faults.is_empty() { Ok(read) } else { Err(Problem::invalid_all(self.faults)) }
    }

    /// The errors so far, for callers that read an object within another.
    pub(crate) fn faults(self) -> Vec<Detail> {
        self.faults
    }

    /// Takes over the errors of an object at the path within this one.
    pub(crate) fn inside(&mut self, path: &str, inner: Input<'_>) {
        for Detail { path: within, message } in inner.faults() {
            self.fault(format!("{path}.{within}"), message);
        }
    }

    fn member(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn is_missing(&self, name: &str) -> bool {
        self.member(name).is_none()
    }
}

/// Checks that a text can be stored in a record. The error says what is wrong with it.
pub(crate) fn checked(value: &Value) -> Result<&str, String> {
    let Value::String(text) = value else { return Err(MUST_BE_STRING.into()) };
    let most = limits::INPUT_TEXT_MAX_BYTES;
    if text.trim().is_empty() {
        return Err(MUST_NOT_BE_EMPTY.into());
    }
    if text.len() > most {
        return Err(too_long(most));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".into());
    }
    Ok(text)
}
