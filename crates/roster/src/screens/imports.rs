//! Imports: the report of one, and the outcome of each row.

use std::collections::HashMap;

use lyceum_core::Result;
use serde::Deserialize;
use serde_json::Value;

use crate::csv::{self, Came, Noted};
use crate::imports::Import;

/// The report of an import: a [`csv::Report`] as it was stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The files, in the order in which they were read.
    pub files: Vec<FileReport>,
    /// The first errors.
    #[serde(rename = "faults")]
    pub errors: Vec<DataError>,
    /// How many errors there are.
    #[serde(rename = "fault_count")]
    pub error_count: u64,
    /// The first warnings.
    pub warnings: Vec<DataError>,
    /// How many warnings there are.
    pub warning_count: u64,
    /// Files that are not part of OneRoster.
    pub ignored: Vec<String>,
}

/// What came of one file's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FileReport {
    /// Its name without `.csv`.
    pub file: String,
    /// Rows without the header.
    pub rows: u64,
    /// New records.
    pub created: u64,
    /// Records that changed.
    pub updated: u64,
    /// Records that stayed as they were.
    pub unchanged: u64,
    /// Records that are now marked as deleted.
    pub deleted: u64,
    /// Rows that were refused.
    pub rejected: u64,
}

/// An error or a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DataError {
    /// The file, such as `users.csv`.
    pub file: String,
    /// The line, from 1; 0 for a whole file.
    pub line: u64,
    /// The column; empty for a whole row.
    pub column: String,
    /// The value.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    #[serde(rename = "mend")]
    pub fix: String,
}

impl Report {
    /// The report of an import; none until it was checked.
    pub fn of(import: &Import) -> Option<Self> {
        let report: &Value = import.report.as_ref()?;
        Self::deserialize(report).ok()
    }

    /// The rows of all files.
    pub fn row_count(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}

/// A row of a file, what came of it, and why it was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOutcome {
    /// The row.
    pub row: Noted,
    /// Its first error. Empty for other outcomes, and if the report does not contain the error.
    pub problem: String,
}

/// The rows of one file of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The outcomes that any row of the file has.
    pub outcomes: Vec<Came>,
    /// The rows with the outcome that is asked for, or all rows that the file has.
    pub rows: Vec<RowOutcome>,
}

/// Reads the rows of a file from the notes of its import. An empty outcome means all. Errors: `Internal` for bytes
/// that are not such notes.
pub fn rows(import: &Import, notes: &[u8], file: &str, outcome: &str) -> Result<Rows> {
    let all = csv::noted(notes, file)?;
    let outcomes: Vec<Came> =
        Came::ALL.into_iter().filter(|came| all.iter().any(|row| row.came == *came)).collect();
    let name = format!("{file}.csv");
    let report = Report::of(import).unwrap_or_default();
    let of_file = report.errors.into_iter().filter(|error| error.file == name);
    let mut problems: HashMap<u64, String> = HashMap::new();
    for error in of_file {
        problems.entry(error.line).or_insert(error.problem);
    }
    // Line 1 is the header, and a record whose parts are all in other files has no line here.
    let is_listed = |row: &Noted| match outcome {
        "" => row.line > 1,
        outcome => row.came.name() == outcome,
    };
    let rows = all.into_iter().filter(is_listed).map(|row| RowOutcome {
        problem: match row.came {
            Came::Rejected => problems.get(&row.line).cloned().unwrap_or_default(),
            _ => String::new(),
        },
        row,
    });
    Ok(Rows { outcomes, rows: rows.collect() })
}
