//! The data about a person: exporting and erasing it.

use askama::Template;
use lyceum_console::language::ProblemText;
use lyceum_console::{FactList, Frame, List};

/// The page for exporting and erasing a person.
#[derive(Template)]
#[template(path = "console/personal_data/person.html")]
pub(crate) struct PersonPage {
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
#[template(path = "console/personal_data/erasure.html")]
pub(crate) struct ErasurePage {
    /// The frame.
    pub frame: Frame,
    /// Whether everything was removed.
    pub is_done: bool,
    /// Pseudonym, times and phase.
    pub facts: FactList,
    /// The list of things that were removed.
    pub removed: List,
}
