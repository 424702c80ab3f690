//! Imports a OneRoster package.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use lyceum_core::text::near_miss;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::{Db, Spool};

use super::absent::AbsentPolicy;
use super::candidate::{CandidateRow, RejectedRow};
use super::erased::ErasedUsers;
use super::fault::CsvError;
use super::files::{self, CsvFile, JoinedFile};
use super::layout::FileLayout;
use super::manifest::{self, FileMode, Manifest};
use super::reading::{PartRead, ReadBatch, ReadOrder, read_records, spool_parts, spooled};
use super::report::{CsvReport, RejectedRows};
use super::row_notes::{RowNotes, RowOutcome};
use super::source::CsvSource;
use super::writing::{CandidateWriter, FileProgress};
use crate::repository;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The file for rejected rows while the import stores the others. Without it, any error undoes the whole import.
    pub rejects: Option<PathBuf>,
    /// Whether to store nothing and only report what would be done.
    pub check: bool,
    /// The file for the outcome of each row, see [`super::notes_of_file`].
    pub notes: Option<PathBuf>,
    /// Whether everything that the binding forbids is an error, including warnings.
    pub strict: bool,
    /// The treatment of active records that bulk files do not contain.
    pub absent: AbsentPolicy,
    /// Refuses the rows of users who were erased. Without it, none were.
    pub erased: Option<ErasedUsers>,
    /// The part of the roster that the rows may change. Rows outside of it are errors, unless they change nothing.
    pub reach: Reach,
}

/// The progress of an import.
#[derive(Clone, Copy, Debug)]
pub struct CsvProgress {
    /// The current file, without `.csv`.
    pub file: &'static str,
    /// Rows read so far, over all files.
    pub rows: u64,
    /// Bytes read so far.
    pub bytes: u64,
    /// Total bytes, according to the zip.
    pub total_bytes: u64,
}

/// The maximum number of batches that the reading thread is ahead of the writing thread.
const BATCHES_AHEAD: usize = 2;

/// Imports a zip or a folder in one transaction, completely or not at all.
///
/// Bulk files create and replace records. They are complete: what happens to records that they do not contain follows
/// [`ImportOptions::absent`]. Delta files can also
/// mark records as deleted. Repeating an import changes nothing. The rules of the API apply to every row. The report
/// says what was done, or lists the errors (`committed` is false).
///
/// Errors: `Invalid` if the package cannot be read at all; those of the store.
pub fn import(
    db: &Db,
    path: &Path,
    options: &ImportOptions,
    now: Timestamp,
    progress: &mut dyn FnMut(CsvProgress),
) -> Result<CsvReport> {
    let mut source = CsvSource::open(path)?;
    let notes = RowNotes::new(options.notes.as_deref())?;
    let mut refusals = RejectedRows::new(options.rejects.as_deref(), notes, options.strict);
    let (manifest, faults, warnings) = Manifest::of(&mut source, options.strict)?;
    warnings.into_iter().try_for_each(|warning| refusals.warn(warning))?;
    if !faults.is_empty() {
        let cells = Vec::new();
        refusals.add(RejectedRow { faults, cells })?;
    }
    let is_named = |name: &str| manifest.mode(name.trim_end_matches(".csv")).is_some();
    refusals.report.ignored = source
        .names()
        .filter(|name| *name != manifest::NAME && !is_named(name))
        .map(str::to_owned)
        .collect();
    for name in refusals.report.ignored.clone() {
        refusals.warn(unread_file(&name))?;
    }
    let total_bytes = source.bytes(is_named);
    let mut is_read = false;
    let imported = db.write_blocking(|tx| {
        tx.stamp_at_end();
        repository::hold_still(tx, &options.reach)?;
        let bytes = Arc::new(AtomicU64::new(0));
        let mut run = ImportRun {
            source: &mut source,
            manifest: &manifest,
            writer: CandidateWriter::new(tx, &mut refusals, &options.reach),
            spool: Spool::new()?,
            meter: ProgressMeter { rows: 0, bytes, total_bytes, progress },
            now,
            is_strict: options.strict,
            erased: options.erased.clone(),
            absent: options.absent,
        };
        for file in files::ALL.iter().filter(|file| file.part.is_none()) {
            run.records(file)?;
        }
        is_read = true;
        match options.check || refusals.report.fault_count > 0 && !refusals.go_on() {
            // Undoes the transaction. The report says why.
            true => Err(Problem::new(ProblemKind::Invalid, "nothing was imported")),
            false => Ok(()),
        }
    });
    match imported {
        Ok(()) => refusals.report.committed = true,
        Err(problem) if problem.kind == ProblemKind::Invalid && is_read => {}
        Err(problem) => return Err(problem),
    }
    refusals.finish()
}

/// The warning about a file of the package that is not read.
fn unread_file(name: &str) -> CsvError {
    let stem = name.trim_end_matches(".csv");
    let (problem, remedy) = match files::by_name(stem) {
        Some(_) => (
            "is not read, because the manifest does not list it",
            message!("write 'file.{stem},bulk' into manifest.csv, or remove the file"),
        ),
        None => (
            "is not a OneRoster file and is not read",
            match near_miss(stem, files::ALL.iter().map(|file| file.name)) {
                Some(near) => message!("rename it to '{near}.csv', or remove it"),
                None => "remove the file".into(),
            },
        ),
    };
    CsvError::of_row(name, 0, problem, remedy)
}

