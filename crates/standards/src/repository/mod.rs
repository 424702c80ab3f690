//! The only SQL of this crate.

mod alignments;
mod list;
mod package;
mod read;
mod same;
mod single;
mod write;

pub use alignments::{Alignment, align, aligned, aligned_of_all, alignments, unalign};
pub(crate) use alignments::{aligned_to, below, known};
pub use list::{Framework, RecordPage, frameworks, list};
pub(crate) use package::tree;
pub use package::write_package;
pub use read::{
    Reader, association, definition, definition_set, document, item, item_associations, statements,
};
pub use single::{
    add_association, add_document, add_item, remove_association, remove_document, remove_item,
    replace_association, replace_document, replace_item,
};
pub use write::{PackageCounts, WriteOutcome, changed, create, publish, replace, upsert};
