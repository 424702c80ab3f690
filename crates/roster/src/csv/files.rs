//! All CSV files of a roster, with their columns and the fields in them.
//!
//! These are the files and headers of OneRoster 1.2 (CSV binding 1.2.1) in its order of columns, followed by the
//! record kinds that only the platform has. The type of a field in its kind's declaration determines how a cell is
//! read and written.

pub use super::table::ALL;
use crate::kind::{Field, FieldType, Presence, RecordKind};
use crate::kinds;

/// A CSV file.
#[derive(Debug)]
pub struct CsvFile {
    /// Its name without `.csv`, which follows `file.` in the manifest.
    pub name: &'static str,
    /// The kind of its records, or of the records whose parts it contains.
    pub kind: &'static RecordKind,
    /// Its columns after `sourcedId`, `status` and `dateLastModified`.
    pub columns: &'static [CsvColumn],
    /// How its rows are parts of records; `None` if each row is a record.
    pub part: Option<JoinedFile>,
}

/// A header and the name of its field, which is empty if the value is not stored.
pub type CsvColumn = (&'static str, &'static str);

/// How the rows of a file become a field of another file's records.
#[derive(Debug)]
pub struct JoinedFile {
    /// The column that names the record.
    pub owner: &'static str,
    /// The field of the record.
    pub field: &'static str,
    /// The form of a row in the field.
    pub shape: JoinedShape,
}

/// The form of a row in the field to which it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinedShape {
    /// An object in a list, identified by these members.
    Object(&'static [&'static str]),
    /// A user profile with one credential.
    Profile,
    /// A reference in a list, from this column.
    Link(&'static str),
    /// The only reference, from this column.
    TheLink(&'static str),
    /// A learning objective, in the set of its source.
    Objective,
    /// A score for a learning objective, in the set of its source.
    ObjectiveScore,
}

/// The columns with which every file begins.
pub const COMMON: [&str; 3] = ["sourcedId", "status", "dateLastModified"];
/// The beginning of the names of metadata columns.
pub const METADATA: &str = "metadata.";
/// The column for everything without its own column: fields of the platform, and values that a cell cannot express.
/// The binding allows only metadata as additional columns.
pub const EXTRA: &str = "metadata.lyceum.record";
/// The prefix of a standard file's name in the manifest.
pub const ENTRY: &str = "file.";
/// The prefix in the manifest of a file that OneRoster 1.2 does not define.
pub const ENTRY_BEYOND: &str = "ext.file.";
/// Columns that name a record although their value is not stored: file, header, kind.
pub const NAMED_AND_NOT_KEPT: &[(&str, &str, &str)] = &[
    ("userResources", "orgSourcedId", "org"),
    ("userResources", "classSourcedId", "class"),
    ("scoreScales", "orgSourcedId", "org"),
];

/// Headers that are read but never written, from OneRoster 1.1 and drafts of 1.2.
pub const FORMER: &[(&str, CsvColumn)] = &[
    ("lineItems", ("gradingPeriodSourcedId", "gradingPeriod")),
    ("users", ("orgSourcedIds", "")),
    ("users", ("resourceSourcedIds", "resources")),
    ("users", ("role", "")),
];

/// Files that OneRoster 1.2 does not define.
pub const BEYOND_THE_STANDARD: &[&str] =
    &["courseComponents", "componentResources", "assessmentLineItems", "assessmentResults"];

pub(super) const fn records(
    name: &'static str,
    kind: &'static RecordKind,
    columns: &'static [CsvColumn],
) -> CsvFile {
    CsvFile { name, kind, columns, part: None }
}

pub(super) const fn part(
    name: &'static str,
    kind: &'static RecordKind,
    columns: &'static [CsvColumn],
    part: JoinedFile,
) -> CsvFile {
    CsvFile { name, kind, columns, part: Some(part) }
}

/// The file with that name, without `.csv`.
pub fn by_name(name: &str) -> Option<&'static CsvFile> {
    ALL.iter().find(|file| file.name == name)
}

/// The file with the records of a kind.
pub fn of_kind(kind: &RecordKind) -> &'static CsvFile {
    ALL.iter()
        .find(|file| file.part.is_none() && file.kind.one == kind.one)
        .expect("every kind has a file")
}

