//! Reads the header of a file: the use of each column.

use lyceum_core::text::nearest;
use lyceum_core::{Message, message};

use super::fault::CsvError;
use super::files::{COMMON, CsvFile, EXTRA, METADATA};
use super::rows::CsvRow;
use crate::kind::Field;
use crate::limits::CSV_MAX_ENTRIES;

/// The use of a column.
#[derive(Clone, Debug)]
pub(super) enum ColumnUse {
    SourcedId,
    Status,
    Modified,
    /// A field of the record.
    Field(&'static Field),
    /// A column of a part file, by its index in the table.
    Part(usize),
    Metadata(String),
    /// The JSON object with values that have no column.
    Extra,
    /// The `role` of a user in OneRoster 1.1.
    FormerRole,
    /// The `orgSourcedIds` of a user in OneRoster 1.1.
    FormerOrgs,
    /// Not read, because the value is not stored.
    Nothing,
}

/// The actual columns of a file.
#[derive(Clone, Debug)]
pub(super) struct CsvHeader {
    pub(super) names: Vec<String>,
    pub(super) uses: Vec<ColumnUse>,
    /// Whether the rows can be read, because the header exists and has all required columns.
    pub(super) is_usable: bool,
    /// Its line.
    line: u64,
    /// The places of columns that the file should not have.
    unknown: Vec<usize>,
    /// The number of extra commas at its end.
    blank: usize,
}

/// The errors of a header.
#[derive(Default)]
pub(super) struct HeaderErrors {
    pub(super) faults: Vec<CsvError>,
    /// Warnings about commas at its end and, if the rows are not read, about unknown columns.
    pub(super) warnings: Vec<CsvError>,
    /// The number of rows that are not read.
    pub(super) unread_rows: u64,
}

/// The number of values in each unknown column.
pub(super) struct UnknownColumns<'h> {
    header: &'h CsvHeader,
    values: Vec<u64>,
}

/// How the fields of a row fit the header.
pub(super) enum RowWidth {
    Fits,
    /// The row has that number of extra empty fields.
    Trailing(usize),
    Differs,
}

impl CsvHeader {
    /// The header of a file without a readable one.
    pub(super) fn unusable() -> Self {
        Self {
            names: Vec::new(),
            uses: Vec::new(),
            is_usable: false,
            line: 1,
            unknown: Vec::new(),
            blank: 0,
        }
    }

    /// Reads a header. Wrong and unknown columns are not read.
    pub(super) fn read(file: &'static CsvFile, row: &CsvRow, delta: bool) -> (Self, HeaderErrors) {
        let mut names: Vec<String> = row.readable();
        while names.last().is_some_and(|name| name.trim().is_empty()) {
            names.pop();
        }
        let blank = row.len() - names.len();
        let csv = format!("{}.csv", file.name);
        let header_problem = |column: &str, problem: Message, remedy: Message| {
            CsvError::of_row(&csv, row.line, problem, remedy).at(column, column)
        };
        let mut warnings = Vec::new();
        if blank > 0 {
            warnings.push(header_problem("", trailing("header", blank), REMOVE_COMMAS.into()));
        }
        let mut faults = Vec::new();
        let mut fault = |column: &str, problem: Message, remedy: Message| {
            faults.push(header_problem(column, problem, remedy));
        };
        if names.len() > CSV_MAX_ENTRIES {
            let problem = message!("the header has more than {CSV_MAX_ENTRIES} columns");
            fault("", problem, "remove metadata columns".into());
        }
        let mut uses: Vec<ColumnUse> = Vec::with_capacity(names.len());
        let mut unknown = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let trimmed = name.trim();
            let repeated = names[..at].iter().any(|other| other.trim() == trimmed);
            uses.push(match use_of(file, name) {
                _ if repeated => {
                    fault(
                        name,
                        "the column appears twice in the header".into(),
                        "remove one of them".into(),
                    );
                    ColumnUse::Nothing
                }
                Some(found) => found,
                None => {
                    unknown.push(at);
                    ColumnUse::Nothing
                }
            });
        }
        let has = |header: &str| names.iter().any(|name| name.trim() == header);
        let needed = file.headers().filter(|header| {
            file.needs(header) || (delta && (*header == COMMON[1] || *header == COMMON[2]))
        });
        let missing: Vec<_> = needed.filter(|header| !has(header)).collect();
        for header in &missing {
            let problem = "the column is missing, and the rows of the file are not read";
            let similar = nearest(header, unknown.iter().map(|at| names[*at].trim()));
            fault(
                header,
                problem.into(),
                match similar {
                    Some(name) => message!("rename the column '{name}' to '{header}'"),
                    None => message!("add the column '{header}'"),
                },
            );
        }
        let is_usable = missing.is_empty();
        let header = Self { names, uses, is_usable, line: row.line, unknown, blank };
        (header, HeaderErrors { faults, warnings, unread_rows: 0 })
    }

    /// Begins to count the values that are not read.
    pub(super) fn unknown_columns(&self) -> UnknownColumns<'_> {
        UnknownColumns { header: self, values: vec![0; self.unknown.len()] }
    }

    /// How the fields of a row fit the header.
    pub(super) fn width(&self, row: &CsvRow) -> RowWidth {
        let own = self.names.len();
        let is_blank = (own..row.len()).all(|at| row.bytes(at).is_empty());
        match row.len() {
            found if found < own || !is_blank => RowWidth::Differs,
            found if found <= own + self.blank => RowWidth::Fits,
            found => RowWidth::Trailing(found - own),
        }
    }

    /// Whether the file has values for the field.
    pub(super) fn covers(&self, field: &str) -> bool {
        self.uses.iter().any(|one| match one {
            ColumnUse::Field(found) => found.name == field,
            ColumnUse::FormerRole => field == "roles",
            _ => false,
        })
    }

    /// Whether the file has values for that member of the metadata.
    pub(super) fn covers_metadata(&self, name: &str) -> bool {
        self.uses.iter().any(|one| matches!(one, ColumnUse::Metadata(found) if found == name))
    }

    /// The index of the first column with that use.
    pub(super) fn place(&self, wanted: impl Fn(&ColumnUse) -> bool) -> Option<usize> {
        self.uses.iter().position(wanted)
    }
}

