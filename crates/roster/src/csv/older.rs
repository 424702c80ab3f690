//! Rows that are older than the record that is stored.

use std::collections::HashMap;

use lyceum_core::{Result, message};

use super::files;
use super::layout::FileLayout;
use super::row_notes::RowOutcome;
use super::writing::{CandidateWriter, ReadyRow};
use crate::record::StoredRecord;
use crate::repository::{self};

impl CandidateWriter<'_, '_> {
    /// Leaves out the rows whose record changed later than they say, each with a warning.
    pub(super) fn without_older(
        &mut self,
        layout: &FileLayout,
        rows: Vec<ReadyRow>,
        stored: &HashMap<String, StoredRecord>,
    ) -> Result<Vec<ReadyRow>> {
        let kind = layout.file.kind;
        let is_dated = |one: &&ReadyRow| {
            one.record.source_modified.is_some() && stored.contains_key(&one.record.sourced_id)
        };
        let dated: Vec<&str> =
            rows.iter().filter(is_dated).map(|one| one.record.sourced_id.as_str()).collect();
        if dated.is_empty() {
            return Ok(rows);
        }
        let times = repository::source_times(self.tx, kind, &dated)?;
        let mut kept = Vec::with_capacity(rows.len());
        for one in rows {
            let (id, line) = (&one.record.sourced_id, one.candidate.row.line);
            match (times.get(id), &one.record.source_modified) {
                (Some(stored), Some(sent)) if sent < stored => {
                    let kind = kind.one;
                    let problem = message!(
                        "the stored {kind} '{id}' changed later, at {stored}; the row is skipped"
                    );
                    let remedy = "export the file again, or leave dateLastModified empty".into();
                    self.refusals
                        .warn(layout.fault(line, problem, remedy).at("dateLastModified", sent))?;
                    self.refusals.report.of(layout.file.name, layout.mode).older += 1;
                    self.refusals.notes.add(layout.file.name, line, id, RowOutcome::Older)?;
                    if files::is_referred_to(layout.file.kind) {
                        self.known.add(self.known.hash(kind, id));
                    }
                }
                _ => kept.push(one),
            }
        }
        Ok(kept)
    }
}
