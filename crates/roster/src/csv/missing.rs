//! References of rows to records that do not exist, and why.

use lyceum_core::{Result, message};

use super::candidate::{CandidateRow, csv};
use super::fault::CsvError;
use super::files;
use super::layout::FileLayout;
use super::writing::{CandidateWriter, header_of};
use crate::kind::RecordKind;
use crate::record::{Record, RecordReference};
use crate::repository;

/// Why a record does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingCause {
    /// Neither the import nor the store has it.
    Unknown,
    /// Its row is rejected; whether that only follows from a file that cannot be read.
    Rejected { is_consequence: bool },
    /// The file of its kind cannot be read.
    Unread,
}

impl MissingCause {
    /// Completes the error of a cell that refers to the record.
    pub(super) fn describe(self, kind: &RecordKind, id: &str, cell: CsvError) -> CsvError {
        let (one, file) = (kind.one, csv(files::of_kind(kind)));
        let (problem, remedy) = match self {
            Self::Rejected { .. } => (
                message!("the row of the {one} '{id}' in {file} is rejected"),
                message!("fix that row of {file}"),
            ),
            Self::Unread => (message!("{file} cannot be read"), message!("fix {file}")),
            Self::Unknown => (
                message!(
                    "there is no {one} with the sourcedId '{id}', neither in the import nor in the \
                     store"
                ),
                message!("add the {one} to {file}, or fix the cell"),
            ),
        };
        let is_consequence = matches!(self, Self::Unread | Self::Rejected { is_consequence: true });
        CsvError { problem, remedy, is_consequence, ..cell }
    }
}

impl CandidateWriter<'_, '_> {
    /// The references to other kinds whose targets are missing.
    pub(super) fn missing_others(&self, record: &Record) -> Vec<RecordReference> {
        let others = record.references.iter().filter(|one| one.kind.one != record.kind.one);
        others.filter(|one| !self.exists(one)).cloned().collect()
    }

    /// The references to its own kind whose targets do not exist yet.
    pub(super) fn unresolved(&self, record: &Record) -> Vec<RecordReference> {
        let own = record
            .references
            .iter()
            .filter(|one| one.kind.one == record.kind.one && one.sourced_id != record.sourced_id);
        own.filter(|one| !self.exists(one)).cloned().collect()
    }

    pub(super) fn missing_own(&mut self, record: &Record) -> Result<Vec<RecordReference>> {
        let own = self.unresolved(record);
        Ok(repository::missing(self.tx, own.iter())?.into_iter().cloned().collect())
    }

    pub(super) fn exists(&self, pointer: &RecordReference) -> bool {
        self.known.has(self.known.hash(pointer.kind.one, &pointer.sourced_id))
    }

    pub(super) fn missing_fault(
        &self,
        layout: &FileLayout,
        candidate: &CandidateRow,
        pointer: &RecordReference,
        waits: bool,
    ) -> CsvError {
        let cell = layout
            .fault(candidate.row.line, "".into(), "".into())
            .at(&header_of(layout, pointer), &pointer.sourced_id);
        if !waits {
            return self.nothing_at(pointer, cell);
        }
        let problem = message!(
            "the {pointer.kind.one} '{pointer.sourced_id}' is rejected itself, or the two are parents of each other"
        );
        let remedy =
            "fix the row of the other record, or write another sourcedId in this cell".into();
        CsvError { problem, remedy, ..cell }
    }

    /// The error of a cell that refers to a missing record.
    pub(super) fn nothing_at(&self, pointer: &RecordReference, cell: CsvError) -> CsvError {
        let (kind, id) = (pointer.kind, &pointer.sourced_id);
        self.missing_cause(kind, id).describe(kind, id, cell)
    }

    pub(super) fn missing_cause(&self, kind: &RecordKind, id: &str) -> MissingCause {
        match self.refused.get(&self.known.hash(kind.one, id)) {
            Some(is_consequence) => MissingCause::Rejected { is_consequence: *is_consequence },
            None if self.unread.contains(kind.one) => MissingCause::Unread,
            None => MissingCause::Unknown,
        }
    }
}
