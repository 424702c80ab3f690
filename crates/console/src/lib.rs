//! The console's pages as HTML, from typed views. There is no HTTP, SQL or clock here: `lyceum-server` fills the views.
//!
//! Each screen is one file and one template: `src/<screen>.rs` has the view, a struct of what is shown, and
//! `templates/<screen>.html` extends `frame.html`. CONTRIBUTING.md describes how to add one.
//!
//! | what | where |
//! |---|---|
//! | the frame around each page; which roles see which screen | `frame` |
//! | lists: filter, sort, pages, export as a file | `list`, `cells`, `query`, `shown_places`, `file` |
//! | addresses of pages | `links` |
//! | tabs and facts, charts, plots, numbers and times as text | `parts`, `chart`, `plot`, `words` |
//! | texts in the language of the reader | `language` |
//! | screens about learning | `home`, `today`, `students`, `student`, `classes`, `teaching`, `courses`, `item`, `badges` |
//! | screens about running the server | `events`, `imports`, `projects`, `keys`, `people`, `person`, `webhooks`, `system`, `school_hours` |
//! | the search over people, classes, courses and screens | `search` |
//! | the pages on which people change their own accounts | `profile` |
//! | pages for signing in, the page on which an app is played | `sign_in`, `play` |
//! | pages of students, sign-in in class | `learn`, `class_sign_in` |
//! | the public page of a credential | `credential` |
//! | the documentation and its search | `docs` |
//! | styles and scripts from `web/console` | `assets` |
//! | limits | `limits` |

#[macro_use]
pub mod language;

pub mod assets;
pub mod badges;
mod cells;
pub mod chart;
pub mod class_sign_in;
pub mod classes;
pub mod courses;
pub mod credential;
pub mod docs;
pub mod events;
mod file;
mod frame;
pub mod home;
pub mod imports;
pub mod item;
pub mod keys;
pub mod learn;
pub mod limits;
pub mod links;
mod list;
mod parts;
pub mod people;
pub mod person;
pub mod play;
pub mod plot;
pub mod profile;
pub mod projects;
mod query;
pub mod school_hours;
pub mod search;
mod shown_places;
pub mod sign_in;
pub mod student;
pub mod students;
pub mod system;
pub mod teaching;
pub mod today;
pub mod webhooks;
pub mod words;

use askama::Template;
use lyceum_core::{Problem, Result};

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
