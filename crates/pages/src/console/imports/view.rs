//! Imports: roster files are uploaded and checked, and imported when the viewer confirms it.

use askama::Template;
use lyceum_console::{Cell, Column, Frame, List};
use lyceum_core::phrase;

/// The columns of the list of imports.
pub(crate) const COLUMNS: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("file", "File"),
    Column::text("state", "State"),
    Column::number("rows", "Rows"),
    Column::number("errors", "Errors"),
    Column::text("who", "By"),
    Column::text("begun", "Sent"),
];

/// The columns of the list of errors and warnings.
pub(crate) const ERRORS: &[Column] = &[
    Column::text("severity", "Severity"),
    Column::text("file", "File"),
    Column::number("line", "Line"),
    Column::text("column", "Column"),
    Column::text("value", "Value"),
    Column::text("problem", "Problem"),
    Column::text("fix", "What to do"),
];

/// The columns of the list of a file's rows.
pub(crate) const ROWS: &[Column] = &[
    Column::number("line", "Line"),
    Column::text("record", "Record"),
    Column::text("came", "Outcome"),
    Column::text("problem", "Problem"),
];

/// The page of all imports.
#[derive(Template)]
#[template(path = "console/imports/imports.html")]
pub(crate) struct ImportsPage {
    /// The frame.
    pub frame: Frame,
    /// The largest file that can be uploaded, such as `128 MB`.
    pub most: String,
    /// The imports.
    pub list: List,
}

/// The names of the numbers of a [`ImportedFile`].
pub(crate) const NUMBERS: [&str; 8] = [
    phrase!("Rows"),
    phrase!("New"),
    phrase!("Changed"),
    phrase!("Restored"),
    phrase!("Unchanged"),
    phrase!("Deleted"),
    phrase!("Older"),
    phrase!("Refused"),
];

/// The outcome of an import, or of a dry run, for the rows of one file.
pub(crate) struct ImportedFile {
    /// The name of the file.
    pub name: String,
    /// The numbers that [`NUMBERS`] names. Each links to its rows.
    pub numbers: [Cell; 8],
}

/// The progress of an import.
pub(crate) struct ProgressBar {
    /// The file that is being read.
    pub file: String,
    /// The number of rows read so far.
    pub rows: String,
    /// The progress in percent.
    pub percent: u64,
}

/// The page of one import.
#[derive(Template)]
#[template(path = "console/imports/import.html")]
pub(crate) struct ImportPage {
    /// The frame.
    pub frame: Frame,
    /// The number of the import.
    pub id: i64,
    /// The state, such as `checking` or `checked`.
    pub state: &'static str,
    /// Whether the server is working on the import.
    pub is_running: bool,
    /// The progress, while the import is running.
    pub progress: Option<ProgressBar>,
    /// Size, sender and time of the upload.
    pub about: String,
    /// Explains the state.
    pub description: String,
    /// Why the import failed; empty if it did not.
    pub error: String,
    /// The files.
    pub files: Vec<ImportedFile>,
    /// Files that are not part of OneRoster.
    pub ignored: String,
    /// The number of errors.
    pub errors: u64,
    /// The number of warnings.
    pub warnings: u64,
    /// Whether the refused rows can be downloaded as a file.
    pub has_rejects: bool,
    /// The errors and warnings.
    pub list: List,
}

/// The page that shows the outcome of each row of a file.
#[derive(Template)]
#[template(path = "console/imports/import_rows.html")]
pub(crate) struct ImportRowsPage {
    /// The frame.
    pub frame: Frame,
    /// The number of the import.
    pub id: i64,
    /// The name of the uploaded file.
    pub name: String,
    /// The rows.
    pub list: List,
}
