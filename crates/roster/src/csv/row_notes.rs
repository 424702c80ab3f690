//! Writes the outcome of each row of an import to a file.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use lyceum_core::{Problem, Result};
use serde::{Deserialize, Serialize};

use crate::limits::IMPORT_NOTED_MAX_ROWS;

/// The outcome of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowOutcome {
    /// The record is new.
    Created,
    /// The record changed.
    Updated,
    /// The record was deleted and is active again.
    Restored,
    /// The record has the same values as before.
    Unchanged,
    /// The record is now marked as deleted.
    Deleted,
    /// The stored record changed later, so the row was skipped.
    Older,
    /// The row was rejected.
    Rejected,
    /// It is a part of a record that has its own row.
    Part,
    /// It deletes a record that does not exist.
    Gone,
}

impl RowOutcome {
    /// All outcomes.
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::Updated,
        Self::Restored,
        Self::Unchanged,
        Self::Deleted,
        Self::Older,
        Self::Rejected,
        Self::Part,
        Self::Gone,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Restored => "restored",
            Self::Unchanged => "unchanged",
            Self::Deleted => "deleted",
            Self::Older => "older",
            Self::Rejected => "rejected",
            Self::Part => "part",
            Self::Gone => "gone",
        }
    }
}

/// A row with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedRow {
    /// Its file without `.csv`.
    pub file: String,
    /// The line on which it begins; 0 if the record has only parts in other files, or ends because it is in no row.
    pub line: u64,
    /// The `sourcedId` of the record or part; empty if the row was rejected.
    pub id: String,
    /// Its outcome.
    pub came: RowOutcome,
}

/// The rows of a file with their outcomes, by line: the first `IMPORT_NOTED_MAX_ROWS` of each outcome. Errors:
/// `Internal` if the file does not contain outcomes of rows.
pub fn notes_of_file(notes: &[u8], file: &str) -> Result<Vec<NotedRow>> {
    let all = csv::Reader::from_reader(notes).into_deserialize::<NotedRow>();
    let is_wanted = |row: &NotedRow| row.file == file;
    let all: Result<Vec<NotedRow>, csv::Error> =
        all.filter(|row| row.as_ref().map_or(true, is_wanted)).collect();
    let mut rows = all.map_err(Problem::internal)?;
    let is_refused = |row: &NotedRow| row.came == RowOutcome::Rejected;
    let refused: HashSet<u64> =
        rows.iter().filter(|row| is_refused(row)).map(|row| row.line).collect();
    // A part is noted when it is read, and may be rejected later with its record.
    rows.retain(|row| row.came != RowOutcome::Part || !refused.contains(&row.line));
    rows.sort_by_key(|row| row.line);
    Ok(rows)
}

/// Writes the outcomes if they were requested.
#[derive(Default)]
pub(super) struct RowNotes {
    out: Option<csv::Writer<BufWriter<File>>>,
    counts: HashMap<(String, RowOutcome), i64>,
}

impl RowNotes {
    pub(super) fn new(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let file = File::create(path).map_err(Problem::internal)?;
        let mut out = csv::Writer::from_writer(BufWriter::new(file));
        out.write_record(["file", "line", "id", "came"]).map_err(Problem::internal)?;
        Ok(Self { out: Some(out), ..Self::default() })
    }

    pub(super) fn add(&mut self, file: &str, line: u64, id: &str, came: RowOutcome) -> Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let count = self.counts.entry((file.to_owned(), came)).or_default();
        *count += 1;
        if *count > IMPORT_NOTED_MAX_ROWS {
            return Ok(());
        }
        out.serialize((file, line, id, came)).map_err(Problem::internal)
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<()> {
        self.out.map_or(Ok(()), |mut out| out.flush().map_err(Problem::internal))
    }
}
