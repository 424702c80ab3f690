//! Hosted projects: what is served of an app, which versions there were, with which secrets.
//!
//! Invariants: a version is whole or not there; what is served changes in one transaction; a plan is
//! applied as it was shown or not at all; a node touches the files of no project but those that it holds; the value of a secret leaves this crate for the engine alone.

pub mod archive;
pub mod audit;
pub mod backup;
mod bindings;
pub mod buckets;
mod courses;
pub mod databases;
pub mod deployments;
pub mod engine;
pub mod homes;
pub mod nodes;
mod pieces;
pub mod projects;
mod repository;
pub mod secrets;
pub mod soundness;
mod sweep;
pub mod uploads;
pub mod user;

pub use pieces::{BlobsInTurn, Pieces};
pub use sweep::sweep;

use std::path::Path;

use lyceum_blob::Blobs;
use lyceum_core::Result;
use lyceum_core::config::S3;
use lyceum_store::Migration;

/// The folder of a data folder in which everything of projects is.
pub const FOLDER: &str = "hosting";

/// The files that versions are made of: in the data folder, or in the bucket of the settings.
pub fn blobs(data: &Path, s3: &S3) -> Result<Blobs> {
    Blobs::open_at(data.join(FOLDER), s3, FOLDER)
}

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 23,
        name: "projects",
        sql: include_str!("../migrations/V23__projects.sql"),
    },
    Migration {
        version: 27,
        name: "project_databases",
        sql: include_str!("../migrations/V27__project_databases.sql"),
    },
    Migration {
        version: 28,
        name: "unneeded_frontends",
        sql: include_str!("../migrations/V28__unneeded_frontends.sql"),
    },
    Migration {
        version: 86,
        name: "project_homes",
        sql: include_str!("../migrations/V86__project_homes.sql"),
    },
];
