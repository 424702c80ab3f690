//! Errors in a file, with the place and what to fix.

use lyceum_core::{Detail, Message, message};
use serde::{Deserialize, Serialize};

/// An error in a cell, row or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvError {
    /// The file, such as `users.csv`.
    pub file: String,
    /// The line on which the row begins, from 1; the header is line 1. 0 for an error of the whole file.
    pub line: u64,
    /// The column, by its header; empty for an error of the whole row.
    pub column: String,
    /// The cell's value.
    pub value: String,
    /// The error.
    #[serde(with = "message::stored")]
    pub problem: Message,
    /// How to fix it.
    #[serde(with = "message::stored")]
    pub remedy: Message,
    /// Whether it only follows from a file that cannot be read. Then that error is reported instead of it.
    #[serde(skip)]
    pub(super) is_consequence: bool,
}

impl CsvError {
    /// An error of a whole row or, with line 0, of a whole file.
    pub fn of_row(
        file: &str,
        line: u64,
        problem: impl Into<Message>,
        remedy: impl Into<Message>,
    ) -> Self {
        Self {
            file: file.into(),
            line,
            column: String::new(),
            value: String::new(),
            problem: problem.into(),
            remedy: remedy.into(),
            is_consequence: false,
        }
    }

    /// The error for a client, with its place in the file as the path.
    pub fn detail(&self) -> Detail {
        let line = if self.line > 0 { format!(" line {}", self.line) } else { String::new() };
        let column = match self.column.as_str() {
            "" => String::new(),
            column => format!(", column {column}"),
        };
        let (problem, remedy) = (&self.problem, &self.remedy);
        let message = match self.value.as_str() {
            "" => message!("{problem}; {remedy}"),
            value => message!("{problem} (got '{value}'); {remedy}"),
        };
        Detail { path: format!("{}{line}{column}", self.file), message }
    }

    /// The same error for a column and value.
    #[must_use]
    pub fn at(mut self, column: &str, value: &str) -> Self {
        self.column = column.into();
        self.value = value.chars().take(200).collect();
        self
    }
}

impl std::fmt::Display for CsvError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, " line {}", self.line)?;
        }
        if !self.column.is_empty() {
            write!(f, ", {} '{}'", self.column, self.value)?;
        }
        write!(f, ": {}; {}", self.problem, self.remedy)
    }
}
