//! The report of an import, and the file with rejected rows.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, ProblemKind, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::RejectedRow;
use super::fault::CsvError;
use super::manifest::FileMode;
use super::row_notes::{RowNotes, RowOutcome};
use crate::limits::IMPORT_MAX_REPORTED_FAULTS;

/// The report of an import, also as it is stored.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CsvReport {
    /// Whether anything was stored.
    pub committed: bool,
    /// The files, in the order in which they were read.
    pub files: Vec<FileReport>,
    /// The first errors, up to `IMPORT_MAX_REPORTED_FAULTS`.
    pub faults: Vec<CsvError>,
    /// The number of errors.
    pub fault_count: u64,
    /// The first warnings about values that were not read or were left out, up to `IMPORT_MAX_REPORTED_FAULTS`.
    pub warnings: Vec<CsvError>,
    /// The number of warnings.
    pub warning_count: u64,
    /// The file with rejected rows, if there are any.
    pub rejects: Option<PathBuf>,
    /// Files in the package that were not read.
    pub ignored: Vec<String>,
}

/// The outcomes of one file's rows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImportedFile")]
pub struct FileReport {
    /// Its name without `.csv`.
    pub file: String,
    /// Its mode in the manifest.
    pub mode: FileMode,
    /// Number of rows, without the header.
    pub rows: u64,
    /// Number of new records.
    pub created: u64,
    /// Number of changed records.
    pub updated: u64,
    /// Number of records with the same values as before.
    pub unchanged: u64,
    /// Number of records that are now marked as deleted.
    pub deleted: u64,
    /// Number of rows that were skipped because the stored record changed later.
    #[serde(default)]
    pub older: u64,
    /// Number of rejected rows.
    pub rejected: u64,
}

impl CsvReport {
    /// The number of rows of all files.
    pub fn row_count(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// The report of a file. Begins one if there is none yet.
    pub(super) fn of(&mut self, file: &str, mode: FileMode) -> &mut FileReport {
        let at = self.files.iter().position(|one| one.file == file).unwrap_or_else(|| {
            self.files.push(FileReport {
                file: file.to_owned(),
                mode,
                rows: 0,
                created: 0,
                updated: 0,
                unchanged: 0,
                deleted: 0,
                older: 0,
                rejected: 0,
            });
            self.files.len() - 1
        });
        &mut self.files[at]
    }
}

/// Collects rejected rows for the report, and writes them to a CSV file if the import continues without them.
pub(super) struct RejectedRows {
    pub(super) report: CsvReport,
    /// Whether warnings are errors.
    is_strict: bool,
    path: Option<PathBuf>,
    out: Option<csv::Writer<BufWriter<File>>>,
    pub(super) notes: RowNotes,
    /// File and line of the row that was rejected last, because a row with two errors is rejected only once.
    last: (String, u64),
}

impl RejectedRows {
    /// Collects rejected rows, and writes them to `path` if it is given.
    pub(super) fn new(path: Option<&Path>, notes: RowNotes, is_strict: bool) -> Self {
        Self {
            report: CsvReport::default(),
            is_strict,
            path: path.map(Path::to_owned),
            out: None,
            notes,
            last: Default::default(),
        }
    }

    /// Whether the import continues without the rejected rows.
    pub(super) fn go_on(&self) -> bool {
        self.path.is_some()
    }

    pub(super) fn add(&mut self, refusal: RejectedRow) -> Result<()> {
        let (file, line) =
            refusal.faults.first().map_or(("", 0), |fault| (fault.file.as_str(), fault.line));
        let name = file.trim_end_matches(".csv");
        if let Some(report) = self.report.files.iter_mut().find(|one| one.file == name)
            && (self.last.0 != file || self.last.1 != line)
        {
            report.rejected += 1;
            self.notes.add(name, line, "", RowOutcome::Rejected)?;
            self.last = (file.to_owned(), line);
        }
        let mut row = csv::Writer::from_writer(Vec::new());
        row.write_record(&refusal.cells).map_err(Problem::internal)?;
        let row = row.into_inner().map_err(|e| Problem::internal(e.to_string()))?;
        let row = String::from_utf8_lossy(&row);
        refusal.faults.into_iter().try_for_each(|fault| self.note(fault, row.trim_end()))
    }

    /// Records a warning. The import continues unless it is strict.
    pub(super) fn warn(&mut self, fault: CsvError) -> Result<()> {
        if self.is_strict {
            return self.note(fault, "");
        }
        self.report.warning_count += 1;
        if self.report.warnings.len() < IMPORT_MAX_REPORTED_FAULTS {
            self.report.warnings.push(fault);
        }
        Ok(())
    }

    fn note(&mut self, fault: CsvError, row: &str) -> Result<()> {
        self.write(&fault, row)?;
        self.report.fault_count += 1;
        if self.report.faults.len() < IMPORT_MAX_REPORTED_FAULTS {
            self.report.faults.push(fault);
        }
        Ok(())
    }

    fn write(&mut self, fault: &CsvError, row: &str) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let unwritable = |error: &dyn std::fmt::Display| {
            Problem::new(
                ProblemKind::Invalid,
                format!("the rejected rows cannot be written to '{}': {error}", path.display()),
            )
        };
        let out = match &mut self.out {
            Some(out) => out,
            none => {
                let file = File::create(path).map_err(|e| unwritable(&e))?;
                let mut out = csv::Writer::from_writer(BufWriter::new(file));
                out.write_record(["file", "line", "column", "value", "problem", "remedy", "row"])
                    .map_err(|e| unwritable(&e))?;
                self.report.rejects = Some(path.clone());
                none.insert(out)
            }
        };
        let line = fault.line.to_string();
        out.write_record([
            &fault.file,
            &line,
            &fault.column,
            &fault.value,
            &fault.problem,
            &fault.remedy,
            row,
        ])
        .map_err(|e| unwritable(&e))
    }

    /// Completes the file with rejected rows.
    pub(super) fn finish(mut self) -> Result<CsvReport> {
        if let Some(mut out) = self.out.take() {
            out.flush().map_err(Problem::internal)?;
        }
        self.notes.finish()?;
        Ok(self.report)
    }
}
