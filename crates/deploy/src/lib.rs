//! Deploying a project from its folder: read it, bundle it, compare it with a server, send what differs.
//!
//! This crate neither asks nor prints; the command line does. Files are sent by content hash, so an interrupted deploy
//! continues and a deploy without changes sends nothing.
//!
//! | what | where |
//! |---|---|
//! | what the folder asks for; its routes | `local`, `routes` |
//! | bundling the backend with esbuild; zipping the frontend | `backend`, `bundle`, `frontend` |
//! | the database schema, drizzle-kit, seed data | `database`, `drizzle`, `seed` |
//! | running config files that compute, in workerd | `evaluate` |
//! | the server's API: state, uploads, plans; buckets, key-value stores | `server`, `bucket`, `kv` |
//! | promoting a version to another server | `promote` |
//! | a plan in words | `summary` |
//! | limits | `limits` |

mod backend;
mod bucket;
mod bundle;
mod database;
mod drizzle;
mod evaluate;
mod frontend;
mod kv;
pub mod limits;
mod local;
mod promote;
mod routes;
mod seed;
mod server;
pub mod summary;

pub use backend::{Bundle, COMPATIBILITY_DATE, Target, is_installed};
pub use bucket::{Objects, is_same, media_of};
pub use bundle::ENTRY;
pub use database::SchemaSources;
pub use evaluate::Evaluator;
pub use frontend::FrontendZip;
pub use kv::KvEntries;
pub use local::{BackendChoice, DeployOptions, ENV, LocalProject, secrets_in};
pub use promote::{lacking, promoted};
pub use routes::{Route, routes_in};
pub use seed::{SEEDS, Seed};
pub use server::{Credentials, Server, UploadTotals};

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use lyceum_core::messages::io_reason;
use lyceum_core::text::hex;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::Artifact;
use sha2::{Digest, Sha256};

/// SHA-256 and size of a file, in bounded memory.
fn digest_of(path: &Path) -> Result<(String, u64)> {
    let failed = |error: io::Error| unreadable(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut hash, mut size, mut piece) = (Sha256::new(), 0, vec![0; 256 * 1024]);
    loop {
        let count = file.read(&mut piece).map_err(failed)?;
        if count == 0 {
            return Ok((hex(hash.finalize()), size));
        }
        hash.update(&piece[..count]);
        size += count as u64;
    }
}

/// The hash and size of a file. Errors: it cannot be read.
pub fn artifact_of(path: &Path) -> Result<Artifact> {
    let (sha256, size) = digest_of(path)?;
    Ok(Artifact { sha256, size })
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ProblemKind::NotFound,
        _ => ProblemKind::Unavailable,
    };
    let (shown, reason) = (path.display(), io_reason(error));
    Problem::new(kind, message!("'{shown}' cannot be read: {reason}"))
}
