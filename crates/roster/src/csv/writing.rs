//! The writing half of an import: checks references, compares with stored records, and writes.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use super::absent::SeenRecords;
use super::candidate::{CandidateRow, csv};
use super::dangling::{DanglingName, may_be_left_out, named_and_not_kept};
use super::fault::CsvError;
use super::files;
use super::header::HeaderErrors;
use super::layout::FileLayout;
use super::manifest::FileMode;
use super::remembered_ids::RememberedIds;
use super::report::RejectedRows;
use super::row_members::RowMembers;
use super::row_notes::RowOutcome;
use super::waiting::WaitingRows;
use crate::kind::{FieldType, RecordKind};
use crate::record::{Record, RecordReference, Status, StoredRecord, members};
use crate::repository::{self, WriteOutcome};
use crate::rules;

/// Writes candidates, batch by batch, in one transaction.
pub(super) struct CandidateWriter<'w, 'tx> {
    pub(super) tx: &'w mut Tx<'tx>,
    pub(super) refusals: &'w mut RejectedRows,
    pub(super) reach: &'w Reach,
    /// Records that exist.
    pub(super) known: RememberedIds,
    /// Rejected records, and whether that only follows from a file that cannot be read. Errors about references to them
    /// say that they were rejected.
    pub(super) refused: HashMap<u64, bool>,
    /// The kinds whose files cannot be read.
    pub(super) unread: HashSet<&'static str>,
}

/// The state while a file is written.
pub(super) struct FileProgress {
    pub(super) layout: FileLayout,
    row_members: RowMembers,
    /// The ids in the file so far.
    pub(super) seen: RememberedIds,
    /// Rows that refer to records of their own kind which may come later.
    pub(super) waiting: WaitingRows,
    /// The stored records of rows so far, if the file is complete.
    pub(super) seen_records: Option<SeenRecords>,
    /// Whether no record of this kind was stored before the import.
    pub(super) is_new: bool,
}

impl FileProgress {
    pub(super) fn new(layout: FileLayout, is_new: bool) -> Self {
        let waiting = WaitingRows::new(layout.file.kind);
        let row_members = RowMembers::of(&layout);
        let seen = RememberedIds::default();
        Self { layout, row_members, seen, waiting, seen_records: None, is_new }
    }
}

/// A record with its row.
pub(super) struct ReadyRow {
    pub(super) candidate: CandidateRow,
    pub(super) record: Record,
}

impl<'w, 'tx> CandidateWriter<'w, 'tx> {
    pub(super) fn new(
        tx: &'w mut Tx<'tx>,
        refusals: &'w mut RejectedRows,
        reach: &'w Reach,
    ) -> Self {
        let (refused, unread) = (HashMap::new(), HashSet::new());
        Self { tx, refusals, reach, known: RememberedIds::default(), refused, unread }
    }

    /// Begins a file after its header was read.
    pub(super) fn begin(
        &mut self,
        layout: FileLayout,
        errors: HeaderErrors,
        is_new: bool,
    ) -> Result<FileProgress> {
        if !layout.header.is_usable {
            self.unread.insert(layout.file.kind.one);
        }
        self.refusals.add_header((layout.file.name, layout.mode), &layout.header, errors)?;
        let seen_records = self.begin_seen(&layout, is_new)?;
        Ok(FileProgress { seen_records, ..FileProgress::new(layout, is_new) })
    }

