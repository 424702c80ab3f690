//! `lyceum admin backup` and `lyceum admin restore`

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lyceum_api::work::backup::{AUDIT_ACTION, BackupSource, postgres};
use lyceum_blob::{BucketInstallations, InstallationIds};
use lyceum_core::ProblemKind;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::backup::{self, BackupCover, BackupFile, OpenBackup, UnpackedBackup, runs};
use lyceum_hosting::{homes, installations};
use lyceum_store::{Db, StoreLocation};
use serde_json::json;

use super::{projects, replica};
use crate::failure::{Code, Failure, Result};
use crate::in_use;
use crate::printer::{Printer, counted};
use crate::settings::{self, DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Backup {
    /// The backup file to create: a path, or `s3://BUCKET/KEY` at the service in the settings
    file: String,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Restore {
    /// The backup file: a path, or `s3://BUCKET/KEY` at the service in the settings. If it is encrypted, the settings need
    /// its key as `backup.key`
    #[arg(required_unless_present = "at")]
    file: Option<String>,
    /// Restore a server on SQLite from its replica to a time, such as 2026-11-26T10:00:00Z, into an empty data folder
    #[arg(long, value_name = "TIME", conflicts_with_all = ["file", "force", "files"])]
    at: Option<Timestamp>,
    /// The installation to restore, if several have replicas from that time: a server and a restored copy of it
    #[arg(long, value_name = "ID", requires = "at")]
    installation: Option<String>,
    /// Replace a database that already holds data. Existing project files are moved aside
    #[arg(long)]
    force: bool,
    /// Accept a backup that is not encrypted although `backup.key` is set, such as one from before
    #[arg(long, conflicts_with = "at")]
    unencrypted: bool,
    /// Restore only the files of projects: for the second and each further node of a PostgreSQL database
    #[arg(long)]
    files: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Backup {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let file = BackupFile::parse(&self.file, &config)?;
        if file.location.open(&file.name)?.is_some() {
            let message = format!("the file '{}' already exists", self.file);
            return Err(Failure::new(Code::Conflict, message)
                .hint("choose another name, or move the file away"));
        }
        let node = projects::known_node(&config)?;
        let now = SystemClock.now();
        let bar = printer.progress("bytes read", 0);
        let source = BackupSource { db: &db, config: &config, node: &node, has_database: true };
        let made =
            lyceum_api::work::backup::create(source, now, &file, |bytes| bar.set_position(bytes));
        bar.finish_and_clear();
        let written = made?;
        let (ended, path, bytes) = (SystemClock.now(), self.file.clone(), written.bytes);
        settings::write(&db, move |tx| {
            let run = runs::begin(tx, now, &node)?;
            runs::finish(tx, ended, run.id, &path, bytes)?;
            settings::record_change(tx, now, AUDIT_ACTION, &path)
        })?;
        printer.answer(String::new, || {
            json!({
                "file": self.file, "bytes": written.bytes,
                "files": written.files, "covers": written.cover, "missing": written.missing,
            })
        });
        printer.done(&format!("backed up to '{}'", self.file));
        printer.warn(&about_master_key(&config));
        about_the_rest(printer, &written.cover, &written.missing);
        Ok(())
    }
}

/// Says when the server may delete what its original may need.
pub(super) fn about_original(config: &Config, printer: &Printer) {
    if config.has_replicas() {
        let kept = match config.s3.bucket.as_str() {
            "" => "no replicas of the original",
            _ => "no objects and no replicas of the original",
        };
        printer.warn(&format!(
            "the server deletes {kept} before `lyceum admin adopt` says that the original never runs again"
        ));
    }
}

/// Warns about data that the backup does not contain.
fn about_the_rest(printer: &Printer, cover: &BackupCover, missing: &[String]) {
    if let Some(bucket) = &cover.s3_bucket {
        printer.warn(&format!(
            "the files of versions and the objects of buckets are in the S3 bucket '{bucket}', not in the \
             backup; turn on versioning for that bucket or copy it"
        ));
    }
    for (slug, node) in &cover.elsewhere {
        printer.warn(&format!(
            "the node {node} holds the files of the project '{slug}', which are not in this backup; run the backup on that node too"
        ));
    }
    if let Some(first) = missing.first() {
        printer.warn(&format!(
            "{} in the database were not found on the server and are not in the backup, for example '{first}'; \
             run `lyceum admin check` to list them",
            counted(missing.len(), "file")
        ));
    }
}

impl Restore {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let config = self.data.load(&[])?.config;
        if let Some(at) = self.at {
            return replica::restore(&config, at, self.installation.as_deref(), printer);
        }
        let backup = open_backup(self.file(), &config, self.unencrypted)?;
        settings::make_folder(&config)?;
        // Held for the whole restore: no server may start on half of the data or keep replaced files open.
        let _alone = in_use::alone(&config.store.data)?;
        let target = settings::target(&config);
        if self.files && matches!(target, StoreLocation::Sqlite(_)) {
            let message = "--files works only with PostgreSQL: a SQLite database has one node";
            return Err(Failure::new(Code::Usage, message));
        }
        self.restore_all(backup, &config, &target, printer)?;
        printer.done(&format!("restored from '{}'", self.file()));
        printer.warn(&about_master_key(&config));
        about_original(&config, printer);
        Ok(())
    }

    /// The backup; empty if the server is restored to a time.
    fn file(&self) -> &str {
        self.file.as_deref().unwrap_or_default()
    }

    /// Restores a backup of the whole server. It is read and checked completely before anything is replaced.
    fn restore_all(
        &self,
        backup: OpenBackup,
        config: &Config,
        target: &StoreLocation,
        printer: &Printer,
    ) -> Result {
        let data = &config.store.data;
        if let StoreLocation::Sqlite(to) = target {
            self.may_replace(config, to)?;
        }
        if UnpackedBackup::is_taken(data) && !self.force {
            let message =
                format!("'{}' already contains files of deployed projects", data.display());
            return Err(Failure::new(Code::Conflict, message)
                .hint("choose an empty folder with --data, or move the files aside with --force"));
        }
        let draft = unpacked(backup, config, target, printer)?;
        if !draft.cover.has_database && !self.files {
            let message = "the backup contains only the files of a further node, not the database";
            return Err(Failure::new(Code::Conflict, message).hint(
                "restore the backup of the same time that contains the database first, then this one with --files",
            ));
        }
        let (now, installation) = (SystemClock.now(), installations::new_id());
        let beside = if self.files { Some(beside(config, &draft)?) } else { None };
        let installations = match &beside {
            Some(db) => installations::in_bucket(db, config, now)?,
            // It begins with the restored database.
            None => BucketInstallations::new(InstallationIds {
                present: installation.clone(),
                ..InstallationIds::default()
            }),
        };
        draft.upload(&config.s3, &installations)?;
        if let (StoreLocation::Postgres(url), None) = (target, &beside) {
            self.restore_postgres(config, url, &draft.database())?;
        }
        let restored = draft.install(data, now)?;
        if let StoreLocation::Sqlite(to) = target {
            // The marker is written last: without it, a server does not accept the folder.
            rename(&draft.database(), to)?;
        }
        let (cover, missing) = (draft.cover.clone(), draft.missing.clone());
        match beside {
            Some(db) => adopt_beside(&db, draft, config, printer)?,
            None => {
                // Applies migrations: a backup may be from an earlier release.
                let db = settings::open_alone(config, Missing::Refuse)?;
                let node = projects::node(config)?.0;
                settings::write(&db, move |tx| draft.adopt(tx, now, (&node, &installation)))?;
            }
        }
        for folder in restored.moved {
            printer.warn(&format!("the previous files are now in '{}'", folder.display()));
        }
        about_the_rest(printer, &cover, &missing);
        Ok(())
    }

    /// Refuses to replace a database unless the user asked for that and no process uses it.
    fn may_replace(&self, config: &Config, to: &Path) -> Result {
        if !to.exists() {
            // SQLite would apply the log of the previous database to the restored one.
            return match ["-wal", "-shm"]
                .map(|end| beside_database(to, end))
                .iter()
                .find(|log| log.exists())
            {
                None => Ok(()),
                Some(log) => {
                    let message =
                        format!("'{}' belongs to a database file that is missing", log.display());
                    Err(Failure::new(Code::Conflict, message)
                        .hint("move it next to its database, or remove it"))
                }
            };
        }
        if !self.force {
            let message = format!("'{}' already contains a database", config.store.data.display());
            return Err(Failure::new(Code::Conflict, message)
                .hint("choose an empty folder with --data, or replace the database with --force"));
        }
        lyceum_store::settle(to)
            .map_err(|problem| Failure::from(problem).hint("stop the server that uses it first"))
    }

    /// Restores a dump of PostgreSQL.
    fn restore_postgres(&self, config: &Config, url: &str, dump: &Path) -> Result {
        let restored = postgres::restore(url, dump, self.force, &config.store.data);
        restored.map_err(|problem| match problem.kind {
            ProblemKind::Conflict => Failure::failed(problem.message.to_string())
                .hint("name an empty database with --database, or replace this one with --force"),
            _ => problem.into(),
        })
    }
}

/// Reads and checks the whole backup, and checks that it fits the settings.
fn unpacked(
    backup: OpenBackup,
    config: &Config,
    target: &StoreLocation,
    printer: &Printer,
) -> Result<UnpackedBackup> {
    let bar = printer.progress("reading the backup", backup.size);
    let draft = backup::unpack(backup, &config.store.data, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    let draft = draft?;
    draft.require_bucket(&config.s3)?;
    let store = draft.cover.store.as_str();
    match (target, store) {
        (StoreLocation::Sqlite(_), "sqlite") | (StoreLocation::Postgres(_), "postgresql") => {
            Ok(draft)
        }
        _ => {
            let message = format!(
                "the backup is from a {store} database, but the settings name a different one"
            );
            Err(Failure::new(Code::Usage, message).hint(
                "set a PostgreSQL database with --database, or leave --database out for SQLite",
            ))
        }
    }
}

/// Opens a backup file. If the settings have a key, the backup must be encrypted with it, unless it may be unencrypted.
/// Errors: `NotFound`; it is encrypted with another key.
pub(super) fn open_backup(
    file: &str,
    config: &Config,
    may_be_unencrypted: bool,
) -> Result<OpenBackup> {
    let mut backup = BackupFile::parse(file, config)?;
    let has_key = backup.key.is_some();
    if may_be_unencrypted {
        backup.key = None;
    }
    let opened = backup.open().map_err(|problem| match (problem.kind, may_be_unencrypted) {
        (ProblemKind::Invalid, true) => {
            Failure::from(problem).hint("leave out --unencrypted if the backup is encrypted")
        }
        (ProblemKind::Invalid, false) if has_key => Failure::from(problem).hint(
            "pass --unencrypted if you trust the file, such as one from before 'backup.key' was set",
        ),
        _ => problem.into(),
    })?;
    opened.ok_or_else(|| Failure::new(Code::NotFound, format!("the file '{file}' does not exist")))
}

/// The database next to which further nodes are restored. Errors: `Conflict` if it knows no project of the backup.
fn beside(config: &Config, draft: &UnpackedBackup) -> Result<Db> {
    let db = settings::open_alone(config, Missing::Refuse)?;
    let known = db.read_blocking(homes::list)?;
    let is_known = |slug: &String| known.iter().any(|(known, _)| known == slug);
    if draft.cover.projects.iter().any(is_known) || draft.cover.projects.is_empty() {
        return Ok(db);
    }
    let message = "the database contains none of the projects in the backup";
    Err(Failure::new(Code::Conflict, message)
        .hint("restore the first node's backup without --files first; it contains the database"))
}

/// Makes the node the holder of each project that is in both the backup and the database.
fn adopt_beside(db: &Db, draft: UnpackedBackup, config: &Config, printer: &Printer) -> Result {
    let blobs = settings::blobs(config, db)?;
    let (node, now, draft) =
        (Arc::new(projects::node(config)?.0), SystemClock.now(), Arc::new(draft));
    for slug in draft.cover.projects.clone() {
        let (node, blobs, draft, own) =
            (Arc::clone(&node), blobs.clone(), Arc::clone(&draft), slug.clone());
        let adopted = settings::write(db, move |tx| {
            draft.adopt_beside(tx, now, (&node, &blobs), &own)?;
            settings::record_change(tx, now, "project.adopt", &own)
        });
        match adopted {
            Err(failure) if matches!(failure.code, Code::Conflict | Code::NotFound) => {
                printer.warn(&format!(
                    "this node does not serve the project '{slug}': {}",
                    failure.message
                ));
            }
            adopted => adopted?,
        }
    }
    Ok(())
}

/// A file that SQLite keeps next to a database.
fn beside_database(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Renames the file so that the new name survives a crash.
fn rename(from: &Path, to: &Path) -> Result {
    let renamed = fs::rename(from, to)
        .and_then(|()| File::open(to.parent().unwrap_or(Path::new(".")))?.sync_all());
    renamed.map_err(|error| cannot_write(to, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("'{}' cannot be written: {error}", path.display()))
}

pub(super) fn about_master_key(config: &Config) -> String {
    match config.keys.master {
        Some(_) => {
            "a backup does not contain the master key; store the value of 'keys.master' separately"
                .to_owned()
        }
        None => format!(
            "a backup does not contain the master key; store a copy of '{}' in another place",
            config.store.data.join("master.key").display()
        ),
    }
}
