//! Rows that an import with a limit refuses, because they would change what lies outside of the reach.
//! A row that leaves its record as it is passes: files contain the terms and courses that belong to all.

use std::collections::HashMap;

use lyceum_core::{Message, Problem, Result, message};

use super::candidate::CandidateRow;
use super::fault::CsvError;
use super::layout::FileLayout;
use super::writing::{CandidateWriter, header_of};
use crate::kind::RecordKind;
use crate::reach;
use crate::record::{Record, StoredRecord};

impl CandidateWriter<'_, '_> {
    /// The records that the reach refuses, by sourcedId. A record that stays as it is stored is accepted, so that a
    /// file can contain the terms and courses to which its rows refer.
    pub(super) fn outside(
        &mut self,
        kind: &'static RecordKind,
        records: &[(&Record, Option<&StoredRecord>)],
    ) -> Result<HashMap<String, Problem>> {
        let is_changed = |(record, stored): &(&Record, Option<&StoredRecord>)| {
            stored.is_none_or(|stored| !record.same_as(&stored.body, stored.extra.as_deref()))
        };
        let changed: Vec<_> = records.iter().copied().filter(is_changed).collect();
        let refused = reach::refused(self.tx, kind, &changed, self.reach)?.into_iter();
        Ok(refused.map(|(id, problem)| (id.to_owned(), problem)).collect())
    }

    /// Reports the row of a record that the reach refuses. All references exist, so a missing one lies outside.
    pub(super) fn blame_place(
        &self,
        layout: &FileLayout,
        candidate: &mut CandidateRow,
        record: &Record,
        problem: &Problem,
    ) {
        let (reach, line) = (self.reach, candidate.row.line);
        let fault = |problem: Message, header: &str, value: &str| {
            let remedy = "remove the row, or import it without the limit to organizations";
            layout.fault(line, problem, remedy.into()).at(header, value)
        };
        let unseen = problem.details.iter().filter_map(|detail| {
            let pointer = record.references.iter().find(|one| one.path == detail.path)?;
            let problem = message!("the {pointer.kind.one} does not belong to {reach}");
            Some(fault(problem, &header_of(layout, pointer), &pointer.sourced_id))
        });
        let mut faults: Vec<CsvError> = unseen.collect();
        if faults.is_empty() {
            let problem = message!("the {record.kind.one} does not belong only to {reach}");
            faults.push(fault(problem, "sourcedId", &record.sourced_id));
        }
        candidate.refuse(faults);
    }
}