/// Whether any kind of record refers to this one.
pub fn is_referred_to(kind: &RecordKind) -> bool {
    fn refers_to(fields: &[Field], one: &str) -> bool {
        fields.iter().any(|field| match field.ty {
            FieldType::Objects(inner) => refers_to(inner, one),
            FieldType::Reference(of) | FieldType::References(of) => of == one,
            _ => false,
        })
    }
    kinds::ALL.iter().any(|other| refers_to(other.fields, kind.one))
}

impl CsvFile {
    /// Its headers in order, without metadata.
    pub fn headers(&'static self) -> impl Iterator<Item = &'static str> + Clone {
        COMMON.into_iter().chain(self.columns.iter().map(|(header, _)| *header))
    }

    /// The files whose rows are parts of its records.
    pub fn parts(&'static self) -> impl Iterator<Item = (&'static CsvFile, &'static JoinedFile)> {
        let of = if self.part.is_none() { self.kind.one } else { "" };
        ALL.iter()
            .filter(move |file| file.kind.one == of)
            .filter_map(|file| file.part.as_ref().map(|part| (file, part)))
    }

    /// The field of a header, which may be a former one.
    pub fn field_of(&self, header: &str) -> Option<&'static str> {
        let former = FORMER.iter().filter(|(file, _)| *file == self.name).map(|(_, column)| column);
        self.columns.iter().chain(former).find(|(name, _)| *name == header).map(|(_, field)| *field)
    }

    /// The column of a field.
    pub fn header_of(&self, field: &str) -> Option<&'static str> {
        self.columns.iter().find(|(_, name)| *name == field).map(|(header, _)| *header)
    }

    /// Whether the file cannot be read without the column.
    pub fn needs(&self, header: &str) -> bool {
        if header == "sourcedId" {
            return true;
        }
        match &self.part {
            Some(part) => {
                header == part.owner
                    || match part.shape {
                        JoinedShape::Link(column) | JoinedShape::TheLink(column) => {
                            header == column
                        }
                        JoinedShape::Objective | JoinedShape::ObjectiveScore => {
                            header == "source" || header == "learningObjectiveId"
                        }
                        JoinedShape::Object(_) | JoinedShape::Profile => self
                            .columns
                            .iter()
                            .filter(|(name, _)| *name == header)
                            .any(|(_, field)| part.requires(self.kind, field)),
                    }
            }
            None => self
                .columns
                .iter()
                .filter(|(name, _)| *name == header)
                .filter_map(|(_, field)| self.kind.field(field))
                .any(|field| matches!(field.presence, Presence::Required | Presence::Derived)),
        }
    }
}

impl JoinedFile {
    /// The fields of the objects that its rows describe.
    pub fn members(&self, kind: &'static RecordKind) -> &'static [crate::kind::Field] {
        match kind.field(self.field).map(|field| field.ty) {
            Some(FieldType::Objects(fields)) => fields,
            _ => &[],
        }
    }

    fn requires(&self, kind: &'static RecordKind, member: &str) -> bool {
        self.members(kind)
            .iter()
            .any(|field| field.name == member && field.presence == Presence::Required)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_name_declared_fields() {
        for file in ALL {
            for (header, field) in file.columns.iter().filter(|(_, field)| !field.is_empty()) {
                let declared = match &file.part {
                    None => file.kind.field(field).is_some(),
                    Some(part) => part.members(file.kind).iter().any(|one| one.name == *field),
                };
                assert!(declared, "{}.csv: {header} names no field '{field}'", file.name);
            }
            if let Some(part) = &file.part {
                assert!(file.kind.field(part.field).is_some(), "{}", file.name);
                assert!(file.needs(part.owner), "{}", file.name);
            }
        }
    }

    #[test]
    fn every_kind_has_a_file_after_those_that_it_refers_to() {
        let place = |kind: &str| {
            ALL.iter().position(|file| file.part.is_none() && file.kind.one == kind).unwrap()
        };
        for kind in kinds::ALL {
            let own = place(kind.one);
            let mut fields: Vec<_> = kind.fields.iter().collect();
            while let Some(field) = fields.pop() {
                match field.ty {
                    FieldType::Objects(inner) => fields.extend(inner),
                    FieldType::Reference(target) | FieldType::References(target) => {
                        let target = place(kinds::by_name(target).unwrap().one);
                        assert!(target <= own, "{} refers to a later file", kind.one);
                    }
                    _ => {}
                }
            }
        }
    }
}
