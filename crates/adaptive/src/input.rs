//! Members of requests, read so that every fault is told with its path.

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, Result, limits};
use lyceum_roster::grade;
use lyceum_roster::record::Object;
use serde_json::Value;

/// An object of a request under reading, and what was wrong so far.
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

    /// A text that must be there.
    pub(crate) fn text(&mut self, name: &str) -> String {
        if self.is_missing(name) {
            self.fault(name, "is required");
        }
        self.opt_text(name).unwrap_or_default()
    }

    /// A text that may be missing.
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

    /// One of the words, which must be there.
    pub(crate) fn word(&mut self, name: &str, words: &[&'static str]) -> &'static str {
        if self.is_missing(name) {
            self.fault(name, format!("is required; send one of {}", words.join(", ")));
            return "";
        }
        self.opt_word(name, words).unwrap_or_default()
    }

    /// One of the words, which may be missing.
    pub(crate) fn opt_word(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let value = self.member(name)?;
        let word = words.iter().find(|word| value == **word);
        if word.is_none() {
            self.fault(name, format!("must be one of {}", words.join(", ")));
        }
        word.copied()
    }

    /// A number from 0 that may be missing.
    pub(crate) fn opt_number(&mut self, name: &str) -> Option<f64> {
        let number = self.member(name)?.as_f64().filter(|number| *number >= 0.0);
        if number.is_none() {
            self.fault(name, "must be a number from 0");
        }
        number
    }

    /// An instant that may be missing.
    pub(crate) fn opt_instant(&mut self, name: &str) -> Option<Timestamp> {
        let instant = self.opt_text(name)?.parse().ok();
        if instant.is_none() {
            self.fault(name, "must be an instant such as 2026-01-15T08:00:00Z");
        }
        instant
    }

    /// `true` or `false`; false where it is missing.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        match self.member(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.fault(name, "must be true or false");
                false
            }
        }
    }

    /// An object that may be missing.
    pub(crate) fn opt_object(&mut self, name: &str) -> Option<&'a Object> {
        let object = self.member(name)?.as_object();
        if object.is_none() {
            self.fault(name, "must be an object");
        }
        object
    }

    /// An object that must be there.
    pub(crate) fn object(&mut self, name: &str) -> Option<&'a Object> {
        if self.is_missing(name) {
            self.fault(name, "is required; send an object");
        }
        self.opt_object(name)
    }

    /// A list of at least one and at most `most`, which must be there.
    pub(crate) fn list(&mut self, name: &str, most: usize) -> &'a [Value] {
        let list = self.object.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if list.is_empty() || list.len() > most {
            self.fault(name, format!("must be a list of 1 to {most}"));
            return &[];
        }
        list
    }

    /// A grade that must be there: a number or a text.
    pub(crate) fn grade(&mut self, name: &str) -> String {
        if self.is_missing(name) {
            self.fault(name, "is required");
        }
        self.opt_grade(name).unwrap_or_default()
    }

    /// A grade that may be missing.
    pub(crate) fn opt_grade(&mut self, name: &str) -> Option<String> {
        match grade::read(self.member(name)?) {
            Ok(grade) => Some(grade),
            Err(message) => {
                self.fault(name, message);
                None
            }
        }
    }

    /// Grades, each a number or a text; may be missing.
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

    /// What was read, unless something was wrong. Errors: `Invalid`, with every fault.
    pub(crate) fn done<T>(self, read: T) -> Result<T> {
        if self.faults.is_empty() { Ok(read) } else { Err(Problem::invalid_all(self.faults)) }
    }

    /// The faults so far, for those who read an object within another.
    pub(crate) fn faults(self) -> Vec<Detail> {
        self.faults
    }

    /// Takes over the faults of an object at the path within this one.
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

/// A text that can stand in a record. The error is what is wrong with it.
pub(crate) fn checked(value: &Value) -> Result<&str, String> {
    let Value::String(text) = value else { return Err("must be a string".into()) };
    let most = limits::INPUT_TEXT_MAX_BYTES;
    if text.trim().is_empty() {
        return Err("must not be empty".into());
    }
    if text.len() > most {
        return Err(format!("must have at most {most} bytes"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".into());
    }
    Ok(text)
}
