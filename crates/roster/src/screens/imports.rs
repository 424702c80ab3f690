//! Imports: the report of one, and the outcome of each row.

use std::collections::HashMap;

use lyceum_core::{Message, Result};
use serde::Deserialize;

use crate::csv::{self, CsvReport, NotedRow, RowOutcome};
use crate::imports::Import;

/// The report of an import; `None` until it was checked.
pub fn report(import: &Import) -> Option<CsvReport> {
    CsvReport::deserialize(import.report.as_ref()?).ok()
}

/// A row of a file, what came of it, and why it was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRow {
    /// The row.
    pub row: NotedRow,
    /// Its first error. `None` for other outcomes, and if the report does not contain the error.
    pub problem: Option<Message>,
}

/// The rows of one file of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowList {
    /// The outcomes that any row of the file has.
    pub outcomes: Vec<RowOutcome>,
    /// The rows with the outcome that is asked for, or all rows that the file has.
    pub rows: Vec<ListedRow>,
}

/// Reads the rows of a file from the notes of its import. An empty outcome means all. Errors: `Internal` for bytes
/// that are not such notes.
pub fn rows(import: &Import, notes: &[u8], file: &str, outcome: &str) -> Result<RowList> {
    let all = csv::notes_of_file(notes, file)?;
    let outcomes: Vec<RowOutcome> = RowOutcome::ALL
        .into_iter()
        .filter(|came| all.iter().any(|row| row.came == *came))
        .collect();
    let name = format!("{file}.csv");
    let faults = report(import).unwrap_or_default().faults;
    let of_file = faults.into_iter().filter(|error| error.file == name);
    let mut problems: HashMap<u64, Message> = HashMap::new();
    for error in of_file {
        problems.entry(error.line).or_insert(error.problem);
    }
    // Line 1 is the header, and a record whose parts are all in other files has no line here.
    let is_listed = |row: &NotedRow| match outcome {
        "" => row.line > 1,
        outcome => row.came.name() == outcome,
    };
    let rows = all.into_iter().filter(is_listed).map(|row| ListedRow {
        problem: match row.came {
            RowOutcome::Rejected => problems.get(&row.line).cloned(),
            _ => None,
        },
        row,
    });
    Ok(RowList { outcomes, rows: rows.collect() })
}
