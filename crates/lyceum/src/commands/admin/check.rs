//! `lyceum admin check`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_assessment::files;
use lyceum_hosting::backup::{self, BackupReport};
use lyceum_hosting::soundness;
use lyceum_server::backup::named_files;
use lyceum_store::{Db, SqlDialect, StoreLocation};
use serde_json::json;
use tempfile::TempDir;

use super::projects;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use crate::settings::{DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Check {
    /// A backup file to check instead of the data folder
    file: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
}

/// The amount of data that was read, and the errors.
#[derive(Default)]
struct CheckReport {
    records: u64,
    files: u64,
    faults: Vec<String>,
}

impl Check {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let found = match &self.file {
            Some(file) => of_backup(file, printer)?,
            None => self.of_data(printer)?,
        };
        let CheckReport { records, files, faults } = found;
        printer.answer(
            || faults.join("\n") + if faults.is_empty() { "" } else { "\n" },
            || json!({ "records": records, "files": files, "faults": faults }),
        );
        let read = match files {
            0 => counted(records, "record"),
            _ => format!("{} and {}", counted(records, "record"), counted(files, "file")),
        };
        if faults.is_empty() {
            printer.done(&format!("checked {read}: no errors"));
            return Ok(());
        }
        let message = format!("found {} in {read}", counted(faults.len(), "error"));
        let hint = match self.file {
            Some(_) => "restore another backup",
            None => "restore the last good backup, or report these errors",
        };
        Err(Failure::failed(message).hint(hint))
    }

    fn of_data(&self, printer: &Printer) -> Result<CheckReport> {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let mut found = of_database(&db, printer)?;
        let node = projects::known_node(&config)?;
        let named = db.read_blocking(|tx| named_files(tx, &node))?;
        let blobs = lyceum_hosting::blobs(&config.store.data, &config.s3)?;
        let bar = printer.progress("checking files", 0);
        let faults =
            soundness::check((&node, &blobs), &named, !config.s3.bucket.is_empty(), |files| {
                found.files = files;
                bar.set_position(files);
            })?;
        bar.finish_and_clear();
        found.faults.extend(faults);
        Ok(found)
    }
}

fn of_database(db: &Db, printer: &Printer) -> Result<CheckReport> {
    let mut found = CheckReport::default();
    // PostgreSQL checks its own pages.
    if db.dialect() == SqlDialect::Sqlite {
        printer.step("checking the pages of the database file");
        found.faults.extend(db.check()?);
    }
    let bar = printer.progress("checking records", 0);
    let checked = db.read_blocking(|tx| {
        lyceum_roster::repository::check(tx, |_, records| bar.set_position(records))
    })?;
    bar.finish_and_clear();
    found.records = checked.records;
    found.faults.extend(checked.faults);
    Ok(found)
}

/// Checks a backup's checksums and the database in it. A `pg_dump` archive is checked by its checksum only.
fn of_backup(file: &Path, printer: &Printer) -> Result<CheckReport> {
    if !file.is_file() {
        let message = format!("there is no file '{}'", file.display());
        return Err(Failure::new(Code::NotFound, message));
    }
    if !backup::is_archive(file)? {
        // An earlier release backed up the database file alone. Opening it may change it, so a copy is opened.
        let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = TempDir::new_in(beside.unwrap_or(Path::new(".")))
            .map_err(|error| Failure::failed(error.to_string()))?;
        let copy = folder.path().join("copy.db");
        lyceum_store::restore(file, &copy, |_, _| ())?;
        return of_database(&opened(&copy)?, printer);
    }
    let bar =
        printer.progress("reading the backup", fs::metadata(file).map_or(1, |data| data.len()));
    let checked = backup::check(file, |bytes| bar.set_position(bytes))?;
    bar.finish_and_clear();
    let mut found =
        CheckReport { files: checked.files, faults: checked.faults.clone(), records: 0 };
    let Some(cover) = checked.cover.as_ref().filter(|cover| cover.store == "sqlite") else {
        return Ok(found);
    };
    let Some(database) = checked.database.as_ref().filter(|_| found.faults.is_empty()) else {
        return Ok(found);
    };
    let db = opened(database)?;
    let inside = of_database(&db, printer)?;
    found.records = inside.records;
    found.faults.extend(inside.faults.into_iter().map(|fault| format!("database: {fault}")));
    if cover.s3_bucket.is_none() {
        found.faults.extend(absent(&db, &checked, &cover.projects)?);
    }
    Ok(found)
}

/// Files that the backup's database names but the backup does not contain.
fn absent(db: &Db, checked: &BackupReport, projects: &[String]) -> Result<Vec<String>> {
    let named = db.read_blocking(|tx| {
        let mut named = backup::blobs_of(tx, projects)?;
        for digest in files::digests(tx)? {
            named.insert(digest.parse()?);
        }
        Ok(named)
    })?;
    let absent = named.into_iter().filter(|digest| !checked.has(digest));
    let absent = absent.map(|digest| format!("blobs/{digest}"));
    let known = |path: &String| checked.missing.contains(path);
    Ok(absent
        .filter(|path| !known(path))
        .map(|path| format!("{path}: the file is missing"))
        .collect())
}

fn opened(file: &Path) -> Result<Db> {
    Ok(Db::open(&StoreLocation::Sqlite(file.to_owned()), &lyceum_server::migrations())?)
}
