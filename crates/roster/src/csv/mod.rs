//! OneRoster 1.2 as CSV files in a zip or a folder.

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
mod manifest;
mod outside;
pub(crate) mod package;
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
mod waiting;
mod writing;

pub use erased::{ErasedUsers, FindErased};
pub use export::{ExportContent, ExportReport, export};
pub use fault::CsvError;
pub use import::{CsvProgress, ImportOptions, import};
pub use manifest::FileMode;
pub use report::{CsvReport, FileReport};
pub use row_notes::{NotedRow, RowOutcome, notes_of_file};
