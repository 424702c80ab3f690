//! Active records that a complete file does not contain. The report counts them, and they end if the import says so.
//!
//! Only records that an import wrote last may end, because those of the bridge, of tracks and of people are in no
//! file. A file that lacks more than a fifth of a type is probably cut off.

use std::collections::HashMap;

use lyceum_core::config::AbsentRecords;
use lyceum_core::{Result, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::csv;
use super::fault::CsvError;
use super::layout::FileLayout;
use super::manifest::FileMode;
use super::reading::BATCH_RECORDS;
use super::row_notes::RowOutcome;
use super::writing::{CandidateWriter, FileProgress};
use crate::limits::{IMPORT_ENDED_MAX_PERCENT, IMPORT_ENDED_UNCHECKED_MAX_RECORDS};
use crate::record::{Record, StoredRecord, members};
use crate::repository::{self, RecordUse};

/// The treatment of active records that the bulk files of an import do not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct AbsentPolicy {
    /// Whether those that an import wrote last end.
    pub records: AbsentRecords,
    /// Whether any number of them may end.
    pub allows_many: bool,
}

/// The active records of a kind before the import, and which of them its bulk file contains. Only records that the reach
/// of the import may change count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImportedFileCoverage")]
pub struct FileCoverage {
    /// Number of active records.
    pub stored: u64,
    /// Number of those that are in the file.
    pub in_file: u64,
    /// Number of those that are not in the file and were last written by an import.
    pub imported: u64,
    /// Number of those that are now marked as deleted, because the file does not contain them.
    pub ended: u64,
}

/// The records of a kind that a file contains, by their numbers. A record needs one bit.
pub(super) struct SeenRecords {
    /// The largest number before the file was read.
    last: i64,
    bits: HashMap<i64, Box<[u64; WORDS]>>,
    /// The number of those that were active.
    active: u64,
    /// Whether the sourcedId of a row cannot be read.
    has_unnamed_rows: bool,
}

const WORDS: usize = 1024;
/// Bits in so many words.
const BITS: i64 = 64 * 1024;

/// The place of a record's bit: block, word and mask.
fn place(number: i64) -> (i64, usize, u64) {
    let bit = usize::try_from(number.rem_euclid(BITS)).expect("a remainder is not negative");
    (number.div_euclid(BITS), bit / 64, 1 << (bit % 64))
}

impl SeenRecords {
    fn new(last: i64) -> Self {
        Self { last, bits: HashMap::new(), active: 0, has_unnamed_rows: false }
    }

    fn has(&self, number: i64) -> bool {
        let (block, word, mask) = place(number);
        self.bits.get(&block).is_some_and(|words| words[word] & mask != 0)
    }

    fn add(&mut self, number: i64) {
        let (block, word, mask) = place(number);
        self.bits.entry(block).or_insert_with(|| Box::new([0; WORDS]))[word] |= mask;
    }
}

impl CandidateWriter<'_, '_> {
    /// Begins to remember which records a file contains; `None` if that is not known or not needed.
    pub(super) fn begin_seen(
        &mut self,
        layout: &FileLayout,
        is_new: bool,
    ) -> Result<Option<SeenRecords>> {
        let is_complete = layout.mode == FileMode::Bulk && layout.header.is_usable;
        if !is_complete || is_new {
            return Ok(None);
        }
        Ok(Some(SeenRecords::new(repository::last_number(self.tx, layout.file.kind)?)))
    }

    /// Remembers the stored records of a batch of rows, also of rows that will be rejected.
    pub(super) fn see(
        &mut self,
        at: &mut FileProgress,
        stored: &HashMap<String, StoredRecord>,
        has_unnamed_rows: bool,
    ) -> Result<()> {
        let Some(seen) = &mut at.seen_records else { return Ok(()) };
        seen.has_unnamed_rows |= has_unnamed_rows;
        let is_new = |one: &StoredRecord| one.seq <= seen.last && !seen.has(one.seq);
        let new: Vec<(&String, &StoredRecord)> =
            stored.iter().filter(|(_, one)| is_new(one)).collect();
        let mut active: Vec<&str> =
            new.iter().filter(|(_, one)| one.is_active()).map(|(id, _)| id.as_str()).collect();
        if self.reach.is_limited() {
            let kind = at.layout.file.kind;
            let within =
                repository::ids_within(self.tx, kind, &active, self.reach, RecordUse::Change)?;
            active.retain(|id| within.contains(*id));
        }
        seen.active += active.len() as u64;
        for (_, one) in new {
            seen.add(one.seq);
        }
        Ok(())
    }