    /// Writes a batch of rows. Rows that refer to records which may come later must wait.
    pub(super) fn batch(&mut self, at: &mut FileProgress, rows: Vec<CandidateRow>) -> Result<()> {
        let kind = at.layout.file.kind;
        at.seen.make_room(rows.len());
        let stored = if at.is_new && !at.seen.has_forgotten() {
            HashMap::new()
        } else {
            let ids: Vec<&str> = rows.iter().map(|one| one.id.as_str()).collect();
            repository::present(self.tx, kind, &ids)?
        };
        let has_unnamed_rows = rows.iter().any(|row| row.id.is_empty() && !row.refusals.is_empty());
        self.see(at, &stored, has_unnamed_rows)?;
        let mut ready = Vec::with_capacity(rows.len());
        for mut candidate in rows {
            candidate.warnings.drain(..).try_for_each(|warning| self.refusals.warn(warning))?;
            if candidate.id.is_empty() && candidate.refusals.is_empty() && candidate.row.is_empty()
            {
                continue;
            }
            let before = stored.get(&candidate.id);
            let is_first = at.seen.add(at.seen.hash(kind.one, &candidate.id));
            // If nothing was stored before the import, a stored record must come from this file.
            if !candidate.id.is_empty() && (!is_first || at.is_new && before.is_some()) {
                candidate.refuse(vec![repeated_row_error(&at.layout, &candidate)]);
            }
            complete(&at.layout, &mut candidate, &mut at.row_members, before)?;
            match candidate.record.take() {
                Some(record) => ready.push(ReadyRow { candidate, record }),
                None if candidate.refusals.is_empty() => self.note_gone(&at.layout, &candidate)?,
                None => self.refuse(&at.layout, candidate)?,
            }
        }
        let mut now = Vec::with_capacity(ready.len());
        for one in self.with_references(&at.layout, ready)? {
            match self.unresolved(&one.record) {
                own if own.is_empty() => now.push(one),
                own => {
                    let known = &self.known;
                    at.waiting.add(one, &own, |id| known.hash(kind.one, id))?;
                }
            }
        }
        self.put(&at.layout, now, &stored)
    }

    /// Completes a file: waiting rows are written, or rejected if a needed record never came.
    pub(super) fn end(&mut self, at: &mut FileProgress) -> Result<()> {
        let waiting = std::mem::replace(&mut at.waiting, WaitingRows::new(at.layout.file.kind));
        let kind = at.layout.file.kind;
        let known = &self.known;
        let settled = waiting.settle(self.tx, |id| known.hash(kind.one, id))?;
        let at_layout = at.layout.clone();
        settled.each_accepted(|mut batch: Vec<ReadyRow>, dangling: &[usize]| {
            for at in dangling {
                let missing = self.missing_own(&batch[*at].record)?;
                let waits =
                    |it: &RecordReference| settled.waits(self.known.hash(kind.one, &it.sourced_id));
                let missing: Vec<_> = missing.into_iter().filter(|it| !waits(it)).collect();
                self.leave_out(&at_layout, &mut batch[*at], &missing)?;
            }
            let ids: Vec<&str> = batch.iter().map(|one| one.record.sourced_id.as_str()).collect();
            let stored = repository::present(self.tx, kind, &ids)?;
            self.put(&at.layout, batch, &stored)
        })?;
        settled.each_refused(&mut |one: ReadyRow| {
            let own = self.missing_own(&one.record)?;
            let faults = own.iter().map(|pointer| {
                let waits = settled.waits(self.known.hash(kind.one, &pointer.sourced_id));
                self.missing_fault(&at.layout, &one.candidate, pointer, waits)
            });
            let faults = faults.collect();
            let mut candidate = one.candidate;
            candidate.refuse(faults);
            self.refuse(&at.layout, candidate)
        })
    }

    /// Writes the parts of a record for which the package has no row.
    pub(super) fn parts_alone(
        &mut self,
        layout: &FileLayout,
        mut candidate: CandidateRow,
    ) -> Result<()> {
        let kind = layout.file.kind;
        let Some(stored) = repository::find(self.tx, kind, &candidate.id)? else {
            return self.refuse_parts(layout, candidate);
        };
        complete(layout, &mut candidate, &mut RowMembers::of(layout), Some(&stored))?;
        let Some(record) = candidate.record.take() else {
            return self.refuse(layout, candidate);
        };
        let ready = self.with_references(layout, vec![ReadyRow { candidate, record }])?;
        let present = ready.iter().map(|one| (one.record.sourced_id.clone(), stored.clone()));
        let present = present.collect();
        self.put(layout, ready, &present)
    }

