//! `manifest.csv`: which files a package has, and whether each is bulk or a delta.

use std::collections::BTreeMap;

use lyceum_core::messages::io_reason;
use lyceum_core::text::near_miss;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};

use super::fault::CsvError;
use super::files::{self, BEYOND_THE_STANDARD, ENTRY, ENTRY_BEYOND};
use super::header::{WRITE_COMMAS, other_separator};
use super::rows::{CsvRow, CsvRows};
use super::source::CsvSource;

/// How the manifest describes a file.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum FileMode {
    /// All records, in their current state.
    Bulk,
    /// Changes: new, changed and deleted records.
    Delta,
}

impl FileMode {
    /// Its name in the manifest.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Delta => "delta",
        }
    }
}

/// The name of the manifest.
pub(super) const NAME: &str = "manifest.csv";
const PROPERTY_NAME: &str = "propertyName";
const PROPERTY_VALUE: &str = "value";
const VERSION: &str = "oneroster.version";

/// The files of a package, with their modes.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    modes: BTreeMap<&'static str, FileMode>,
}

impl Manifest {
    /// How the manifest describes the file; `None` if the file is absent.
    pub(super) fn mode(&self, file: &str) -> Option<FileMode> {
        self.modes.get(file).copied()
    }

    /// Reads the manifest. A package without one is treated as bulk if it contains roster files. With `is_strict`, it
    /// reports everything that the binding forbids.
    ///
    /// Returns also its errors and warnings.
    ///
    /// Errors: `Invalid` if there is neither a manifest nor a roster file, or if it cannot be read.
    pub(super) fn of(
        source: &mut CsvSource,
        is_strict: bool,
    ) -> Result<(Self, Vec<CsvError>, Vec<CsvError>)> {
        if !source.has(NAME) {
            let present =
                files::ALL.iter().filter(|file| source.has(&format!("{}.csv", file.name)));
            let modes: BTreeMap<_, _> = present.map(|file| (file.name, FileMode::Bulk)).collect();
            if modes.is_empty() {
                return Err(Problem::new(
                    ProblemKind::Invalid,
                    "the package has neither manifest.csv nor a roster file such as users.csv; give a \
                     OneRoster zip, or the folder with its files",
                ));
            }
            let missing = CsvError::of_row(NAME, 0, "is required", "add the manifest");
            let faults = if is_strict { vec![missing] } else { Vec::new() };
            return Ok((Self { modes }, faults, Vec::new()));
        }
        let mut manifest = Self::default();
        let (mut faults, mut warnings) = (Vec::new(), Vec::new());
        let mut row = CsvRow::default();
        let mut properties: Vec<(String, String)> = Vec::new();
        {
            let input = source.read(NAME)?;
            let mut rows = CsvRows::new(input);
            while let Some(next) = rows.next(&mut row).map_err(|e| unreadable(NAME, &e))? {
                match next {
                    Ok(()) => {
                        let is_property =
                            |name: &str| name == PROPERTY_NAME || name == PROPERTY_VALUE;
                        if let Some(problem) = other_separator(&row.readable()[0], is_property) {
                            let error = CsvError::of_row(NAME, row.line, problem, WRITE_COMMAS);
                            return Err(Problem::new(ProblemKind::Invalid, error.detail().text()));
                        }
                        let mut cells = row.readable().into_iter().map(|it| it.trim().to_owned());
                        let name = cells.next().unwrap_or_default();
                        properties.push((name, cells.next().unwrap_or_default()));
                        faults.extend(manifest.line(&row));
                        warnings.extend(former_version(&row).filter(|_| !is_strict));
                    }
                    Err(broken) => {
                        faults.push(CsvError::of_row(
                            NAME,
                            broken.line,
                            broken.problem,
                            broken.remedy,
                        ));
                    }
                }
            }
        }
        for name in manifest.modes.keys() {
            if !source.has(&format!("{name}.csv")) {
                faults.push(
                    CsvError::of_row(
                        NAME,
                        0,
                        message!("the manifest lists {name}.csv, but the file does not exist"),
                        message!("add {name}.csv, or write 'absent' for it"),
                    )
                    .at(&format!("file.{name}"), ""),
                );
            }
        }
        manifest.modes.retain(|name, _| source.has(&format!("{name}.csv")));
        if is_strict {
            faults.extend(strict_faults(&properties));
        }
        Ok((manifest, faults, warnings))
    }

