//! OneRoster 1.2 as CSV files in a zip or a folder.
//!
//! A standard export is strict, and what the binding cannot express is left out and named. A complete export is a
//! delta with status and dates; its column `metadata.lyceum.record` has what no other column can hold.

mod absent;
mod binding;
mod candidate;
mod cell;
mod dangling;
mod erased;
mod export;
mod fault;
pub mod files;
mod header;
mod import;
mod layout;
mod manifest;
mod missing;
mod older;
mod outside;
pub mod package;
mod parts;
mod reading;
mod remembered_ids;
mod report;
mod row_members;
mod row_notes;
pub mod rows;
pub mod source;
mod standard;
mod strict;
mod table;
mod usernames;
mod waiting;
mod writing;

pub use absent::{AbsentPolicy, FileCoverage};
pub use erased::{ErasedUsers, FindErased};
pub use export::{ExportContent, ExportReport, export};
pub use fault::CsvError;
pub use import::{CsvProgress, ImportOptions, import};
pub use manifest::FileMode;
pub use report::{CsvReport, FileReport};
pub use row_notes::{NotedRow, RowOutcome, notes_of_file};
