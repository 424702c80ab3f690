//! The reading half of an import, which turns bytes into candidates. It runs on its own thread.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result, message};
use lyceum_store::Spool;

use super::candidate::{CandidateRow, RejectedRow, csv};
use super::fault::CsvError;
use super::files::{CsvFile, JoinedFile};
use super::header::{
    ColumnUse, CsvHeader, HeaderErrors, REMOVE_COMMAS, RowWidth, WRITE_COMMAS, other_separator,
    trailing,
};
use super::layout::FileLayout;
use super::manifest::{FileMode, unreadable};
use super::parts::PartRow;
use super::row_members::RowMembers;
use super::rows::{CsvRow, CsvRows};
use super::source::CsvSource;
use super::strict;

/// The number of rows that are checked and written together.
pub(super) const BATCH_RECORDS: usize = 500;

/// A message to the writing half.
pub(super) enum ReadBatch {
    /// The header of the file was read; its errors.
    Begin(Box<FileLayout>, HeaderErrors),
    /// Rows of the file, in order.
    Rows(Vec<CandidateRow>),
}

/// The order to read a file.
pub(super) struct ReadOrder {
    pub(super) file: &'static CsvFile,
    pub(super) mode: FileMode,
    /// The files in the package that have parts of its records. They are already in the spool.
    pub(super) parts: Vec<(&'static CsvFile, &'static JoinedFile, FileMode)>,
    /// The files with parts of its records that cannot be read.
    pub(super) unread: Vec<&'static CsvFile>,
    /// Whether nothing is stored that rows could change, so that each row can be checked independently.
    pub(super) is_new: bool,
    pub(super) now: Timestamp,
    /// Counts the bytes read.
    pub(super) bytes: Arc<AtomicU64>,
    /// Whether everything that the binding forbids is an error.
    pub(super) is_strict: bool,
}