    fn refuse_parts(&mut self, layout: &FileLayout, mut candidate: CandidateRow) -> Result<()> {
        let kind = layout.file.kind;
        while !candidate.parts.is_empty() {
            let last = candidate.parts.len() - 1;
            let (file, row) = candidate.part(layout, last);
            let owner = file.part.as_ref().map_or("", |part| part.owner);
            let cell = CsvError::of_row(&csv(file), row.line, "", "").at(owner, &candidate.id);
            let fault = self.missing_cause(kind, &candidate.id).describe(kind, &candidate.id, cell);
            candidate.refuse_part(layout, last, vec![fault]);
        }
        candidate.refusals.reverse();
        self.refuse_rows(candidate)
    }

    /// The records whose references to other kinds exist. The others are rejected. Parts with references to missing
    /// records are left out and reported.
    fn with_references(
        &mut self,
        layout: &FileLayout,
        mut rows: Vec<ReadyRow>,
    ) -> Result<Vec<ReadyRow>> {
        let named: Vec<Vec<DanglingName>> =
            rows.iter().map(|one| named_and_not_kept(layout, &one.candidate)).collect();
        let named_pointers = named.iter().flatten().map(|(pointer, _)| pointer);
        let references = rows.iter().flat_map(|one| &one.record.references);
        self.learn(references.chain(named_pointers))?;
        let mut good = Vec::with_capacity(rows.len());
        for (mut one, named) in rows.drain(..).zip(named) {
            self.warn_of_named(&named)?;
            one.candidate.mismatches.drain(..).try_for_each(|it| self.refusals.warn(it))?;
            loop {
                let mut missing = self.missing_others(&one.record);
                if !missing.is_empty() {
                    // The set of known ids may have been cleared meanwhile.
                    self.learn(one.record.references.iter())?;
                    missing = self.missing_others(&one.record);
                }
                if missing.is_empty() {
                    self.refuse_rows_of(&mut one.candidate)?;
                    good.push(one);
                    break;
                }
                let is_part =
                    |it: &RecordReference| one.candidate.part_at(layout, &it.path).is_some();
                let (parts, own): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_part);
                let kind = layout.file.kind;
                let required: Vec<_> = own.iter().filter(|it| !may_be_left_out(kind, it)).collect();
                if !required.is_empty() {
                    let faults = required
                        .iter()
                        .map(|pointer| self.missing_fault(layout, &one.candidate, pointer, false))
                        .collect();
                    one.candidate.refuse(faults);
                    self.refuse(layout, one.candidate)?;
                    break;
                }
                if parts.is_empty() {
                    self.leave_out(layout, &mut one, &own)?;
                    continue;
                }
                self.drop_parts(layout, &mut one, &parts)?;
                let Some(record) = one.candidate.record.take() else {
                    self.refuse(layout, one.candidate)?;
                    break;
                };
                one.record = record;
            }
        }
        Ok(good)
    }

    /// Leaves out the parts with references to missing records, and assembles the record again.
    fn drop_parts(
        &mut self,
        layout: &FileLayout,
        one: &mut ReadyRow,
        missing: &[RecordReference],
    ) -> Result<()> {
        let mut faults: Vec<(usize, CsvError)> = Vec::new();
        for pointer in missing {
            let Some((part, header)) = one.candidate.part_at(layout, &pointer.path) else {
                continue;
            };
            let (file, row) = one.candidate.part(layout, part);
            let cell = CsvError::of_row(&csv(file), row.line, "", "");
            faults.push((part, self.nothing_at(pointer, cell.at(header, &pointer.sourced_id))));
        }
        faults.sort_by_key(|(part, _)| std::cmp::Reverse(*part));
        faults.dedup_by_key(|(part, _)| *part);
        for (part, fault) in faults {
            one.candidate.refuse_part(layout, part, vec![fault]);
        }
        let stored = repository::find(self.tx, layout.file.kind, &one.record.sourced_id)?;
        let stored = stored.map(|it| members(&it.body, it.extra.as_deref())).transpose()?;
        let mut row_members = RowMembers::of(layout);
        one.candidate.describe_members(layout, &mut row_members);
        one.candidate.finish(layout, &mut row_members, stored.as_ref());
        Ok(())
    }

    /// Finds out which of the references exist, and remembers those.
    fn learn<'p>(&mut self, pointers: impl Iterator<Item = &'p RecordReference>) -> Result<()> {
        let pointers: Vec<&RecordReference> = pointers.collect();
        self.known.make_room(pointers.len());
        let mut hashes = HashSet::new();
        let unsure: Vec<&RecordReference> = pointers
            .into_iter()
            .filter(|pointer| {
                let hash = self.known.hash(pointer.kind.one, &pointer.sourced_id);
                !self.known.has(hash) && hashes.insert(hash)
            })
            .collect();
        if unsure.is_empty() {
            return Ok(());
        }
        let missing = repository::missing(self.tx, unsure.iter().copied())?;
        let missing: HashSet<u64> = missing
            .iter()
            .map(|pointer| self.known.hash(pointer.kind.one, &pointer.sourced_id))
            .collect();
        for hash in hashes.difference(&missing) {
            self.known.add(*hash);
        }
        Ok(())
    }

    /// Writes records whose references exist.
    fn put(
        &mut self,
        layout: &FileLayout,
        rows: Vec<ReadyRow>,
        stored: &HashMap<String, StoredRecord>,
    ) -> Result<()> {
        let kind = layout.file.kind;
        if !rules::are_checked(kind) && !self.reach.is_limited() {
            return self.put_records(layout, rows, stored);
        }
        // If a row can make the next one wrong, rows are written one by one, because a record must not become its own
        // ancestor.
        let most = if rules::are_ordered(kind) { 1 } else { rows.len().max(1) };
        let mut rows = rows.into_iter();
        loop {
            let mut together: Vec<ReadyRow> = rows.by_ref().take(most).collect();
            if together.is_empty() {
                return Ok(());
            }
            let mut records: Vec<&mut Record> =
                together.iter_mut().map(|one| &mut one.record).collect();
            let mut refused = rules::derive(self.tx, kind, &mut records)?;
            let pairs: Vec<_> = together
                .iter()
                .map(|one| (&one.record, stored.get(&one.record.sourced_id)))
                .collect();
            let broken = rules::refused(self.tx, &pairs)?.into_iter();
            refused.extend(broken.map(|(id, problem)| (id.to_owned(), problem)));
            let outside = self.outside(kind, &pairs)?;
            let (bad, good): (Vec<ReadyRow>, Vec<ReadyRow>) =
                together.into_iter().partition(|one| {
                    let id = &one.record.sourced_id;
                    refused.contains_key(id) || outside.contains_key(id)
                });
            for ReadyRow { mut candidate, record } in bad {
                if let Some(problem) = refused.get(&record.sourced_id) {
                    candidate.blame(layout, &problem.details);
                }
                if let Some(problem) = outside.get(&record.sourced_id) {
                    self.blame_place(layout, &mut candidate, &record, problem);
                }
                self.refuse(layout, candidate)?;
            }
            self.put_records(layout, good, stored)?;
        }
    }

    fn put_records(
        &mut self,
        layout: &FileLayout,
        rows: Vec<ReadyRow>,
        stored: &HashMap<String, StoredRecord>,
    ) -> Result<()> {
        let kind = layout.file.kind;
        let rows = self.without_older(layout, rows, stored)?;
        let (lines, records): (Vec<u64>, Vec<Record>) =
            rows.into_iter().map(|one| (one.candidate.row.line, one.record)).unzip();
        let outcomes = repository::put_among(self.tx, kind, &records, stored)?;
        self.warn_of_usernames(layout, &lines, &records)?;
        let ids: Vec<&str> = records.iter().map(|record| record.sourced_id.as_str()).collect();
        repository::mark_imported(self.tx, kind, &ids)?;
        let is_target = files::is_referred_to(kind);
        let RejectedRows { report, notes, .. } = &mut *self.refusals;
        let report = report.of(layout.file.name, layout.mode);
        for ((line, record), outcome) in lines.into_iter().zip(&records).zip(outcomes) {
            let (count, came) = match (outcome, record.status) {
                (WriteOutcome::Unchanged, _) => (&mut report.unchanged, RowOutcome::Unchanged),
                (_, Status::ToBeDeleted) => (&mut report.deleted, RowOutcome::Deleted),
                (WriteOutcome::Created, _) => (&mut report.created, RowOutcome::Created),
                (WriteOutcome::Updated, _) => match stored.get(&record.sourced_id) {
                    Some(former) if !former.is_active() => {
                        report.note_restored(&record.read_former(former)?);
                        (&mut report.restored, RowOutcome::Restored)
                    }
                    _ => (&mut report.updated, RowOutcome::Updated),
                },
            };
            *count += 1;
            notes.add(layout.file.name, line, &record.sourced_id, came)?;
            if is_target {
                self.known.add(self.known.hash(kind.one, &record.sourced_id));
            }
        }
        Ok(())
    }

    /// Records the outcome of a row that deletes a record which does not exist.
    fn note_gone(&mut self, layout: &FileLayout, candidate: &CandidateRow) -> Result<()> {
        let CandidateRow { row, id, .. } = candidate;
        self.refusals.notes.add(layout.file.name, row.line, id, RowOutcome::Gone)
    }

    /// Reports the errors of a candidate, and remembers that its record is missing.
    pub(super) fn refuse(&mut self, layout: &FileLayout, candidate: CandidateRow) -> Result<()> {
        if !candidate.id.is_empty() {
            let mut faults = candidate.refusals.iter().flat_map(|refusal| &refusal.faults);
            let is_consequence = faults.all(|fault| fault.is_consequence);
            let hash = self.known.hash(layout.file.kind.one, &candidate.id);
            self.refused.insert(hash, is_consequence);
        }
        for part in &candidate.parts {
            self.refusals.reject(layout.parts[part.of].0.name, part.line)?;
        }
        self.refuse_rows(candidate)
    }

    fn refuse_rows(&mut self, mut candidate: CandidateRow) -> Result<()> {
        self.refuse_rows_of(&mut candidate)
    }

    fn refuse_rows_of(&mut self, candidate: &mut CandidateRow) -> Result<()> {
        candidate.refusals.drain(..).try_for_each(|refusal| self.refusals.add(refusal))
    }
}

