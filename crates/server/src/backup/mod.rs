//! Backups of the complete server, for the command line and the console.

use std::path::Path;

use lyceum_assessment::files;
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_hosting::backup::{self, Backup, BackupCover, FORMAT, NamedFiles, WrittenBackup};
use lyceum_hosting::nodes::{self, Node};
use lyceum_roster::imports;
use lyceum_store::{Db, SqlDialect, Tx};

use crate::limits;

/// A function that writes a copy of a PostgreSQL database into a file, as of the named snapshot.
pub type DumpDatabase<'a> = &'a mut dyn FnMut(&Path, &str) -> Result<()>;

/// Writes a backup into a new file while the server is in use. It calls `on_read` with the number of bytes read so far.
/// Blocks.
///
/// Errors: `Conflict` if the file exists or another backup is running.
pub fn make(
    (db, config, node): (&Db, &Config, &Node),
    now: Timestamp,
    to: &Path,
    dump: DumpDatabase<'_>,
    on_read: impl FnMut(u64),
) -> Result<WrittenBackup> {
    if to.exists() {
        let message = format!(
            "the file '{}' already exists; choose another name, or move the file away",
            to.display()
        );
        return Err(Problem::new(lyceum_core::ProblemKind::Conflict, message));
    }
    let backup = Backup::begin(&config.store.data, &config.s3, now)?;
    let mut named = copy((db, node), &backup.database(), dump)?;
    let mut missing = backup.stage(&named)?;
    // If files were removed since the database was copied, a newer copy no longer names them.
    for _ in 1..limits::BACKUP_COPIES_MAX_COUNT {
        if missing.is_empty() {
            break;
        }
        std::fs::remove_file(backup.database()).map_err(Problem::internal)?;
        named = copy((db, node), &backup.database(), dump)?;
        let before = std::mem::replace(&mut missing, backup.stage(&named)?);
        if missing == before {
            break;
        }
    }
    let cover = BackupCover {
        format: FORMAT,
        release: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: now.to_string(),
        store: store(db).to_owned(),
        node: node.id().to_owned(),
        projects: named.projects.keys().cloned().collect(),
        elsewhere: named.elsewhere.clone(),
        s3_bucket: Some(config.s3.bucket.clone()).filter(|bucket| !bucket.is_empty()),
    };
    backup.write(to, cover, (&named, missing), on_read)
}

/// The name of the database's kind in backups.
pub fn store(db: &Db) -> &'static str {
    match db.dialect() {
        SqlDialect::Sqlite => "sqlite",
        SqlDialect::Postgres => "postgresql",
    }
}

/// The files that the database names and this node may have: those of projects, items and imports.
pub fn named_files(tx: &mut Tx<'_>, node: &Node) -> Result<NamedFiles> {
    let others = imports::files(tx)?;
    let mut named = backup::named_files(tx, node, others)?;
    // Without a bucket, a file of an item is only on the node that received it.
    let is_alone = nodes::is_alone(tx, node)?;
    let of_items = if is_alone { &mut named.blobs } else { &mut named.others };
    for digest in files::digests(tx)? {
        of_items.insert(digest.parse()?);
    }
    Ok(named)
}

/// Copies the database, and returns the files that the copy names.
fn copy((db, node): (&Db, &Node), to: &Path, dump: DumpDatabase<'_>) -> Result<NamedFiles> {
    let read = |tx: &mut Tx<'_>| named_files(tx, node);
    match db.dialect() {
        SqlDialect::Sqlite => db.backup_with(to, |_, _| (), read),
        SqlDialect::Postgres => db.read_exported(|tx, snapshot| {
            let named = read(tx)?;
            dump(to, snapshot)?;
            Ok(named)
        }),
    }
}
