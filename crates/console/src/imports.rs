//! Imports: files of rosters, checked first, done when somebody says so.

use askama::Template;

use crate::{Cell, Column, Frame, List};

/// The columns of the list of imports.
pub const COLUMNS: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("file", "File"),
    Column::text("state", "State"),
    Column::number("rows", "Rows"),
    Column::number("errors", "Errors"),
    Column::text("who", "By"),
    Column::text("begun", "Sent"),
];

/// The columns of the list of errors and warnings.
pub const ERRORS: &[Column] = &[
    Column::text("severity", "Severity"),
    Column::text("file", "File"),
    Column::number("line", "Line"),
    Column::text("column", "Column"),
    Column::text("value", "Value"),
    Column::text("problem", "Problem"),
    Column::text("fix", "What to do"),
];

/// The columns of the list of a file's rows.
pub const ROWS: &[Column] = &[
    Column::number("line", "Line"),
    Column::text("record", "Record"),
    Column::text("came", "Outcome"),
    Column::text("problem", "Problem"),
];

/// The page of all imports.
#[derive(Template)]
#[template(path = "imports.html")]
pub struct Imports {
    /// The frame.
    pub frame: Frame,
    /// What may be sent at most: `128 MB`.
    pub most: String,
    /// The imports.
    pub list: List,
}

/// What the numbers of a [`File`] count.
pub(crate) const NUMBERS: [&str; 6] = ["Rows", "New", "Changed", "Unchanged", "Deleted", "Refused"];

/// The outcome of a file's rows: what an import did, or would do.
pub struct File {
    /// Its name.
    pub name: String,
    /// Rows, new records, changed ones, unchanged ones, deleted ones, refused rows; each leads to its rows.
    pub numbers: [Cell; 6],
}

/// How far an import is.
pub struct Progress {
    /// The file that is read.
    pub file: String,
    /// Rows that were read.
    pub rows: String,
    /// Of a hundred.
    pub percent: u64,
}

/// The page of one import.
#[derive(Template)]
#[template(path = "import.html")]
pub struct Import {
    /// The frame.
    pub frame: Frame,
    /// Its number.
    pub id: i64,
    /// `checking`, `checked`, …
    pub state: &'static str,
    /// Whether it is being worked on.
    pub is_running: bool,
    /// How far it is.
    pub progress: Option<Progress>,
    /// Who sent it and when.
    pub about: String,
    /// What is said of its state.
    pub says: String,
    /// Why it failed.
    pub error: String,
    /// The files.
    pub files: Vec<File>,
    /// Files that are not part of OneRoster.
    pub ignored: String,
    /// How many errors there are.
    pub errors: u64,
    /// How many warnings there are.
    pub warnings: u64,
    /// Whether there is a file of the refused rows.
    pub has_rejects: bool,
    /// The errors and warnings.
    pub list: List,
}

/// The page of the outcomes of a file's rows.
#[derive(Template)]
#[template(path = "import_rows.html")]
pub struct Rows {
    /// The frame.
    pub frame: Frame,
    /// The number of the import.
    pub id: i64,
    /// What was sent.
    pub name: String,
    /// The rows.
    pub list: List,
}
