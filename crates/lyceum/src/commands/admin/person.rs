//! `lyceum admin person`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use lyceum_access::audit::{AuditChange, COMMAND_LINE};
use lyceum_api::work::erasure::{PersonalData, history_ends};
use lyceum_core::config::LoadedConfig;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_erasure::{Erasure, ErasureKey, Subject};
use serde_json::{Value, json};

use super::projects;
use crate::commands::deploy::prompt;
use crate::commands::export::whole;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::settings::{self, DataArgs, Missing, master_of, reached_at, write};

#[derive(Subcommand)]
pub(crate) enum Person {
    /// Write everything about one person into a zip: records, events, answers, credentials, games and files
    Export(Export),
    /// Remove everything that names a person. Totals keep their numbers, and credentials are revoked
    Erase(Erase),
}

#[derive(Args)]
pub(crate) struct Export {
    /// sourcedId of the user, or id or email address of the account
    id: String,
    /// The zip to write. An existing file is replaced
    #[arg(short, long, value_name = "FILE.zip", default_value = "person.zip")]
    output: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Erase {
    /// sourcedId of the user, or id or email address of the account
    id: String,
    /// Print what would be removed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Erase without asking
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Person {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Export(export) => export.run(printer),
            Self::Erase(erase) => erase.run(printer),
        }
    }
}

fn open(data: &DataArgs) -> Result<(LoadedConfig, PersonalData)> {
    let (loaded, db) = data.open_loaded(Missing::Refuse)?;
    let config = &loaded.config;
    let data = PersonalData {
        node: Arc::new(projects::known_node(config)?),
        blobs: settings::blobs(config, &db)?,
        key: ErasureKey::new(master_of(&db, &loaded)?),
        base_url: reached_at(&loaded, &db)?,
        clock: Arc::new(SystemClock),
        replication: None,
        db,
    };
    Ok((loaded, data))
}

impl Export {
    fn run(self, printer: &Printer) -> Result {
        let (_, data) = open(&self.data)?;
        let report = whole(&self.output, |file| data.export(&self.id, file))?;
        let (now, id) = (SystemClock.now(), self.id.clone());
        write(&data.db, move |tx| {
            let change = AuditChange { who: COMMAND_LINE, what: "person.export", subject: &id };
            change.note(tx, now, &Value::Null)
        })?;
        printer.answer(
            || counts(("file", "entries"), &report.files),
            || json!({ "file": self.output, "entries": report.files }),
        );
        printer.done(&format!(
            "exported {} about {} to '{}'",
            counted(report.files.values().sum::<u64>(), "entry"),
            self.id,
            self.output.display()
        ));
        Ok(())
    }
}

impl Erase {
    fn run(self, printer: &Printer) -> Result {
        let (loaded, data) = open(&self.data)?;
        let id = self.id.clone();
        let known = data.db.read_blocking(|tx| data.key.erasure_of(tx, &id))?;
        if known.is_none() {
            let found = data.db.read_blocking(|tx| Subject::find(tx, &id)?.counts(tx))?;
            if self.dry_run {
                printer.answer(|| counts(("table", "rows"), &found), || json!({ "erase": found }));
                return Ok(());
            }
            self.consent()?;
        }
        let bar = printer.progress("erasing", 0);
        let shown = |erasure: &Erasure| {
            bar.set_message(format!("erasing: {}", erasure.phase));
            bar.set_position(erasure.removed.values().sum());
        };
        let waiting = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let waiting = waiting.map_err(|error| Failure::failed(error.to_string()))?;
        let erasure = waiting.block_on(data.erase(COMMAND_LINE, &self.id, shown))?;
        bar.finish_and_clear();
        let ended = erasure.ended.unwrap_or(erasure.asked);
        let until = history_ends(&loaded.config, ended);
        printer.answer(
            || counts(("table", "changed"), &erasure.removed),
            || json!({ "erasure": erasure, "historyEnds": until }),
        );
        for found in &erasure.projects {
            printer.warn(&format!(
                "the project '{}' still names the person in {} of the table '{}' ({}); its owner must remove them",
                found.project,
                counted(found.rows, "row"),
                found.table,
                found.file
            ));
        }
        for key in &erasure.objects {
            printer.warn(&format!(
                "the object '{key}' in the S3 bucket stays, because a former installation wrote it; run `lyceum admin adopt`"
            ));
        }
        printer.done(&format!("erased the person, who is now called {}", erasure.pseudonym));
        printer.note(&format!("backups and logs of the database contain the person until {until}"));
        Ok(())
    }

    fn consent(&self) -> Result {
        if self.yes {
            return Ok(());
        }
        if !prompt::is_interactive() {
            let message = format!("this erases everything that names '{}', for good", self.id);
            return Err(Failure::new(Code::Conflict, message)
                .hint("see what would be removed with --dry-run, and confirm it with --yes"));
        }
        let question = "Type the id again to erase everything that names this person, for good";
        match prompt::ask(question, None)? == self.id {
            true => Ok(()),
            false => Err(prompt::cancelled()),
        }
    }
}

fn counts((what, number): (&str, &str), counts: &BTreeMap<String, u64>) -> String {
    let rows = counts.iter().map(|(name, count)| vec![name.clone(), count.to_string()]);
    table(&[what, number], &rows.collect::<Vec<_>>())
}