    fn line(&mut self, row: &CsvRow) -> Option<CsvError> {
        let cells = row.readable();
        let name = cells.first().map_or("", |cell| cell.trim());
        let value = cells.get(1).map_or("", |cell| cell.trim());
        let fault = |problem: Message, remedy: Message| {
            Some(CsvError::of_row(NAME, row.line, problem, remedy).at(name, value))
        };
        if name == VERSION && !matches!(value, "1.1" | "1.2" | "1.2.1") {
            return fault("is not a supported version".into(), "export as OneRoster 1.2".into());
        }
        if name == "manifest.version" && value != "1.0" {
            return fault("is not a version of the manifest".into(), "write 1.0".into());
        }
        let file = name.strip_prefix(ENTRY).or_else(|| name.strip_prefix(ENTRY_BEYOND))?;
        // The standard's table marks files that are new in 1.2 with a star, and some systems copy the star.
        let file = file.trim_end_matches('*');
        let mode = match value {
            "absent" => return None,
            "bulk" => FileMode::Bulk,
            "delta" => FileMode::Delta,
            _ => return fault("must be absent, bulk or delta".into(), "write one of them".into()),
        };
        match files::by_name(file) {
            Some(known) => {
                self.modes.insert(known.name, mode);
                None
            }
            None => {
                let problem = message!("'{file}' is not a roster file");
                match near_miss(file, files::ALL.iter().map(|known| known.name)) {
                    Some(near) => fault(problem, message!("write '{ENTRY}{near}'")),
                    None => fault(problem, "remove the line, or fix it".into()),
                }
            }
        }
    }
}

/// The warning about a version of OneRoster whose files are read like those of 1.2. In strict mode it is an error.
fn former_version(row: &CsvRow) -> Option<CsvError> {
    let cells = row.readable();
    let (name, value) = (cells.first()?.trim(), cells.get(1)?.trim());
    if name != VERSION || !matches!(value, "1.1" | "1.2.1") {
        return None;
    }
    let problem =
        "is not the version 1.2 that OneRoster 1.2 requires here; the files are read as 1.2";
    Some(CsvError::of_row(NAME, row.line, problem, "write 1.2").at(name, value))
}

/// The rules of the binding that a manifest breaks: each property must occur once, and other properties must not occur.
fn strict_faults(properties: &[(String, String)]) -> Vec<CsvError> {
    let of_files = files::ALL.iter().filter(|file| !BEYOND_THE_STANDARD.contains(&file.name));
    let of_files = of_files.map(|file| (format!("{ENTRY}{}", file.name), None));
    let versions = [("manifest.version", "1.0"), (VERSION, "1.2")]
        .map(|(name, value)| (name.to_owned(), Some(value)));
    let required: Vec<(String, Option<&str>)> = versions.into_iter().chain(of_files).collect();
    let fault = |problem: Message, remedy: &'static str, name: &str, value: &str| {
        CsvError::of_row(NAME, 0, problem, remedy).at(name, value)
    };
    let mut faults = Vec::new();
    let head = properties.first().map(|(name, value)| (name.as_str(), value.as_str()));
    if head != Some((PROPERTY_NAME, PROPERTY_VALUE)) {
        let problem = "the first line must be propertyName,value".into();
        faults.push(fault(problem, "write that line", "", ""));
    }
    for (name, wanted) in &required {
        let mut found = properties.iter().filter(|(found, _)| found == name);
        match (found.next(), found.next(), wanted) {
            (None, ..) => {
                faults.push(fault("is required".into(), "add the line", name, ""));
            }
            (Some(_), Some(_), _) => {
                faults.push(fault("appears twice".into(), "remove one of the lines", name, ""));
            }
            (Some((_, value)), None, Some(wanted)) if value != wanted => {
                let problem = message!("must be the version {wanted}");
                faults.push(fault(problem, "write that version", name, value));
            }
            _ => {}
        }
    }
    for (name, value) in properties.iter().skip(1) {
        let is_known = required.iter().any(|(known, _)| known == name)
            || matches!(name.as_str(), "source.systemName" | "source.systemCode");
        if !is_known {
            let problem = "OneRoster 1.2 has no such property".into();
            faults.push(fault(problem, "remove the line", name, value));
        }
    }
    faults
}

/// The problem of a file that cannot be read completely.
pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        message!("{file} cannot be read completely: {error}", error = io_reason(error)),
    )
}