struct ImportRun<'r, 'w, 'tx> {
    source: &'r mut CsvSource,
    manifest: &'r Manifest,
    writer: CandidateWriter<'w, 'tx>,
    spool: Spool,
    meter: ProgressMeter<'r>,
    now: Timestamp,
    is_strict: bool,
    erased: Option<ErasedUsers>,
    absent: AbsentPolicy,
}

/// Counts the rows and reports the progress.
struct ProgressMeter<'r> {
    rows: u64,
    bytes: Arc<AtomicU64>,
    total_bytes: u64,
    progress: &'r mut dyn FnMut(CsvProgress),
}

impl ProgressMeter<'_> {
    fn count(&mut self, file: &'static str, rows: u64) {
        self.rows += rows;
        let bytes = self.bytes.load(Ordering::Relaxed);
        let total_bytes = self.total_bytes;
        (self.progress)(CsvProgress { file, rows: self.rows, bytes, total_bytes });
    }
}

type PartFiles = Vec<(&'static CsvFile, &'static JoinedFile, FileMode)>;

impl ImportRun<'_, '_, '_> {
    /// Imports a file of records, together with the files that contain parts of them.
    fn records(&mut self, file: &'static CsvFile) -> Result<()> {
        let (mut parts, mut unread) = (Vec::new(), Vec::new());
        for (part_file, part) in file.parts() {
            if let Some(mode) = self.manifest.mode(part_file.name) {
                match self.parts(part_file, mode)? {
                    true => parts.push((part_file, part, mode)),
                    false => unread.push(part_file),
                }
            }
        }
        let written = match self.manifest.mode(file.name) {
            Some(mode) => self.own_rows(file, mode, &parts, unread)?,
            None => None,
        };
        self.parts_alone(file, parts)?;
        written.map_or(Ok(()), |written| self.writer.end_absent(&written, self.absent))
    }

    /// Reads a file of parts. Returns `false` if it cannot be read.
    fn parts(&mut self, file: &'static CsvFile, mode: FileMode) -> Result<bool> {
        let refusals = &mut *self.writer.refusals;
        refusals.report.of(file.name, mode);
        let bytes = Arc::clone(&self.meter.bytes);
        let came = |read: PartRead<'_>| match read {
            PartRead::Header(header, errors) => {
                refusals.add_header((file.name, mode), header, errors)
            }
            PartRead::Row(part) => {
                refusals.notes.add(file.name, part.line, &part.id, RowOutcome::Part)
            }
            PartRead::Refused(refusal) => refusals.add(refusal),
            PartRead::Warning(fault) => refusals.warn(fault),
        };
        let how = (mode, self.is_strict);
        let read = spool_parts(self.source, &mut self.spool, file, how, bytes, came)?;
        let rows = read.unwrap_or(0);
        self.writer.refusals.report.of(file.name, mode).rows += rows;
        self.meter.count(file.name, rows);
        Ok(read.is_some())
    }

    /// Reads the file on another thread and writes it on this one.
    fn own_rows(
        &mut self,
        file: &'static CsvFile,
        mode: FileMode,
        parts: &PartFiles,
        unread: Vec<&'static CsvFile>,
    ) -> Result<Option<FileProgress>> {
        let Self { source, writer, spool, meter, now, is_strict, erased, .. } = self;
        let is_strict = *is_strict;
        writer.refusals.report.of(file.name, mode);
        let is_new = repository::is_empty(writer.tx, file.kind)?;
        let bytes = Arc::clone(&meter.bytes);
        let (parts, now) = (parts.clone(), *now);
        let order = ReadOrder { file, mode, parts, unread, is_new, now, bytes, is_strict };
        let (send, receive) = sync_channel(BATCHES_AHEAD);
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || read_records(source, spool, order, &send));
            let written = write_all(writer, receive, (is_new, erased.as_ref()), |writer, rows| {
                writer.refusals.report.of(file.name, mode).rows += rows;
                meter.count(file.name, rows);
            });
            let read =
                reading.join().map_err(|_| Problem::internal("the reading thread panicked"))?;
            let mut at = written?;
            read?;
            at.as_mut().map_or(Ok(()), |at| writer.end(at))?;
            Ok(at)
        })
    }

    /// Writes the parts of records for which the package has no row.
    fn parts_alone(&mut self, file: &'static CsvFile, parts: PartFiles) -> Result<()> {
        let layout = FileLayout::of_parts(file, parts, self.now);
        for (part_file, ..) in &layout.parts {
            while let Some(owner) = self.spool.first(part_file.name)? {
                let rows = spooled(&layout.parts, &mut self.spool, &owner)?;
                self.writer.parts_alone(&layout, CandidateRow::of_parts(owner, rows))?;
            }
        }
        Ok(())
    }
}

/// Writes what the reading thread sends. When the receiver is dropped, at the latest on return, the reading thread
/// ends.
fn write_all(
    writer: &mut CandidateWriter<'_, '_>,
    receive: Receiver<ReadBatch>,
    (is_new, erased): (bool, Option<&ErasedUsers>),
    mut count: impl FnMut(&mut CandidateWriter<'_, '_>, u64),
) -> Result<Option<FileProgress>> {
    let mut at: Option<FileProgress> = None;
    for batch in receive {
        match (batch, &mut at) {
            (ReadBatch::Begin(layout, faults), at) => {
                *at = Some(writer.begin(*layout, faults, is_new)?);
            }
            (ReadBatch::Rows(mut rows), Some(at)) => {
                let read = rows.len() as u64;
                if let Some(erased) = erased {
                    rows = erased.reject(writer, &at.layout, rows)?;
                }
                writer.batch(at, rows)?;
                count(writer, read);
            }
            (ReadBatch::Rows(_), None) => {}
        }
    }
    Ok(at)
}
