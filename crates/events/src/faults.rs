//! Collects the errors in an envelope, each with its place.

use std::fmt::Write;

use lyceum_core::{Detail, Message, Problem, ProblemKind, message};

use crate::limits::EVENT_MAX_REPORTED_FAULTS;

/// Errors in the order of the envelope up to a limit, and the place that is being checked.
#[derive(Default)]
pub(crate) struct EnvelopeErrors {
    place: String,
    found: Vec<Detail>,
    further: usize,
}

impl EnvelopeErrors {
    /// Adds an error at the current place.
    pub(crate) fn here(&mut self, message: impl Into<Message>) {
        if self.found.len() < EVENT_MAX_REPORTED_FAULTS {
            self.found.push(Detail { path: self.place.clone(), message: message.into() });
        } else {
            self.further += 1;
        }
    }

    /// Adds an error at a member.
    pub(crate) fn at(&mut self, member: &str, message: impl Into<Message>) {
        self.inside(member, |faults| faults.here(message));
    }

    /// Checks a member.
    pub(crate) fn inside<T>(&mut self, member: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.place.len();
        if length > 0 {
            self.place.push('.');
        }
        self.place.push_str(member);
        let result = check(self);
        self.place.truncate(length);
        result
    }

    /// Checks an item of a list.
    pub(crate) fn item<T>(&mut self, index: usize, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.place.len();
        let _ = write!(self.place, "[{index}]");
        let result = check(self);
        self.place.truncate(length);
        result
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The problem with all errors; `None` if there are no errors.
    pub(crate) fn problem(self) -> Option<Problem> {
        let first = self.found.first()?.text();
        let message = match self.found.len() + self.further - 1 {
            0 => first,
            n => message!("{first} (and {n} more)"),
        };
        Some(Problem { details: self.found, ..Problem::new(ProblemKind::Malformed, message) })
    }
}
