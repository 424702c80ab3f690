//! Exports everything that the server stores about one person, and erases it.
//!
//! [`inventory`] declares for every table how its rows refer to a person and what an erasure does with them. Most tables
//! are handled by this declaration alone; records, events and credentials by functions of their crates.
//!
//! An erasure is a job of many short transactions. Each stores its progress, so a crash loses at most one of them. The
//! person's strings are stored sealed until the erasure is done. Afterwards only keyed hashes of the ids are left, by
//! which events and imports that name the person are refused.
//!
//! | what | where |
//! |---|---|
//! | every table: how it refers to a person | `inventory` |
//! | who is exported or erased | `subject` |
//! | the zip with everything about a person | `export` |
//! | erasing, step by step | `erase` |
//! | refusing the ids of erased persons | `erased` |
//! | SQL | `sql` |
//! | limits | `limits` |

pub mod erase;
pub mod erased;
pub mod export;
pub mod inventory;
pub mod limits;
pub mod sql;
pub mod subject;

use lyceum_store::{Migration, migration};

pub use erase::{Erasure, ErasureStep};
pub use erased::ErasureKey;
pub use subject::Subject;

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(13, "erasure")];
