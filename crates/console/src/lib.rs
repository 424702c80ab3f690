//! The parts of pages: the frame, lists, charts, numbers and texts in the reader's language. There is no HTTP, SQL or
//! clock here; the pages themselves are in the crate `pages`.
//!
//! | what | where |
//! |---|---|
//! | the frame around each page; which roles see which screen | `frame` |
//! | lists: filter, sort, pages, export as a file | `list`, `cells`, `query`, `shown_places`, `file` |
//! | addresses of pages | `links` |
//! | tabs and facts, charts, plots, numbers and times as text | `parts`, `chart`, `plot`, `words` |
//! | texts in the language of the reader | `language` |
//! | the first page of a person's export | `export_index` |
//! | styles and scripts from `web/console` | `assets` |
//! | limits | `limits` |

// Templates name this crate, also those of other crates that extend its frame.
extern crate self as lyceum_console;

#[macro_use]
pub mod language;

pub mod assets;
mod cells;
pub mod chart;
mod export_index;
mod file;
pub mod frame;
pub mod limits;
pub mod links;
mod list;
mod parts;
pub mod plot;
mod query;
mod shown_places;
pub mod words;

use askama::Template;
use lyceum_core::{Problem, Result};

pub use export_index::ExportIndex;
pub use file::ExportFile;
use language::ProblemText;

pub use frame::{Frame, SCREENS, Screen, screens};
pub use list::{Button, Cell, Column, Label, List, ListFilter, Row};
pub use parts::{FactList, Tab, Tabs};
pub use query::{ExportFormat, ListQuery};
pub use shown_places::ShownPlaces;

/// The page at `/api`, which names the documentation.
pub const API_PAGE: &str = include_str!("../templates/api.html");

/// Renders a view as HTML. Errors: `Internal` if the template fails.
pub fn html(view: &impl Template) -> Result<String> {
    view.render().map_err(Problem::internal)
}

/// The page that shows a problem when nobody is signed in, and so without a frame.
#[derive(Template)]
#[template(path = "problem.html")]
pub struct ProblemPage<'a> {
    /// The heading.
    pub title: &'a str,
    /// Explains the problem and what to do next.
    pub message: ProblemText,
}

/// The page that shows a problem inside the frame.
#[derive(Template)]
#[template(path = "refused.html")]
pub struct FramedProblemPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// Explains the problem and what to do next.
    pub message: ProblemText,
    /// Whether the page does not exist, so that a search may find what was meant.
    pub is_missing: bool,
}
