//! OneRoster 1.2 as CSV files in a zip or a folder.

mod binding;
mod candidate;
mod cell;
mod dangling;
mod export;
mod fault;
pub mod files;
mod header;
mod import;
mod known;
mod manifest;
mod noted;
pub(crate) mod package;
mod parts;
mod reading;
mod report;
pub mod rows;
mod said;
pub mod source;
mod standard;
mod strict;
mod table;
mod waiting;
mod writing;

pub use export::{Content, Exported, export};
pub use fault::Fault;
pub use import::{Options, Progress, import};
pub use manifest::FileMode;
pub use noted::{Came, Noted, noted};
pub use report::{FileReport, Report};
