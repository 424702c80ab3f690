//! References to missing records, which are left out with a warning.

use lyceum_core::{PayloadDialect, Result, message};
use serde_json::Value;

use super::candidate::CandidateRow;
use super::fault::CsvError;
use super::files;
use super::layout::FileLayout;
use super::writing::{CandidateWriter, ReadyRow};
use crate::kind::{FieldType, Presence, RecordKind, ReferenceTarget};
use crate::kinds;
use crate::record::{ModifiedTime, Object, Record, RecordReference, members};

impl CandidateWriter<'_, '_> {
    /// Warns about cells that name a missing record but belong to no field.
    pub(super) fn warn_of_named(&mut self, named: &[DanglingName]) -> Result<()> {
        for (pointer, place) in
            named.iter().filter(|(pointer, _)| !self.exists(pointer)).cloned().collect::<Vec<_>>()
        {
            self.refusals.warn(self.nothing_at(&pointer, place))?;
        }
        Ok(())
    }

    /// Leaves optional references to missing records out of a record, each with a warning.
    pub(super) fn leave_out(
        &mut self,
        layout: &FileLayout,
        one: &mut ReadyRow,
        missing: &[RecordReference],
    ) -> Result<()> {
        let mut object = members(&one.record.body, one.record.extra.as_deref())?;
        for pointer in missing {
            let mut fault = self.missing_fault(layout, &one.candidate, pointer, false);
            fault.problem = message!("{fault.problem}; the reference is left out");
            self.refusals.warn(fault)?;
            drop_reference(&mut object, field_of(pointer), &pointer.sourced_id);
        }
        let stamp = ModifiedTime::Now(layout.now);
        let record = Record::parse(layout.file.kind, &object, PayloadDialect::Platform, stamp)?;
        let source_modified = one.record.source_modified.take();
        one.record = Record { source_modified, ..record };
        Ok(())
    }
}

/// A record named by a cell that belongs to no field, and the cell.
pub(super) type DanglingName = (RecordReference, CsvError);

pub(super) fn named_and_not_kept(
    layout: &FileLayout,
    candidate: &CandidateRow,
) -> Vec<DanglingName> {
    let mut named = Vec::new();
    for (name, header, kind) in files::NAMED_AND_NOT_KEPT {
        let mut add = |line: u64, cell: &str| {
            if !cell.is_empty()
                && let Some(kind) = kinds::by_name(kind)
            {
                let (path, sourced_id) = (String::new(), cell.to_owned());
                let place = CsvError::of_row(&format!("{name}.csv"), line, "", "").at(header, cell);
                named.push((
                    RecordReference { path, kind, sourced_id, target: ReferenceTarget::Any },
                    place,
                ));
            }
        };
        let place = layout.header.names.iter().position(|it| it.trim() == *header);
        if let (true, Some(at)) = (layout.file.name == *name, place) {
            add(candidate.row.line, candidate.row.text(at).unwrap_or_default());
        }
        for row in &candidate.parts {
            let file = layout.parts[row.of].0;
            if file.name == *name {
                add(row.line, row.cell(file, header));
            }
        }
    }
    named
}

/// The field of a record that contains a reference.
pub(super) fn field_of(pointer: &RecordReference) -> &str {
    let inner = pointer.path.split_once('.').map_or("", |(_, inner)| inner);
    inner.split(['.', '[']).next().unwrap_or_default()
}

/// Whether the record is valid without the reference.
pub(super) fn may_be_left_out(kind: &RecordKind, pointer: &RecordReference) -> bool {
    kind.field(field_of(pointer)).is_some_and(|field| {
        matches!(field.ty, FieldType::Reference(_) | FieldType::References(_))
            && matches!(field.presence, Presence::Optional | Presence::Nullable)
    })
}

fn drop_reference(object: &mut Object, field: &str, id: &str) {
    let is_it = |value: &Value| value["sourcedId"] == id;
    let is_empty = match object.get_mut(field) {
        Some(Value::Array(members)) => {
            members.retain(|member| !is_it(member));
            members.is_empty()
        }
        Some(value) => is_it(value),
        None => false,
    };
    if is_empty {
        object.remove(field);
    }
}
