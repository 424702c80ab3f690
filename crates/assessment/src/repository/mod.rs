//! The SQL of this crate. Functions take the kind of document as a parameter.

pub(crate) mod banks;
pub(crate) mod feedback;
pub(crate) mod files;
mod list;
mod read;
mod references;
mod write;

pub(crate) use feedback::{append, newest, remove};
pub use list::{DocumentPage, list};
pub use read::{
    FormerVersion, ItemHead, Text, Versions, each, find, json_of, kinds_of, metadata, require,
    state, texts, version, versions,
};
pub(crate) use read::{heads, parsed};
pub(crate) use references::known;
pub use references::{refer, referrers, resolved};
pub(crate) use write::depend_on;
pub use write::{changed, create, delete, replace};
