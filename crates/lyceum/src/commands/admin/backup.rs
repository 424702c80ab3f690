//! `lyceum admin backup` and `lyceum admin restore`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_store::Target;

use super::postgres;
use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use crate::settings::{self, DataArgs, Missing};

#[derive(Args)]
pub(crate) struct Backup {
    /// The file to make
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Restore {
    /// The file that `backup` made
    file: PathBuf,
    /// Replace a database that holds data already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Backup {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        if self.file.exists() {
            let message = format!("the file '{}' exists already", self.file.display());
            return Err(Failure::new(Code::Conflict, message).hint("name another, or move it away"));
        }
        match settings::target(&config) {
            Target::Sqlite(_) => {
                let bar = printer.progress("copying pages", 1);
                db.backup_to(&self.file, |done, all| {
                    bar.set_length(all);
                    bar.set_position(done);
                })?;
                bar.finish_and_clear();
            }
            Target::Postgres(url) => postgres::dump(&url, &self.file)?,
        }
        let (now, file) = (SystemClock.now(), self.file.display().to_string());
        settings::write(&db, move |tx| settings::noted(tx, now, "backup.make", &file))?;
        printer.done(&format!("backed up to '{}'", self.file.display()));
        printer.warn(&about_master_key(&config));
        Ok(())
    }
}

impl Restore {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let config = self.data.load(&[])?.config;
        if !self.file.is_file() {
            let message = format!("there is no file '{}'", self.file.display());
            return Err(Failure::new(Code::NotFound, message));
        }
        match settings::target(&config) {
            Target::Sqlite(to) => self.restore_sqlite(&config, &to, printer)?,
            Target::Postgres(url) => postgres::restore(&url, &self.file, self.force)?,
        }
        // Brings the schema forward: a backup may be from an earlier release.
        settings::open(&config, Missing::Refuse)?;
        printer.done(&format!("restored from '{}'", self.file.display()));
        printer.warn(&about_master_key(&config));
        Ok(())
    }

    /// The database appears under its name only when it is whole; a former one is replaced then.
    fn restore_sqlite(&self, config: &Config, to: &Path, printer: &Printer) -> Result {
        settings::make_folder(config)?;
        if to.exists() {
            if !self.force {
                let message = format!("there is a database in '{}'", config.store.data.display());
                return Err(Failure::new(Code::Conflict, message)
                    .hint("name an empty folder with --data, or replace it with --force"));
            }
            lyceum_store::settle(to).map_err(|problem| {
                Failure::from(problem).hint("stop the server that serves it first")
            })?;
        }
        let draft = to.with_extension("restored");
        if draft.exists() {
            fs::remove_file(&draft).map_err(|error| cannot_write(&draft, &error))?;
        }
        let bar = printer.progress("copying pages", 1);
        lyceum_store::restore(&self.file, &draft, |done, all| {
            bar.set_length(all);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        fs::rename(&draft, to).map_err(|error| cannot_write(to, &error))
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("'{}' cannot be written: {error}", path.display()))
}

fn about_master_key(config: &Config) -> String {
    match config.keys.master {
        Some(_) => "a backup does not hold the master key; keep the value of 'keys.master' with it"
            .to_owned(),
        None => format!(
            "a backup does not hold the master key; keep '{}' with it, in another place",
            config.store.data.join("master.key").display()
        ),
    }
}