/// The header of the cell with the reference.
pub(super) fn header_of(layout: &FileLayout, pointer: &RecordReference) -> String {
    let inner = pointer.path.split_once('.').map_or("", |(_, inner)| inner);
    let field = inner.split(['.', '[']).next().unwrap_or_default();
    layout.header_of(field, inner)
}

/// The field with the parent record.
pub(super) fn parent_field(kind: &RecordKind) -> Option<&'static str> {
    ["parent", "parentAssessmentLineItem"].into_iter().find(|name| {
        matches!(kind.field(name).map(|field| field.ty), Some(FieldType::Reference(of)) if of == kind.one)
    })
}

/// Assembles a candidate with the stored record, unless the reading half has done so.
fn complete(
    layout: &FileLayout,
    candidate: &mut CandidateRow,
    row_members: &mut RowMembers,
    stored: Option<&StoredRecord>,
) -> Result<()> {
    if candidate.record.is_some() || !candidate.refusals.is_empty() {
        return Ok(());
    }
    let stored = stored.map(|it| members(&it.body, it.extra.as_deref())).transpose()?;
    candidate.describe_members(layout, row_members);
    candidate.finish(layout, row_members, stored.as_ref());
    let unknown = stored.is_none() && layout.mode == FileMode::Delta;
    if unknown && candidate.record.is_none() && row_members.is_deletion() {
        // A delta may delete a record that does not exist. Then there is nothing to do.
        candidate.refusals.clear();
    }
    Ok(())
}

fn repeated_row_error(layout: &FileLayout, candidate: &CandidateRow) -> CsvError {
    layout
        .fault(
            candidate.row.line,
            "the sourcedId appears in an earlier row of the file".into(),
            "remove one of the rows, or give this row another sourcedId".into(),
        )
        .at("sourcedId", &candidate.id)
}
