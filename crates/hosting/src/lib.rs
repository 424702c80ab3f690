//! Deployed projects: their versions, secrets, databases, files and running backends.
//!
//! A version exists completely or not at all. What is served changes in one transaction. A plan is applied exactly as
//! it was shown, or refused. A node touches only the files of projects that it holds. Only the engine receives secrets.
//!
//! | what | where |
//! |---|---|
//! | projects, versions, plans applied and rolled back; deleting | `projects`, `deployments`, `deletion` |
//! | secrets, the audit log | `secrets`, `audit` |
//! | database files and restore points, buckets, key-value stores | `databases`, `buckets`, `kv` |
//! | courses that a project teaches; apps that are approved for classes | `courses`, `class_apps` |
//! | nodes, which node holds a project's files, until when, and what happens then | `nodes`, `homes`, `leases`, `takeover` |
//! | replicas of projects' files | `replicas` |
//! | installations, which have replicas and objects of their own; objects that nobody owns | `installations`, `unowned` |
//! | backup of the whole server, checks of files, clean-up | `backup`, `soundness`, `sweep` |
//! | uploads, zips of builds, sending files | `uploads`, `archive`, `pieces` |
//! | running backends: start, watch, stop, logs | `engine` |
//! | what a backend's bindings talk to: D1, KV, R2 | `bindings` |
//! | searching what projects store | `text_search` |
//! | the user whose name a backend receives | `user` |
//! | what the console shows of projects and on its first page | `screens` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod archive;
pub mod audit;
pub mod backup;
mod bindings;
pub mod buckets;
pub mod class_apps;
mod courses;
pub mod databases;
pub mod deletion;
pub mod deployments;
pub mod engine;
pub mod homes;
pub mod installations;
pub mod kv;
pub mod leases;
pub mod limits;
pub mod nodes;
mod pieces;
pub mod projects;
pub mod replicas;
mod repository;
pub mod screens;
pub mod secrets;
pub mod soundness;
mod sweep;
pub mod takeover;
pub mod text_search;
pub mod unowned;
pub mod uploads;
pub mod user;

pub use pieces::{BlobStream, BlobsInTurn};
pub use sweep::sweep;

use std::path::Path;

use lyceum_blob::{Blobs, BucketInstallations, FileLocation};
use lyceum_core::config::S3Settings;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Migration, migration};
use uuid::Uuid;

/// The folder of a data folder in which everything of projects is.
pub const FOLDER: &str = "hosting";

/// The files that versions are made of: in the data folder, or in the bucket of the settings.
pub fn blobs(data: &Path, s3: &S3Settings, installations: &BucketInstallations) -> Result<Blobs> {
    Blobs::open_at(data.join(FOLDER), s3, FOLDER, installations.clone())
}

/// Writes a small file to the S3 bucket of the settings, looks for it and deletes it. Errors: the bucket cannot be
/// reached, or the key may not do one of these.
pub fn try_bucket(s3: &S3Settings) -> Result<()> {
    let location = FileLocation::parse(&format!("s3://{}/{}", s3.bucket, s3.prefix), s3)?;
    let name = format!("tried-{}", Uuid::now_v7());
    location.create(&name)?.finish()?;
    if location.open(&name)?.is_none() {
        let message =
            message!("the bucket '{s3.bucket}' does not have a file that was just written to it");
        return Err(Problem::new(ProblemKind::Unavailable, message));
    }
    location.remove(&name)
}

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(11, "hosting"), migration!(23, "installations")];
