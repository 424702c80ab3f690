//! The first page of the zip with everything about a person.

use askama::Template;

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
