//! The data about a person: exporting and erasing it, and the first page of the exported zip.

use askama::Template;

use crate::language::ProblemText;
use crate::{FactList, Frame, List};

/// The page for exporting and erasing a person.
#[derive(Template)]
#[template(path = "person.html")]
pub struct PersonPage {
    /// The frame.
    pub frame: Frame,
    /// The page's address.
    pub path: String,
    /// The id that must be typed.
    pub id: String,
    /// The rows that an erasure changes.
    pub rows: List,
    /// Why the person was not erased.
    pub problem: Option<ProblemText>,
}

/// The page of an erasure.
#[derive(Template)]
#[template(path = "erasure.html")]
pub struct ErasurePage {
    /// The frame.
    pub frame: Frame,
    /// Whether everything was removed.
    pub is_done: bool,
    /// Pseudonym, times and phase.
    pub facts: FactList,
    /// What was removed.
    pub removed: List,
}

/// `index.html` of the zip with everything about a person. It needs no file beside itself.
#[derive(Template)]
#[template(path = "person_export.html")]
pub struct ExportIndex {
    /// The id that the export was asked for.
    pub id: String,
    /// When it was exported.
    pub exported: String,
    /// The other files of the zip, each with its number of entries.
    pub files: Vec<(String, u64)>,
}
