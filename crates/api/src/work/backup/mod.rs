//! Backups of the complete server, for the command line, the console and the schedule.

pub mod check;
pub mod postgres;
mod schedule;
mod scheduled;

use std::path::Path;

use lyceum_assessment::files;
use lyceum_blob::FileLocation;
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::backup::{
    self, Backup, BackupCover, BackupFile, BackupKey, FORMAT, NamedFiles, WrittenBackup,
};
use lyceum_hosting::nodes::{self, Node};
use lyceum_roster::imports;
use lyceum_store::{Db, SqlDialect, Tx, copy_to, database_bytes, export_snapshot};

use crate::limits;

pub use scheduled::{back_up_now, work};

/// The action of a backup in the audit log.
pub const AUDIT_ACTION: &str = "backup.make";

/// The sources of a backup.
#[derive(Clone, Copy)]
pub struct BackupSource<'a> {
    /// The database.
    pub db: &'a Db,
    /// The settings.
    pub config: &'a Config,
    /// The node whose files are backed up.
    pub node: &'a Node,
    /// Whether the database is backed up, too.
    pub has_database: bool,
}

/// Checks what only a running server uses of `[backup]`. Errors: `Invalid`.
pub fn check_settings(config: &Config) -> Result<()> {
    BackupKey::from_setting(config.backup.key.as_ref())?;
    FileLocation::parse(&config.backup.to, &config.s3).map(drop)
}

/// Writes a backup into a new file while the server is in use. It calls `on_read` with the number of bytes read so far.
/// Blocks.
///
/// Errors: `Conflict` if the file exists or another backup is running; `Unavailable` if the disk has too little space.
pub fn create(
    source: BackupSource<'_>,
    now: Timestamp,
    to: &BackupFile,
    on_read: impl FnMut(u64),
) -> Result<WrittenBackup> {
    let BackupSource { db, config, node, has_database } = source;
    if to.location.open(&to.name)?.is_some() {
        let message = message!(
            "the file '{path}' already exists; choose another name, or move the file away",
            path = to.path()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    check_space(db, &config.store.data)?;
    let backup = Backup::begin(&config.store.data, &config.s3, now)?;
    // What this node left when it stopped during a backup. No other backup of this node runs now.
    to.location.remove_unfinished(|name| schedule::made_at(name, node.id()).is_some())?;
    let mut named = copy(source, &backup.database())?;
    let mut missing = backup.stage(&named)?;
    // If files were removed since the database was copied, a newer copy no longer names them.
    for _ in 1..limits::BACKUP_COPIES_MAX_COUNT {
        if missing.is_empty() {
            break;
        }
        if has_database {
            std::fs::remove_file(backup.database()).map_err(Problem::internal)?;
        }
        named = copy(source, &backup.database())?;
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
        has_database,
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

/// Copies the database if it is backed up, and returns the files that it names.
fn copy(source: BackupSource<'_>, to: &Path) -> Result<NamedFiles> {
    let BackupSource { db, config, node, has_database } = source;
    db.read_blocking(|tx| {
        let named = named_files(tx, node)?;
        match &config.store.database {
            _ if !has_database => {}
            None => copy_to(tx, to)?,
            Some(url) => postgres::dump(url.reveal(), to, &export_snapshot(tx)?)?,
        }
        Ok(named)
    })
}

/// Refuses to begin a backup that would fill the disk, which the server itself needs. The copy of the database and its
/// check take as much space as the database each.
fn check_space(db: &Db, data: &Path) -> Result<()> {
    let disk = rustix::fs::statvfs(data).map_err(Problem::internal)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let database = u64::try_from(db.read_blocking(database_bytes)?).unwrap_or_default();
    let needed = 2 * database + limits::BACKUP_SPARED_BYTES;
    if free >= needed {
        return Ok(());
    }
    let message = message!(
        "a backup needs {needed} MB free on the disk of the data folder, but it has {free} MB; free some space",
        needed = needed / 1_000_000,
        free = free / 1_000_000
    );
    Err(Problem::new(ProblemKind::Unavailable, message))
}
