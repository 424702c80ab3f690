//! The console's pages as HTML, from typed views.
//!
//! One file and one template a screen: `src/<screen>.rs` has the view, a struct with what is shown, and
//! `templates/<screen>.html` extends `frame.html`. The server fills views; here is no HTTP, no SQL, no
//! clock. What several screens share: the frame around a page ([`Frame`]), lists that filter, sort, page
//! and export ([`List`]), charts as SVG ([`chart`]), words for numbers and times ([`words`]).

pub mod assets;
pub mod badges;
pub mod chart;
pub mod classes;
pub mod courses;
pub mod docs;
pub mod events;
mod file;
mod frame;
pub mod home;
pub mod imports;
pub mod keys;
mod list;
mod parts;
pub mod play;
pub mod plot;
pub mod projects;
mod query;
pub mod student;
pub mod students;
pub mod system;
pub mod today;
pub mod words;

use askama::Template;
use lyceum_core::{Problem, Result};

pub use file::File;
pub use frame::{Frame, SCREENS, Screen, screens};
pub use list::{Button, Cell, Choice, Column, Label, List, Row};
pub use parts::{Facts, Tab, Tabs};
pub use query::{Export, Query};

/// A view as HTML. Errors: `Internal`, for a template that fails.
pub fn html(view: &impl Template) -> Result<String> {
    view.render().map_err(Problem::internal)
}

/// What went wrong, as a page of its own for whoever has no frame: nobody is signed in.
#[derive(Template)]
#[template(path = "problem.html")]
pub struct Lost<'a> {
    /// What is said above.
    pub title: &'a str,
    /// What happened and what to do next.
    pub message: &'a str,
}

/// What went wrong, in the frame.
#[derive(Template)]
#[template(path = "refused.html")]
pub struct Refused<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// What happened and what to do next.
    pub message: &'a str,
}
