//! Exports the roster as a OneRoster package: in the form of the standard, or complete.
//!
//! A complete export has everything, including deleted records, with status and date. It is therefore a delta:
//! imported into an empty store, it restores the same records, and exporting those gives the same bytes.

use std::collections::BTreeSet;
use std::io::{Seek, Write};

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Db, Tx};
use serde_json::Value;

use super::binding::{self, is_day};
use super::cell::{encode, is_implied, written_metadata};
use super::fault::CsvError;
use super::files::{self, COMMON, CsvFile, EXTRA, JoinedFile, METADATA};
use super::manifest::FileMode;
use super::package::{PackageWriter, RowWriter};
use super::parts::rows_of;
use super::standard::{StandardExport, day, one_line};
use crate::limits::CSV_MAX_ENTRIES;
use crate::record::{Object, members};
use crate::repository;

/// The content of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportContent {
    /// Active records, in the files and columns of OneRoster 1.2, for strict readers.
    #[default]
    Standard,
    /// Everything: also deleted records and dates, with files and a column that OneRoster does not define.
    Complete,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ExportReport {
    /// The files with their numbers of rows.
    pub files: Vec<(&'static str, u64)>,
    /// The first records and parts that OneRoster 1.2 cannot express, up to `IMPORT_MAX_REPORTED_FAULTS`.
    pub left_out: Vec<CsvError>,
    /// The number of all that were left out.
    pub left_out_count: u64,
}

/// Exports the records of one instant within the reach to a zip. `progress` is called with the current file and the
/// number of rows so far, over all files.
///
/// Errors: `Invalid` for a complete export of a part, because its records would refer to missing ones.
pub fn export<W: Write + Seek>(
    db: &Db,
    (content, reach): (ExportContent, &Reach),
    out: W,
    progress: &mut dyn FnMut(&'static str, u64),
) -> Result<(ExportReport, W)> {
    let is_standard = content == ExportContent::Standard;
    if reach.is_limited() && !is_standard {
        let rule = "must be left out of a complete export, which has everything";
        return Err(Problem::invalid("organization", rule));
    }
    db.read_blocking(|tx| {
        let mut package =
            PackageWriter::new(out, if is_standard { FileMode::Bulk } else { FileMode::Delta });
        let mut standard = StandardExport::of(reach.clone());
        let mut rows = 0;
        let all = files::ALL.iter().filter(|file| file.part.is_none());
        for file in all.filter(|file| !is_standard || binding::has(file)) {
            standard.prepare(tx, file)?;
            let plan = ExportColumns::of(tx, file, reach, is_standard.then_some(&mut standard))?;
            package.file(file, &plan.headers(), |out| {
                each(tx, file, reach, |object| {
                    rows += 1;
                    if rows % 1000 == 0 {
                        progress(file.name, rows);
                    }
                    match is_standard {
                        true => plan.write_standard(file, object, &standard, out),
                        false => plan.write(file, object, &standard, out),
                    }
                })
            })?;
            for (part_file, part) in file.parts().filter(|(file, _)| plan.parts.contains(file.name))
            {
                package.file(part_file, &[], |out| {
                    each(tx, file, reach, |object| {
                        if !is_standard {
                            return write_parts(part_file, part, object, out);
                        }
                        if !standard.has(file, object) {
                            return Ok(());
                        }
                        let rows = standard.parts(part_file, part, object);
                        rows.iter().try_for_each(|cells| out.row(cells.iter().map(String::as_str)))
                    })
                })?;
                progress(part_file.name, rows);
            }
        }
        let (files, out) = package.finish("Lyceum")?;
        let StandardExport { left_out, left_out_count, .. } = standard;
        Ok((ExportReport { files, left_out, left_out_count }, out))
    })
}

/// Calls `each` with every record of the file within the reach.
pub(super) fn each(
    tx: &mut Tx<'_>,
    file: &CsvFile,
    reach: &Reach,
    mut each: impl FnMut(&mut Object) -> Result<()>,
) -> Result<()> {
    repository::each_within(tx, file.kind, reach, |body, extra| each(&mut members(body, extra)?))
}

/// The columns and files in addition to the table.
#[derive(Default)]
struct ExportColumns {
    metadata: BTreeSet<String>,
    /// Whether a record has values for which there is no column.
    has_extra: bool,
    /// The part files that get rows.
    parts: BTreeSet<&'static str>,
}

impl ExportColumns {
    /// Scans all records for metadata and for values without a column.
    fn of(
        tx: &mut Tx<'_>,
        file: &'static CsvFile,
        reach: &Reach,
        mut standard: Option<&mut StandardExport>,
    ) -> Result<Self> {
        let mut plan = Self::default();
        let room = CSV_MAX_ENTRIES - 4 - file.columns.len();
        each(tx, file, reach, |object| {
            if let Some(standard) = &mut standard
                && !standard.takes(file, object)
            {
                return Ok(());
            }
            if let Some(Value::Object(metadata)) = object.get("metadata") {
                for name in metadata.keys().filter(|name| is_column(name)) {
                    if plan.metadata.len() < room && !plan.metadata.contains(name) {
                        plan.metadata.insert(name.clone());
                    }
                }
            }
            if standard.is_some() {
                let present = file.parts().filter(|(_, part)| object.contains_key(part.field));
                plan.parts.extend(present.map(|(file, _)| file.name));
                return Ok(());
            }
            plan.parts.extend(part_files(file, object));
            plan.has_extra |= !plan.left_over(file, object).is_empty();
            Ok(())
        })?;
        Ok(plan)
    }

    /// The headers after those of the table.
    fn headers(&self) -> Vec<String> {
        let metadata = self.metadata.iter().map(|name| format!("{METADATA}{name}"));
        metadata.chain(self.has_extra.then(|| EXTRA.to_owned())).collect()
    }

    /// The values of a record that no column and no part file contains.
    fn left_over(&self, file: &'static CsvFile, object: &Object) -> Object {
        let mut rest = Object::new();
        let parted = part_fields(file, object);
        for (name, value) in object {
            if COMMON.contains(&name.as_str()) {
                continue;
            }
            if name == "metadata" {
                if let Some(more) = self.metadata_left_over(value) {
                    rest.insert(name.clone(), more);
                }
                continue;
            }
            let field = file.kind.field(name);
            let header = file.header_of(name);
            let is_whole = |header| {
                !is_day(file, header) || value.as_str().is_some_and(|it| it.ends_with(MIDNIGHT))
            };
            let has_cell = header.is_some_and(is_whole)
                && field.is_some_and(|field| encode(field, value).is_some());
            let is_implied = field.is_some_and(|field| is_implied(field, value));
            if !has_cell && !is_implied && !parted.contains(&name.as_str()) {
                rest.insert(name.clone(), value.clone());
            }
        }
        rest
    }

    fn metadata_left_over(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Object(metadata) if !metadata.is_empty() => {
                let rest: Object = metadata
                    .iter()
                    .filter(|(name, _)| !self.metadata.contains(*name))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                (!rest.is_empty()).then_some(Value::Object(rest))
            }
            other => Some(other.clone()),
        }
    }

    fn write_standard<W: Write + Seek>(
        &self,
        file: &'static CsvFile,
        object: &Object,
        standard: &StandardExport,
        out: &mut RowWriter<'_, W>,
    ) -> Result<()> {
        if !standard.has(file, object) {
            return Ok(());
        }
        let Ok(mut cells) = standard.row(file, object) else { return Ok(()) };
        let metadata = object.get("metadata");
        for name in &self.metadata {
            let value = metadata.and_then(|metadata| metadata.get(name));
            cells.push(one_line(&value.map(written_metadata).unwrap_or_default()));
        }
        out.row(cells.iter().map(String::as_str))
    }

    fn write<W: Write + Seek>(
        &self,
        file: &'static CsvFile,
        object: &Object,
        standard: &StandardExport,
        out: &mut RowWriter<'_, W>,
    ) -> Result<()> {
        let mut cells: Vec<String> = COMMON.iter().map(|name| text(object, name)).collect();
        for (header, name) in file.columns {
            let field = file.kind.field(name);
            let cell = field.and_then(|field| encode(field, object.get(field.name)?));
            let cell = match name.is_empty() {
                true => standard.derived(file, header, object),
                false => cell.unwrap_or_default(),
            };
            cells.push(if is_day(file, header) { day(&cell).to_owned() } else { cell });
        }
        let metadata = object.get("metadata");
        for name in &self.metadata {
            let value = metadata.and_then(|metadata| metadata.get(name));
            cells.push(value.map(written_metadata).unwrap_or_default());
        }
        if self.has_extra {
            let rest = self.left_over(file, object);
            cells.push(match rest.is_empty() {
                true => String::new(),
                false => serde_json::to_string(&rest).map_err(Problem::internal)?,
            });
        }
        out.row(cells.iter().map(String::as_str))
    }
}

/// The end of an instant that stands for a date.
const MIDNIGHT: &str = "T00:00:00.000Z";

/// Whether a header can name this metadata and be recognized in an import.
fn is_column(name: &str) -> bool {
    let is_extra = EXTRA.strip_prefix(METADATA) == Some(name);
    !name.is_empty() && name.trim() == name && !name.contains(['\r', '\n']) && !is_extra
}

fn text(object: &Object, name: &str) -> String {
    object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The fields of the record that part files contain, with the files.
fn parted<'o>(
    file: &'static CsvFile,
    object: &'o Object,
) -> impl Iterator<Item = (&'static CsvFile, &'static JoinedFile, &'o Value)> {
    file.parts().filter_map(|(part_file, part)| {
        let value = object.get(part.field)?;
        let owner = object.get("sourcedId")?.as_str()?;
        rows_of(part_file, part, owner, value)?;
        Some((part_file, part, value))
    })
}

fn part_fields(file: &'static CsvFile, object: &Object) -> Vec<&'static str> {
    parted(file, object).map(|(_, part, _)| part.field).collect()
}

fn part_files(file: &'static CsvFile, object: &Object) -> Vec<&'static str> {
    parted(file, object).map(|(file, ..)| file.name).collect()
}

fn write_parts<W: Write + Seek>(
    file: &'static CsvFile,
    part: &JoinedFile,
    object: &Object,
    out: &mut RowWriter<'_, W>,
) -> Result<()> {
    let Some(value) = object.get(part.field) else { return Ok(()) };
    let owner = text(object, COMMON[0]);
    let (status, modified) = (text(object, COMMON[1]), text(object, COMMON[2]));
    // Parts of a deleted record are still its parts.
    let status = if status == "tobedeleted" { "active" } else { status.as_str() };
    for row in rows_of(file, part, &owner, value).unwrap_or_default() {
        let cells = [row.id.as_str(), status, modified.as_str()].into_iter();
        out.row(cells.chain(row.cells.iter().map(String::as_str)))?;
    }
    Ok(())
}
