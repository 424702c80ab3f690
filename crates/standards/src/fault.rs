//! Faults of what was sent, all of them at once.

use std::fmt::Display;

use lyceum_core::{Detail, Message, Problem, Result};

use crate::limits;

/// The faults so far, up to the number that is reported.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Detail>);

impl Faults {
    pub(crate) fn add(&mut self, path: impl Display, message: impl Into<Message>) {
        if self.0.len() < limits::CASE_REPORTED_MAX_FAULTS {
            self.0.push(Detail { path: path.to_string(), message: message.into() });
        }
    }

    /// Errors: `Invalid` with the faults, if there are any.
    pub(crate) fn refuse(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::invalid_all(self.0)) }
    }
}

/// A place in what was sent: a record, and a way into it.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The record of a package, or what was sent.
    Record(&'a str, Option<usize>),
    /// A member of it.
    Member(&'a Path<'a>, &'a str),
    /// A member of a list.
    At(&'a Path<'a>, usize),
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Record(list, Some(index)) => write!(f, "{list}[{index}]"),
            Self::Record(name, None) => f.write_str(name),
            Self::Member(of, name) => write!(f, "{of}.{name}"),
            Self::At(of, index) => write!(f, "{of}[{index}]"),
        }
    }
}
