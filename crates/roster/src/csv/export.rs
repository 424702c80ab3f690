//! Writes the store as a OneRoster package.
//!
//! Everything is in it, deleted records too, each with its status and date: imported into an
//! empty store it gives the same store, and exported again the same bytes.

use std::collections::BTreeSet;
use std::io::{Seek, Write};

use lyceum_core::limits::CSV_MAX_ENTRIES;
use lyceum_core::{Problem, Result};
use lyceum_store::{Db, Tx};
use serde_json::Value;

use super::cell::{encode, is_implied, written_metadata};
use super::files::{self, COMMON, EXTRA, File, METADATA, Part};
use super::package::{Package, RowWriter};
use super::parts::rows_of;
use crate::record::{Object, members};
use crate::repository;

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Exported {
    /// Files with their numbers of rows.
    pub files: Vec<(&'static str, u64)>,
}

/// Exports all records to a zip, as they are at one instant. `progress` is told the file that is
/// written and the rows so far, over all files.
pub fn export<W: Write + Seek>(
    db: &Db,
    out: W,
    progress: &mut dyn FnMut(&'static str, u64),
) -> Result<(Exported, W)> {
    db.read_blocking(|tx| {
        let mut package = Package::new(out);
        let mut rows = 0;
        for file in files::ALL.iter().filter(|file| file.part.is_none()) {
            let plan = Plan::of(tx, file)?;
            package.file(file, &plan.headers(), |out| {
                each(tx, file, |object| {
                    rows += 1;
                    if rows % 1000 == 0 {
                        progress(file.name, rows);
                    }
                    plan.write(file, object, out)
                })
            })?;
            for (part_file, part) in file.parts().filter(|(file, _)| plan.parts.contains(file.name))
            {
                package.file(part_file, &[], |out| {
                    each(tx, file, |object| write_parts(part_file, part, object, out))
                })?;
                progress(part_file.name, rows);
            }
        }
        let (files, out) = package.finish("Lyceum")?;
        Ok((Exported { files }, out))
    })
}

fn each(
    tx: &mut Tx<'_>,
    file: &File,
    mut each: impl FnMut(&mut Object) -> Result<()>,
) -> Result<()> {
    repository::each(tx, file.kind, |body, extra| each(&mut members(body, extra)?))
}

/// What a file needs beside the columns of the table.
#[derive(Default)]
struct Plan {
    metadata: BTreeSet<String>,
    /// Whether some record holds what no column takes.
    has_extra: bool,
    /// Part files that get rows.
    parts: BTreeSet<&'static str>,
}

impl Plan {
    /// Looks through all records: which metadata they have, and what else.
    fn of(tx: &mut Tx<'_>, file: &'static File) -> Result<Self> {
        let mut plan = Self::default();
        let room = CSV_MAX_ENTRIES - 4 - file.columns.len();
        each(tx, file, |object| {
            if let Some(Value::Object(metadata)) = object.get("metadata") {
                for name in metadata.keys().filter(|name| is_column(name)) {
                    if plan.metadata.len() < room && !plan.metadata.contains(name) {
                        plan.metadata.insert(name.clone());
                    }
                }
            }
            plan.parts.extend(part_files(file, object));
            plan.has_extra |= !plan.left_over(file, object).is_empty();
            Ok(())
        })?;
        Ok(plan)
    }

    /// The headers behind those of the table.
    fn headers(&self) -> Vec<String> {
        let metadata = self.metadata.iter().map(|name| format!("{METADATA}{name}"));
        metadata.chain(self.has_extra.then(|| EXTRA.to_owned())).collect()
    }

    /// What of a record no column and no part file takes.
    fn left_over(&self, file: &'static File, object: &Object) -> Object {
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
            let has_cell = file.header_of(name).is_some()
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

    fn write<W: Write + Seek>(
        &self,
        file: &'static File,
        object: &Object,
        out: &mut RowWriter<'_, W>,
    ) -> Result<()> {
        let mut cells: Vec<String> = COMMON.iter().map(|name| text(object, name)).collect();
        for (_, name) in file.columns {
            let field = file.kind.field(name);
            let cell = field.and_then(|field| encode(field, object.get(field.name)?));
            cells.push(cell.unwrap_or_default());
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

/// Whether a header can name the metadata and be found again.
fn is_column(name: &str) -> bool {
    !name.is_empty() && name.trim() == name
}

fn text(object: &Object, name: &str) -> String {
    object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The fields of the record that part files take, and the files.
fn parted<'o>(
    file: &'static File,
    object: &'o Object,
) -> impl Iterator<Item = (&'static File, &'static Part, &'o Value)> {
    file.parts().filter_map(|(part_file, part)| {
        let value = object.get(part.field)?;
        let owner = object.get("sourcedId")?.as_str()?;
        rows_of(part_file, part, owner, value)?;
        Some((part_file, part, value))
    })
}

fn part_fields(file: &'static File, object: &Object) -> Vec<&'static str> {
    parted(file, object).map(|(_, part, _)| part.field).collect()
}

fn part_files(file: &'static File, object: &Object) -> Vec<&'static str> {
    parted(file, object).map(|(file, ..)| file.name).collect()
}

fn write_parts<W: Write + Seek>(
    file: &'static File,
    part: &Part,
    object: &Object,
    out: &mut RowWriter<'_, W>,
) -> Result<()> {
    let Some(value) = object.get(part.field) else { return Ok(()) };
    let owner = text(object, COMMON[0]);
    let (status, modified) = (text(object, COMMON[1]), text(object, COMMON[2]));
    // A part of a deleted record is still a part of it.
    let status = if status == "tobedeleted" { "active" } else { status.as_str() };
    for row in rows_of(file, part, &owner, value).unwrap_or_default() {
        let cells = [row.id.as_str(), status, modified.as_str()].into_iter();
        out.row(cells.chain(row.cells.iter().map(String::as_str)))?;
    }
    Ok(())
}
