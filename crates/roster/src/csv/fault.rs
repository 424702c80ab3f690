//! Errors in a file, with the place and with what its owner must correct.

use serde::Serialize;

/// One fault in one cell, row or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file, such as `users.csv`.
    pub file: String,
    /// The line on which the row begins, from 1; the header is line 1. 0 where the file as a
    /// whole is meant.
    pub line: u64,
    /// The column, as the header names it; empty where the row as a whole is meant.
    pub column: String,
    /// The value in the cell.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    pub mend: String,
}

impl Fault {
    /// A fault of a whole row or, with line 0, of a whole file.
    pub fn of_row(
        file: &str,
        line: u64,
        problem: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            line,
            column: String::new(),
            value: String::new(),
            problem: problem.into(),
            mend: mend.into(),
        }
    }

    /// The same fault, in that column and of that value.
    #[must_use]
    pub fn at(mut self, column: &str, value: &str) -> Self {
        self.column = column.into();
        self.value = value.chars().take(200).collect();
        self
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, " line {}", self.line)?;
        }
        if !self.column.is_empty() {
            write!(f, ", {} '{}'", self.column, self.value)?;
        }
        write!(f, ": {}; {}", self.problem, self.mend)
    }
}
