//! The header of a file: what each of its columns is for.

use lyceum_core::limits::CSV_MAX_ENTRIES;

use super::fault::Fault;
use super::files::{COMMON, EXTRA, File, METADATA};
use super::rows::Row;
use crate::kind::Field;

/// What a column is for.
#[derive(Clone, Debug)]
pub(super) enum Use {
    SourcedId,
    Status,
    Modified,
    /// A field of the record.
    Field(&'static Field),
    /// A column of a part file, by its place in the table.
    Part(usize),
    Metadata(String),
    /// The JSON object with what has no column.
    Extra,
    /// The `role` of a user of OneRoster 1.1.
    FormerRole,
    /// The `orgSourcedIds` of a user of OneRoster 1.1.
    FormerOrgs,
    /// Read past: nothing keeps it.
    Nothing,
}

/// The columns of a file as it is.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    pub(super) uses: Vec<Use>,
    /// Whether the rows behind it can be read: it is there, and has every column that it needs.
    pub(super) is_usable: bool,
}

impl Header {
    /// The header of a file that has none that can be read.
    pub(super) fn unusable() -> Self {
        Self { names: Vec::new(), uses: Vec::new(), is_usable: false }
    }

    /// Reads a header. Columns with faults are read past.
    pub(super) fn read(file: &'static File, row: &Row, delta: bool) -> (Self, Vec<Fault>) {
        let names: Vec<String> = row.readable();
        let csv = format!("{}.csv", file.name);
        let mut faults = Vec::new();
        let mut fault = |column: &str, problem: &str, mend: String| {
            faults.push(Fault::of_row(&csv, row.line, problem, mend).at(column, column));
        };
        if names.len() > CSV_MAX_ENTRIES {
            let problem = format!("the header has more than {CSV_MAX_ENTRIES} columns");
            fault("", &problem, "leave out metadata columns".into());
        }
        let mut uses: Vec<Use> = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            let trimmed = name.trim();
            let repeated = names[..at].iter().any(|other| other.trim() == trimmed);
            uses.push(match use_of(file, name) {
                _ if repeated => {
                    fault(name, "the column stands twice in the header", "keep one of them".into());
                    Use::Nothing
                }
                Some(found) => found,
                None => {
                    fault(name, "is no column of this file", advice(file, trimmed));
                    Use::Nothing
                }
            });
        }
        let has = |header: &str| names.iter().any(|name| name.trim() == header);
        let needed = file.headers().filter(|header| {
            file.needs(header) || (delta && (*header == COMMON[1] || *header == COMMON[2]))
        });
        let missing: Vec<_> = needed.filter(|header| !has(header)).collect();
        for header in &missing {
            let problem = "the column is missing; the rows of the file are not read";
            fault(header, problem, format!("add the column '{header}'"));
        }
        let is_usable = missing.is_empty();
        (Self { names, uses, is_usable }, faults)
    }

    /// Whether the file says something about the field.
    pub(super) fn covers(&self, field: &str) -> bool {
        self.uses.iter().any(|one| match one {
            Use::Field(found) => found.name == field,
            Use::FormerRole => field == "roles",
            _ => false,
        })
    }

    /// Whether the file says something about that member of the metadata.
    pub(super) fn covers_metadata(&self, name: &str) -> bool {
        self.uses.iter().any(|one| matches!(one, Use::Metadata(found) if found == name))
    }

    /// The place of the first column of that use.
    pub(super) fn place(&self, wanted: impl Fn(&Use) -> bool) -> Option<usize> {
        self.uses.iter().position(wanted)
    }
}

fn use_of(file: &'static File, name: &str) -> Option<Use> {
    let header = name.trim();
    match header {
        "sourcedId" => return Some(Use::SourcedId),
        "status" => return Some(Use::Status),
        "dateLastModified" => return Some(Use::Modified),
        EXTRA if file.part.is_none() => return Some(Use::Extra),
        _ => {}
    }
    if header.starts_with(METADATA) {
        return Some(match file.part {
            // The name is taken as it stands; it may begin or end with a space.
            None => Use::Metadata(name.trim_start()[METADATA.len()..].to_owned()),
            Some(_) => Use::Nothing,
        });
    }
    let field = file.field_of(header)?;
    if file.part.is_some() {
        let at = file.columns.iter().position(|(name, _)| *name == header)?;
        return Some(Use::Part(at));
    }
    Some(match (file.name, header) {
        ("users", "role") => Use::FormerRole,
        ("users", "orgSourcedIds") => Use::FormerOrgs,
        _ => file.kind.field(field).map_or(Use::Nothing, Use::Field),
    })
}

/// What to do about a header that is not known: the name that was likely meant.
fn advice(file: &'static File, name: &str) -> String {
    let near = file.headers().min_by_key(|header| distance(header, name));
    match near.filter(|header| distance(header, name) <= 1 + name.len() / 4) {
        Some(near) => format!("write '{near}'"),
        None => format!("name it '{METADATA}{name}' to keep it, or remove it"),
    }
}

/// How many letters differ between two names, their case aside.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.bytes().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
