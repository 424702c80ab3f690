//! Checks a backup: its checksums, and its database by restoring it in a temporary place.

use std::path::Path;

use lyceum_assessment::files;
use lyceum_core::Result;
use lyceum_hosting::backup::runs::CheckMethod;
use lyceum_hosting::backup::{self, BackupReport, OpenBackup};
use lyceum_store::{Db, SqlDialect, StoreLocation};

use super::postgres;

/// The amount of data that was read, and the errors.
#[derive(Debug)]
pub struct CheckReport {
    /// How the database was checked.
    pub method: CheckMethod,
    /// Number of records.
    pub records: u64,
    /// Number of files.
    pub files: u64,
    /// The errors, each with its place.
    pub faults: Vec<String>,
}

/// Where the dump of a PostgreSQL database is restored as a trial.
#[derive(Clone, Copy, Debug)]
pub struct TrialPlace<'a> {
    /// The address of a database on the same server.
    pub address: &'a str,
    /// The name of the temporary database. An existing one is dropped.
    pub name: &'a str,
}

/// Checks the pages and records of a database. `on_record` is called with the number of records read.
pub fn check_database(db: &Db, mut on_record: impl FnMut(u64)) -> Result<CheckReport> {
    // PostgreSQL checks its own pages.
    let mut faults = match db.dialect() {
        SqlDialect::Sqlite => db.check()?,
        SqlDialect::Postgres => Vec::new(),
    };
    let checked = db.read_blocking(|tx| {
        lyceum_roster::repository::check(tx, |_, records| on_record(records))
    })?;
    faults.extend(checked.faults);
    let method = CheckMethod::Restored;
    Ok(CheckReport { method, records: checked.records, files: 0, faults })
}

/// Checks an archive: all checksums and the records of its database. A dump of PostgreSQL is restored if there is a place
/// for it and the role may create databases; otherwise its contents are listed. Files are unpacked in the folder `beside`.
/// `on_read` is called with the number of bytes read.
pub fn check_backup(
    backup: OpenBackup,
    beside: &Path,
    trial: Option<TrialPlace<'_>>,
    on_read: impl FnMut(u64),
) -> Result<CheckReport> {
    let checked = backup::check(backup, beside, on_read)?;
    let (files, faults) = (checked.files, checked.faults.clone());
    let listed = CheckReport { method: CheckMethod::Listed, records: 0, files, faults };
    let (Some(cover), Some(database)) = (&checked.cover, &checked.database) else {
        return Ok(listed);
    };
    if !checked.faults.is_empty() {
        return Ok(listed);
    }
    let inside = if cover.store == "sqlite" {
        check_restored(&StoreLocation::Sqlite(database.clone()), &checked)?
    } else {
        let Some(trial) = trial else { return Ok(listed) };
        let check =
            |address: &str| check_restored(&StoreLocation::Postgres(address.to_owned()), &checked);
        match postgres::restore_as_trial(trial, database, check)? {
            Some(inside) => inside,
            None => {
                postgres::list(database)?;
                return Ok(listed);
            }
        }
    };
    Ok(CheckReport { files, ..inside })
}

fn check_restored(target: &StoreLocation, checked: &BackupReport) -> Result<CheckReport> {
    let db = Db::open(target, &crate::migrations())?;
    let mut report = check_database(&db, |_| ())?;
    for fault in &mut report.faults {
        fault.insert_str(0, "database: ");
    }
    report.faults.extend(absent(&db, checked)?);
    Ok(report)
}

/// Files that the backup's database names but the backup does not contain.
fn absent(db: &Db, checked: &BackupReport) -> Result<Vec<String>> {
    let Some(cover) = checked.cover.as_ref().filter(|cover| cover.s3_bucket.is_none()) else {
        return Ok(Vec::new());
    };
    let named = db.read_blocking(|tx| {
        let mut named = backup::blobs_of(tx, &cover.projects)?;
        // Without a bucket, a file of an item is only on the node that received it.
        if cover.store == "sqlite" {
            for digest in files::digests(tx)? {
                named.insert(digest.parse()?);
            }
        }
        Ok(named)
    })?;
    let absent = named.into_iter().filter(|digest| !checked.has(digest));
    let absent = absent.map(|digest| format!("blobs/{digest}"));
    Ok(absent
        .filter(|path| !checked.missing.contains(path))
        .map(|path| format!("{path}: the file is missing"))
        .collect())
}
