//! The report of an import, and the file with rejected rows.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::absent::FileCoverage;
use super::candidate::RejectedRow;
use super::fault::CsvError;
use super::header::{CsvHeader, HeaderErrors};
use super::manifest::FileMode;
use super::row_notes::{RowNotes, RowOutcome};
use crate::limits::IMPORT_MAX_REPORTED_FAULTS;
use crate::record::Record;

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
    /// Notices although nothing is wrong: records that are not in a complete file, and restored ones.
    pub notices: Vec<CsvError>,
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
    /// Number of records that were deleted and are active again. They do not count as changed.
    #[serde(default)]
    pub restored: u64,
    /// The first and the last day on which the restored records were deleted.
    #[serde(default)]
    pub restored_were_deleted: Option<(String, String)>,
    /// Number of records with the same values as before.
    pub unchanged: u64,
    /// Number of records that are now marked as deleted, by a row or because a complete file does not contain them.
    pub deleted: u64,
    /// Number of rows that were skipped because the stored record changed later.
    #[serde(default)]
    pub older: u64,
    /// Number of rejected rows.
    pub rejected: u64,
    /// The stored records that the file contains. `None` if it is a delta, cannot be read or has the first records of
    /// its kind, and for files with parts of records.
    #[serde(default)]
    pub coverage: Option<FileCoverage>,
}

impl FileReport {
    /// Notes the day on which a restored record was deleted.
    pub(super) fn note_restored(&mut self, former: &Record) {
        let day = former.date_last_modified.date().to_string();
        let (first, last) = self.restored_were_deleted.get_or_insert((day.clone(), day.clone()));
        if day < *first {
            *first = day;
        } else if day > *last {
            *last = day;
        }
    }

    /// The notice about restored records.
    fn restored_notice(&self) -> Option<CsvError> {
        let (first, last) = self.restored_were_deleted.as_ref()?;
        let count = self.restored;
        let problem = match (count, first == last) {
            (1, _) => message!("1 record is restored, which was deleted on {first}"),
            (_, true) => message!("{count} records are restored, which were deleted on {first}"),
            _ => message!(
                "{count} records are restored, which were deleted between {first} and {last}"
            ),
        };
        let remedy = "remove their rows if they must stay deleted";
        Some(CsvError::of_row(&format!("{}.csv", self.file), 0, problem, remedy))
    }
}

impl CsvReport {
    /// The number of rows of all files.
    pub fn row_count(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// The report for programs, which read English texts.
    pub fn in_english(&mut self) {
        for error in self.faults.iter_mut().chain(&mut self.warnings).chain(&mut self.notices) {
            error.problem = Message::untranslated(error.problem.to_string());
            error.remedy = Message::untranslated(error.remedy.to_string());
        }
    }

    /// The number of rejected rows of all files.
    pub fn rejected_count(&self) -> u64 {
        self.files.iter().map(|file| file.rejected).sum()
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
                restored: 0,
                restored_were_deleted: None,
                unchanged: 0,
                deleted: 0,
                older: 0,
                rejected: 0,
                coverage: None,
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
        self.reject(name, line)?;
        let mut row = csv::Writer::from_writer(Vec::new());
        row.write_record(&refusal.cells).map_err(Problem::internal)?;
        let row = row.into_inner().map_err(|e| Problem::internal(e.to_string()))?;
        let row = String::from_utf8_lossy(&row);
        refusal.faults.into_iter().try_for_each(|fault| self.note(fault, row.trim_end()))
    }

    /// Counts a row as rejected. A row with several errors counts once.
    pub(super) fn reject(&mut self, file: &str, line: u64) -> Result<()> {
        if let Some(report) = self.report.files.iter_mut().find(|one| one.file == file)
            && (self.last.0 != file || self.last.1 != line)
        {
            report.rejected += 1;
            self.notes.add(file, line, "", RowOutcome::Rejected)?;
            self.last = (file.to_owned(), line);
        }
        Ok(())
    }

    /// Reports the errors of a header. If the rows of the file are not read, all of them count as rejected.
    pub(super) fn add_header(
        &mut self,
        (file, mode): (&str, FileMode),
        header: &CsvHeader,
        HeaderErrors { faults, warnings, unread_rows }: HeaderErrors,
    ) -> Result<()> {
        warnings.into_iter().try_for_each(|warning| self.warn(warning))?;
        if !faults.is_empty() {
            self.add(RejectedRow { faults, cells: header.names.clone() })?;
        }
        if !header.is_usable {
            let report = self.report.of(file, mode);
            report.rows = unread_rows;
            report.rejected = unread_rows;
        }
        Ok(())
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

    /// Records an error of a row, or of a whole file.
    pub(super) fn note(&mut self, fault: CsvError, row: &str) -> Result<()> {
        self.write(&fault, row)?;
        if fault.is_consequence {
            return Ok(());
        }
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
                message!(
                    "the rejected rows cannot be written to '{path}': {error}",
                    path = path.display()
                ),
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
            &fault.problem.to_string(),
            &fault.remedy.to_string(),
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
        let restored: Vec<CsvError> =
            self.report.files.iter().filter_map(FileReport::restored_notice).collect();
        self.report.notices.extend(restored);
        Ok(self.report)
    }
}
