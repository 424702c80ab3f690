//! `lyceum db seed`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_deploy::{COMPATIBILITY_DATE, ENV, Seed, secrets_in};
use lyceum_hosting::engine::{EngineSettings, LogStream, Worker, run_once};
use lyceum_project::{Binding, schema};
use serde_json::json;

use super::DatabaseArgs;
use crate::commands::deploy::prompt;
use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use crate::project::workerd;

#[derive(Args)]
pub(crate) struct SeedDb {
    /// An SQL file, or a module that exports `async function seed(c)` [default: server/db/seed.ts]
    #[arg(value_name = "FILE")]
    source: Option<PathBuf>,
    /// Keep the existing rows
    #[arg(long)]
    no_reset: bool,
    /// Fill a copy, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long, alias = "force", short_alias = 'f')]
    yes: bool,
    #[command(flatten)]
    database_args: DatabaseArgs,
}

impl SeedDb {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let project = self.database_args.project()?;
        let root = project.sources.root.clone();
        let seed = Seed::read(&root, self.source.as_deref())?;
        let failed = |error: std::io::Error| {
            Failure::failed(format!("cannot create a temporary file: {error}"))
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let draft = folder.path().join("draft.db");
        let remote = self.database_args.remote(printer)?;
        let has_rows = remote.is_some() || project.file.exists();
        if has_rows && !self.no_reset && !self.yes && !self.dry_run {
            if !prompt::is_interactive() {
                return Err(Failure::new(Code::Conflict, "this deletes all existing rows")
                    .hint("confirm it with --yes, or keep the rows with --no-reset"));
            }
            if !prompt::confirm("Delete all existing rows?", false)? {
                return Err(prompt::cancelled());
            }
        }
        match (&remote, self.no_reset) {
            (Some(remote), true) => remote.fetch(&draft)?,
            (None, true) if project.file.exists() => schema::restore(&project.file, &draft)?,
            _ => project.sources.make(&draft, SystemClock.now())?,
        }
        match seed {
            Seed::Sql(statements) => schema::fill(&draft, &statements)?,
            Seed::Module(bytes) => run(&root, bytes, &draft, printer)?,
        }
        if self.dry_run {
            printer.answer(|| "the seed fits the schema\n".to_owned(), || json!({ "fits": true }));
            return Ok(());
        }
        if let Some(remote) = remote {
            // Merges the write-ahead log, so that the draft is a single file.
            let whole = folder.path().join("whole.db");
            schema::restore(&draft, &whole)?;
            return remote.put(&whole, printer);
        }
        project.make_folder()?;
        project.back_up(printer)?;
        schema::restore(&draft, &project.file)?;
        printer.answer(String::new, || json!({ "file": project.file }));
        printer.done("seeded the database");
        Ok(())
    }
}

/// Runs a module in the backend runtime, with the database and the project's secrets.
fn run(root: &Path, bytes: Vec<u8>, database: &Path, printer: &Printer) -> Result {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::failed(format!("cannot create a temporary folder: {error}")))?;
    let workerd = workerd(root);
    let secrets: BTreeMap<_, _> = secrets_in(&root.join(ENV))?.unwrap_or_default();
    let worker = Worker {
        slug: "seed".to_owned(),
        version: "1".to_owned(),
        modules: vec![("seed.js".to_owned(), bytes)],
        main: "seed.js".to_owned(),
        compatibility_date: COMPATIBILITY_DATE.to_owned(),
        stores: BTreeMap::from([(Binding::Database, database.to_owned())]),
        secrets,
        ..Worker::default()
    };
    let settings = EngineSettings { workerd, ..EngineSettings::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::failed(format!("cannot start threads: {error}")))?;
    let clock = Arc::new(SystemClock);
    let lines = runtime.block_on(run_once(folder.path(), settings, clock, worker))?;
    for line in lines.iter().filter(|line| line.stream != LogStream::Engine) {
        printer.note(&line.text);
    }
    Ok(())
}
