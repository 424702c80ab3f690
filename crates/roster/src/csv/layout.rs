//! The layout of a file of records, known before its first row.

use lyceum_core::Message;
use lyceum_core::time::Timestamp;

use super::candidate::csv;
use super::fault::CsvError;
use super::files::{self, COMMON, CsvFile, JoinedFile};
use super::header::{ColumnUse, CsvHeader};
use super::manifest::FileMode;

/// The layout of a file of records, known before its first row.
#[derive(Clone)]
pub(super) struct FileLayout {
    pub(super) file: &'static CsvFile,
    pub(super) mode: FileMode,
    pub(super) header: CsvHeader,
    /// The files in the package that have parts of its records.
    pub(super) parts: Vec<(&'static CsvFile, &'static JoinedFile, FileMode)>,
    /// The files with parts of its records that cannot be read.
    pub(super) unread: Vec<&'static CsvFile>,
    pub(super) now: Timestamp,
    /// Whether everything that the binding forbids is an error.
    pub(super) is_strict: bool,
}

impl FileLayout {
    /// The layout for parts of records for which the package has no row.
    pub(super) fn of_parts(
        file: &'static CsvFile,
        parts: Vec<(&'static CsvFile, &'static JoinedFile, FileMode)>,
        now: Timestamp,
    ) -> Self {
        let header = CsvHeader::unusable();
        let unread = Vec::new();
        Self { file, mode: FileMode::Delta, header, parts, unread, now, is_strict: false }
    }

    /// Whether rows can be checked without stored records.
    pub(super) fn stands_alone(&self) -> bool {
        self.mode == FileMode::Bulk && self.parts.iter().all(|(_, _, mode)| *mode == FileMode::Bulk)
    }

    pub(super) fn fault(&self, line: u64, problem: Message, remedy: Message) -> CsvError {
        CsvError::of_row(&csv(self.file), line, problem, remedy)
    }

    /// Whether the package has all values of the field.
    pub(super) fn covers(&self, field: &str) -> bool {
        self.header.covers(field)
            || self
                .parts
                .iter()
                .any(|(_, part, mode)| *mode == FileMode::Bulk && part.field == field)
    }

    /// The column in which to look for an error of the field.
    pub(super) fn header_of(&self, field: &str, inner: &str) -> String {
        let of_field = |one: &ColumnUse| match one {
            ColumnUse::Field(found) => found.name == field,
            ColumnUse::FormerOrgs => field == "roles" && inner.contains(".org"),
            ColumnUse::FormerRole => field == "roles" && !inner.contains(".org"),
            _ => false,
        };
        match self.header.place(of_field) {
            Some(at) => self.header.names[at].clone(),
            None if COMMON.contains(&field) => field.to_owned(),
            None if field.is_empty() => String::new(),
            None => match self.file.header_of(field) {
                Some(header) => header.to_owned(),
                None => files::EXTRA.to_owned(),
            },
        }
    }
}