impl UnknownColumns<'_> {
    /// Counts the values of a row.
    pub(super) fn count(&mut self, row: &CsvRow) {
        for (at, values) in self.header.unknown.iter().zip(&mut self.values) {
            *values += u64::from(!row.bytes(*at).is_empty());
        }
    }

    /// A warning about each column, with the number of its values and the likely intended column.
    pub(super) fn warnings(&self, file: &'static CsvFile) -> Vec<CsvError> {
        let columns = self.header.unknown.iter().zip(&self.values);
        let warning = |(at, values): (&usize, &u64)| {
            let name = &self.header.names[*at];
            let problem =
                message!("is not a column of this file; values that are not read: {values}");
            let csv = format!("{}.csv", file.name);
            CsvError::of_row(&csv, self.header.line, problem, advice(file, name.trim()))
                .at(name, name)
        };
        columns.map(warning).collect()
    }
}

/// The problem of a header whose columns are not separated by commas.
pub(super) fn other_separator(
    header: &str,
    is_column: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let separators = [
        (';', "columns are separated by commas, but the file has semicolons"),
        ('\t', "columns are separated by commas, but the file has tabs"),
        ('|', "columns are separated by commas, but the file has vertical bars"),
    ];
    let has_columns = |separator: char| {
        header.split(separator).filter(|name| is_column(name.trim().trim_matches('"'))).count() > 1
    };
    separators
        .into_iter()
        .find(|(separator, _)| has_columns(*separator))
        .map(|(_, problem)| problem)
}

/// The advice about another separator.
pub(super) const WRITE_COMMAS: &str = "save the file with commas between the columns";

/// The advice about commas at the end of a line.
pub(super) const REMOVE_COMMAS: &str = "remove the commas at the end of the line";

/// The message for a line that ends with extra empty fields.
pub(super) fn trailing(what: &'static str, blank: usize) -> Message {
    message!("the {what} ends with {blank} extra empty fields, which are not read")
}

fn use_of(file: &'static CsvFile, name: &str) -> Option<ColumnUse> {
    let header = name.trim();
    match header {
        "sourcedId" => return Some(ColumnUse::SourcedId),
        "status" => return Some(ColumnUse::Status),
        "dateLastModified" => return Some(ColumnUse::Modified),
        EXTRA if file.part.is_none() => return Some(ColumnUse::Extra),
        _ => {}
    }
    if header.starts_with(METADATA) {
        return Some(match file.part {
            // The name is taken literally. It may begin or end with a space.
            None => ColumnUse::Metadata(name.trim_start()[METADATA.len()..].to_owned()),
            Some(_) => ColumnUse::Nothing,
        });
    }
    let field = file.field_of(header)?;
    if file.part.is_some() {
        let at = file.columns.iter().position(|(name, _)| *name == header)?;
        return Some(ColumnUse::Part(at));
    }
    Some(match (file.name, header) {
        ("users", "role") => ColumnUse::FormerRole,
        ("users", "orgSourcedIds") => ColumnUse::FormerOrgs,
        _ => file.kind.field(field).map_or(ColumnUse::Nothing, ColumnUse::Field),
    })
}

/// The advice about an unknown header: names the likely intended column.
fn advice(file: &'static CsvFile, name: &str) -> Message {
    match nearest(name, file.headers()) {
        Some(near) => message!("rename it to '{near}'"),
        None => message!("name it '{METADATA}{name}' to keep it, or remove it"),
    }
}