/// The result of reading the header or a row of a part file.
pub(super) enum PartRead<'a> {
    Header(&'a CsvHeader, HeaderErrors),
    Row(&'a PartRow),
    Refused(RejectedRow),
    Warning(CsvError),
}

/// Reads a file of records and sends it in batches.
pub(super) fn read_records(
    source: &mut CsvSource,
    spool: &mut Spool,
    order: ReadOrder,
    out: &SyncSender<ReadBatch>,
) -> Result<()> {
    let ReadOrder { file, mode, parts, unread, is_new, now, bytes, is_strict } = order;
    let name = csv(file);
    let input = source.read(&name)?;
    let mut rows = CsvRows::new(CountingReader { input, bytes });
    let (header, errors) = read_header(&mut rows, file, mode, is_strict)?;
    let own = FileLayout { file, mode, header, parts, unread, now, is_strict };
    let eager = is_new && own.stands_alone();
    // If sending fails, the writing half has stopped, and reports why.
    if out.send(ReadBatch::Begin(Box::new(own.clone()), errors)).is_err() {
        return Ok(());
    }
    let mut count = 0;
    let mut waiting = Vec::with_capacity(BATCH_RECORDS);
    let mut row = CsvRow::default();
    let mut row_members = RowMembers::of(&own);
    let mut unknown = own.header.unknown_columns();
    while own.header.is_usable
        && let Some(next) = rows.next(&mut row).map_err(|e| unreadable(&name, &e))?
    {
        let candidate = match next {
            Ok(()) => {
                unknown.count(&row);
                candidate(&own, spool, std::mem::take(&mut row), &mut row_members, eager)?
            }
            Err(broken) => {
                let mut candidate = CandidateRow::default();
                let fault = CsvError::of_row(&name, broken.line, broken.problem, broken.remedy);
                let cells = vec![broken.raw];
                candidate.refusals.push(RejectedRow { faults: vec![fault], cells });
                candidate
            }
        };
        count += 1;
        waiting.push(candidate);
        if waiting.len() == BATCH_RECORDS
            && out.send(ReadBatch::Rows(std::mem::take(&mut waiting))).is_err()
        {
            return Ok(());
        }
    }
    let mut warnings = Vec::new();
    if own.header.is_usable {
        warnings = unknown.warnings(file);
        warnings.extend((is_strict && count == 0).then(|| no_rows(file)));
    }
    if !warnings.is_empty() {
        let mut candidate = CandidateRow::default();
        candidate.warnings = warnings;
        waiting.push(candidate);
    }
    let _ = out.send(ReadBatch::Rows(waiting));
    Ok(())
}

fn no_rows(file: &'static CsvFile) -> CsvError {
    let remedy = message!("remove the file and write 'absent' for file.{file.name}");
    CsvError::of_row(&csv(file), 0, "has no rows, which OneRoster 1.2 forbids", remedy)
}

fn candidate(
    layout: &FileLayout,
    spool: &mut Spool,
    row: CsvRow,
    row_members: &mut RowMembers,
    eager: bool,
) -> Result<CandidateRow> {
    let mut candidate = CandidateRow::read(layout, row, row_members);
    candidate.parts = spooled(&layout.parts, spool, &candidate.id)?;
    if eager && candidate.refusals.is_empty() {
        candidate.finish(layout, row_members, None);
    }
    Ok(candidate)
}

/// Takes the parts of a record out of the spool.
pub(super) fn spooled(
    files: &[(&'static CsvFile, &'static JoinedFile, FileMode)],
    spool: &mut Spool,
    owner: &str,
) -> Result<Vec<PartRow>> {
    let mut parts = Vec::new();
    for (of, (file, ..)) in files.iter().enumerate() {
        for text in spool.take(file.name, owner)? {
            let row: PartRow = serde_json::from_str(&text).map_err(Problem::internal)?;
            parts.push(PartRow { of, ..row });
        }
    }
    Ok(parts)
}

/// Reads the header of a file. If its rows cannot be read, they are counted.
fn read_header<R: Read>(
    rows: &mut CsvRows<R>,
    file: &'static CsvFile,
    mode: FileMode,
    is_strict: bool,
) -> Result<(CsvHeader, HeaderErrors)> {
    let (header, mut errors) = first_row(rows, file, mode, is_strict)?;
    if !header.is_usable {
        let mut unknown = header.unknown_columns();
        let mut row = CsvRow::default();
        while let Some(next) = rows.next(&mut row).map_err(|e| unreadable(&csv(file), &e))? {
            errors.unread_rows += 1;
            if next.is_ok() {
                unknown.count(&row);
            }
        }
        errors.warnings.extend(unknown.warnings(file));
    }
    Ok((header, errors))
}

/// Reads the header, which is the first row of the file.
fn first_row<R: Read>(
    rows: &mut CsvRows<R>,
    file: &'static CsvFile,
    mode: FileMode,
    is_strict: bool,
) -> Result<(CsvHeader, HeaderErrors)> {
    let faulty = |fault| HeaderErrors { faults: vec![fault], ..HeaderErrors::default() };
    let name = csv(file);
    let mut row = CsvRow::default();
    if rows.is_utf16().map_err(|e| unreadable(&name, &e))? {
        let fault = CsvError::of_row(
            &name,
            1,
            "the file has the encoding UTF-16",
            "save it with the encoding UTF-8",
        );
        return Ok((CsvHeader::unusable(), faulty(fault)));
    }
    let separated = |header: &str, line: u64| {
        let problem = other_separator(header, |name| file.headers().any(|header| header == name))?;
        Some(CsvError::of_row(&name, line, problem, WRITE_COMMAS))
    };
    match rows.next(&mut row).map_err(|e| unreadable(&name, &e))? {
        Some(Ok(())) => {
            if let Some(fault) = separated(&row.readable().join(","), row.line) {
                return Ok((CsvHeader::unusable(), faulty(fault)));
            }
            let (header, mut errors) = CsvHeader::read(file, &row, mode == FileMode::Delta);
            if is_strict {
                errors.faults.extend(strict::header(file, &row.readable(), row.line));
            }
            Ok((header, errors))
        }
        Some(Err(broken)) => {
            let fault = separated(&broken.raw, broken.line).unwrap_or_else(|| {
                CsvError::of_row(&name, broken.line, broken.problem, broken.remedy)
            });
            Ok((CsvHeader::unusable(), faulty(fault)))
        }
        None => {
            let remedy = message!("write its header line, or 'absent' for file.{file.name}");
            let fault = CsvError::of_row(&name, 1, "the file has no header", remedy);
            Ok((CsvHeader::unusable(), faulty(fault)))
        }
    }
}

/// Reads a part file into the spool, by the records to which the parts belong. Calls `came` with each row, or with
/// the reasons why it is rejected, and with warnings. Returns the number of rows; `None` if they cannot be read.
pub(super) fn spool_parts(
    source: &mut CsvSource,
    spool: &mut Spool,
    file: &'static CsvFile,
    (mode, is_strict): (FileMode, bool),
    bytes: Arc<AtomicU64>,
    mut came: impl FnMut(PartRead<'_>) -> Result<()>,
) -> Result<Option<u64>> {
    let name = csv(file);
    let owner = file.part.as_ref().map_or("", |part| part.owner);
    let input = source.read(&name)?;
    let mut rows = CsvRows::new(CountingReader { input, bytes });
    let (header, errors) = read_header(&mut rows, file, mode, is_strict)?;
    came(PartRead::Header(&header, errors))?;
    if !header.is_usable {
        return Ok(None);
    }
    let mut row = CsvRow::default();
    let mut count = 0;
    let mut unknown = header.unknown_columns();
    while let Some(next) = rows.next(&mut row).map_err(|e| unreadable(&name, &e))? {
        count += 1;
        let read = match next {
            Ok(()) => {
                unknown.count(&row);
                if let RowWidth::Trailing(blank) = header.width(&row) {
                    let fault =
                        CsvError::of_row(&name, row.line, trailing("row", blank), REMOVE_COMMAS);
                    came(PartRead::Warning(fault))?;
                }
                part_row(file, &header, &row, mode).and_then(|part| {
                    let forbidden = match is_strict {
                        true => strict::row(file, &header, &row, mode),
                        false => Vec::new(),
                    };
                    match forbidden.is_empty() {
                        true => Ok(part),
                        false => Err(RejectedRow { faults: forbidden, cells: row.readable() }),
                    }
                })
            }
            Err(broken) => {
                let fault = CsvError::of_row(&name, broken.line, broken.problem, broken.remedy);
                Err(RejectedRow { faults: vec![fault], cells: vec![broken.raw] })
            }
        };
        match read {
            Ok(part) => {
                let text = serde_json::to_string(&part).map_err(Problem::internal)?;
                spool.put(file.name, part.cell(file, owner), &text)?;
                came(PartRead::Row(&part))?;
            }
            Err(refusal) => came(PartRead::Refused(refusal))?,
        }
    }
    unknown.warnings(file).into_iter().try_for_each(|warning| came(PartRead::Warning(warning)))?;
    if is_strict && count == 0 {
        came(PartRead::Warning(no_rows(file)))?;
    }
    Ok(Some(count))
}

fn part_row(
    file: &'static CsvFile,
    header: &CsvHeader,
    row: &CsvRow,
    mode: FileMode,
) -> Result<PartRow, RejectedRow> {
    let name = csv(file);
    let refused = |faults| RejectedRow { faults, cells: row.readable() };
    if matches!(header.width(row), RowWidth::Differs) {
        let (found, expected) = (row.len(), header.names.len());
        return Err(refused(vec![CsvError::of_row(
            &name,
            row.line,
            message!("the row has {found} fields, but the header has {expected}"),
            "look for a missing comma, or quote the field that contains one",
        )]));
    }
    let mut faults = Vec::new();
    let mut part = PartRow {
        of: 0,
        line: row.line,
        id: String::new(),
        deleted: false,
        cells: vec![String::new(); file.columns.len()],
    };
    for (at, one) in header.uses.iter().enumerate() {
        let column = &header.names[at];
        let mut fault = |value: &str, problem: &'static str, remedy: &'static str| {
            faults.push(CsvError::of_row(&name, row.line, problem, remedy).at(column, value));
        };
        let text = match row.text(at) {
            Ok(text) => text,
            Err(readable) => {
                fault(&readable, "is not UTF-8", "save the file with the encoding UTF-8");
                continue;
            }
        };
        if text.is_empty() && file.needs(column.trim()) {
            fault("", "is required", "fill the cell");
        }
        match one {
            ColumnUse::SourcedId => text.clone_into(&mut part.id),
            ColumnUse::Status => match text {
                "" if mode == FileMode::Delta => {
                    fault("", "is required in a delta", "write active or tobedeleted");
                }
                "" | "active" => {}
                "tobedeleted" => part.deleted = true,
                other => {
                    fault(
                        other,
                        "must be 'active' or 'tobedeleted'",
                        "write active or tobedeleted",
                    );
                }
            },
            ColumnUse::Part(place) => text.clone_into(&mut part.cells[*place]),
            _ => {}
        }
    }
    if faults.is_empty() { Ok(part) } else { Err(refused(faults)) }
}

/// Counts the bytes that are read, for the progress bar.
struct CountingReader<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