    /// Reports which active records a complete file does not contain, and ends them if the policy says so.
    pub(super) fn end_absent(&mut self, at: &FileProgress, policy: AbsentPolicy) -> Result<()> {
        let Some(seen) = &at.seen_records else { return Ok(()) };
        let (file, kind) = (at.layout.file, at.layout.file.kind);
        let (mut absent, mut imported) = (0, Vec::new());
        repository::each_active(self.tx, kind, self.reach, seen.last, |number, is_imported| {
            if !seen.has(number) {
                absent += 1;
                imported.extend(is_imported.then_some(number));
            }
        })?;
        let mut coverage = FileCoverage {
            stored: seen.active + absent,
            in_file: seen.active,
            imported: imported.len() as u64,
            ended: 0,
        };
        if absent > 0 {
            let ends = policy.records == AbsentRecords::End && !imported.is_empty();
            let is_refused = ends && !policy.allows_many && coverage.loses_many();
            if ends && !is_refused && !seen.has_unnamed_rows {
                self.end_records(&at.layout, &imported)?;
                coverage.ended = coverage.imported;
            }
            let FileCoverage { stored, in_file, imported, ended } = coverage;
            let name = file.name;
            let problem = match absent {
                1 => message!("{in_file} of {stored} stored {name} are in the file; 1 is not"),
                _ => {
                    message!(
                        "{in_file} of {stored} stored {name} are in the file; {absent} are not"
                    )
                }
            };
            let remedy = match (policy.records, ended) {
                _ if is_refused => message!(
                    "send the complete file, or allow the import to end {imported} of them with `--allow-removals`"
                ),
                _ if imported == 0 => "they stay, because no import wrote them last".into(),
                (AbsentRecords::Keep, _) => {
                    message!(
                        "they stay; `--absent end` would end those that an import wrote last ({imported})"
                    )
                }
                (AbsentRecords::End, 0) => {
                    "they stay, because the sourcedId of a rejected row cannot be read".into()
                }
                (AbsentRecords::End, _) => {
                    message!("those that an import wrote last are now marked as deleted ({ended})")
                }
            };
            let notice = CsvError::of_row(&csv(file), 0, problem, remedy);
            match is_refused {
                true => self.refusals.note(notice, "")?,
                false => self.refusals.report.notices.push(notice),
            }
        }
        self.refusals.report.of(file.name, at.layout.mode).coverage = Some(coverage);
        Ok(())
    }

    /// Marks the records with these numbers as deleted.
    fn end_records(&mut self, layout: &FileLayout, numbers: &[i64]) -> Result<()> {
        let kind = layout.file.kind;
        for numbers in numbers.chunks(BATCH_RECORDS) {
            let (mut records, mut present) = (Vec::new(), HashMap::new());
            for stored in repository::with_numbers(self.tx, kind, numbers)? {
                let mut object = members(&stored.body, stored.extra.as_deref())?;
                object.insert("status".into(), "tobedeleted".into());
                let record = Record::from_server(kind, &object, layout.now)?;
                present.insert(record.sourced_id.clone(), stored);
                records.push(record);
            }
            repository::put_among(self.tx, kind, &records, &present)?;
            self.refusals.report.of(layout.file.name, layout.mode).deleted += records.len() as u64;
            for record in &records {
                let id = &record.sourced_id;
                self.refusals.notes.add(layout.file.name, 0, id, RowOutcome::Deleted)?;
            }
        }
        Ok(())
    }
}

impl FileCoverage {
    /// Whether more records would end than an incomplete file may end by mistake.
    fn loses_many(&self) -> bool {
        self.imported > IMPORT_ENDED_UNCHECKED_MAX_RECORDS
            && self.imported * 100 > self.stored * IMPORT_ENDED_MAX_PERCENT
    }
}
