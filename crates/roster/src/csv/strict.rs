//! Checks for an import with `--strict`: what the binding forbids in headers and rows. Checks of manifests are with
//! the manifest.

use super::binding;
use super::candidate::csv;
use super::fault::CsvError;
use super::files::{COMMON, CsvFile, METADATA};
use super::header::CsvHeader;
use super::manifest::FileMode;
use super::rows::CsvRow;
use lyceum_core::{Message, message};

/// The rules of the binding that the header of a file breaks: it must have all columns in order, followed only by
/// `metadata.…`.
pub(super) fn header(file: &'static CsvFile, names: &[String], line: u64) -> Vec<CsvError> {
    let fault = |column: &str, problem: Message, remedy: Message| {
        CsvError::of_row(&csv(file), line, problem, remedy).at(column, column)
    };
    if !binding::has(file) {
        let problem = "OneRoster 1.2 has no such file".into();
        return vec![fault("", problem, "remove the file".into())];
    }
    let mut faults = Vec::new();
    let mut headers = names.iter().map(String::as_str);
    for wanted in file.headers() {
        let found = headers.next().unwrap_or_default();
        if found != wanted {
            let problem = message!("OneRoster 1.2 has the column '{wanted}' here");
            let remedy = "write all columns of the file in the standard's order".into();
            faults.push(fault(found, problem, remedy));
            return faults;
        }
    }
    for name in headers.filter(|name| name.strip_prefix(METADATA).is_none_or(str::is_empty)) {
        let problem = "OneRoster 1.2 has no such column".into();
        faults.push(fault(name, problem, message!("name it '{METADATA}{name}', or remove it")));
    }
    faults
}

/// The rules of the binding that a row breaks.
pub(super) fn row(
    file: &'static CsvFile,
    header: &CsvHeader,
    row: &CsvRow,
    mode: FileMode,
) -> Vec<CsvError> {
    let mut faults = Vec::new();
    for (at, name) in header.names.iter().enumerate() {
        let Ok(text) = row.text(at) else { continue };
        let mut fault = |problem: Message, remedy: Message| {
            faults.push(CsvError::of_row(&csv(file), row.line, problem, remedy).at(name, text));
        };
        match (COMMON[1..].contains(&name.as_str()), mode, text.is_empty()) {
            (true, FileMode::Bulk, false) => {
                fault("must be blank in a bulk file".into(), "empty the cell".into());
            }
            (true, FileMode::Delta, true) => {
                fault("is required in a delta".into(), "fill the cell".into());
            }
            (true, ..) => {}
            (false, ..) => {
                if let Some(unfit) = binding::unfit(file, name, text) {
                    fault(unfit.problem, unfit.remedy);
                }
            }
        }
    }
    faults
}
