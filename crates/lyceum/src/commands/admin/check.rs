//! `lyceum admin check`

use std::path::Path;

use clap::Args;
use lyceum_api::work::backup::check::{CheckReport, check_backup, check_database};
use lyceum_api::work::backup::named_files;
use lyceum_core::config::Config;
use lyceum_hosting::soundness;
use lyceum_store::Db;
use serde_json::json;

use super::backup::open_backup;
use super::projects;
use crate::failure::{Failure, Result};
use crate::printer::{Printer, counted};
use crate::settings::{self, DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Check {
    /// A backup file to check instead of the data folder: a path, or `s3://BUCKET/KEY` at the service in the settings
    file: Option<String>,
    /// Accept a backup that is not encrypted although `backup.key` is set, such as one from before
    #[arg(long, requires = "file")]
    unencrypted: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Check {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let found = match &self.file {
            Some(file) => of_backup(file, &self.data.load(&[])?.config, self.unencrypted, printer)?,
            None => self.of_data(printer)?,
        };
        let CheckReport { records, files, faults, .. } = found;
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
        let blobs = settings::blobs(&config, &db)?;
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
    let bar = printer.progress("checking records", 0);
    let found = check_database(db, |records| bar.set_position(records))?;
    bar.finish_and_clear();
    Ok(found)
}

/// Checks a backup's checksums and the database in it. A `pg_dump` archive is checked by its checksum only.
fn of_backup(
    file: &str,
    config: &Config,
    may_be_unencrypted: bool,
    printer: &Printer,
) -> Result<CheckReport> {
    let backup = open_backup(file, config, may_be_unencrypted)?;
    // Unpacked next to the backup, because the folder for temporary files may be in memory.
    let beside = Path::new(file).parent().filter(|folder| folder.is_dir());
    let beside = beside.unwrap_or(Path::new("."));
    let bar = printer.progress("reading the backup", backup.size);
    let found = check_backup(backup, beside, None, |bytes| bar.set_position(bytes))?;
    bar.finish_and_clear();
    Ok(found)
}
