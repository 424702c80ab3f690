//! `lyceum standards`

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lyceum_api::limits;
use lyceum_core::Problem;
use lyceum_core::messages::io_reason;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_standards::repository::{self, Framework, PackageCounts, Reader, WriteOutcome};
use lyceum_standards::{Package, Shape, identifier};
use serde_json::json;

use super::export::whole;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::settings::{DataArgs, Missing, write};

#[derive(Subcommand)]
pub(crate) enum Standards {
    /// Import files with one CASE 1.0 or 1.1 package each. An existing framework is replaced
    Import(Import),
    /// Export a framework as a CASE 1.1 package
    Export(Export),
    /// List the frameworks
    List(List),
    /// Let everybody read a framework, without a token
    Publish(One),
    /// Require a token to read a framework
    Unpublish(One),
}

#[derive(Args)]
pub(crate) struct Import {
    /// Files with one package each
    #[arg(required = true, value_name = "FILE.json")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Export {
    /// Identifier of the framework
    #[arg(value_name = "ID")]
    id: String,
    /// Write to this file instead of standard output. An existing file is replaced
    #[arg(short, long, value_name = "FILE.json")]
    output: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct One {
    /// Identifier of the framework
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    data: DataArgs,
}

impl Standards {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Import(import) => import.run(printer),
            Self::Export(export) => export.run(printer),
            Self::List(list) => list.run(printer),
            Self::Publish(one) => one.publish(printer, true),
            Self::Unpublish(one) => one.publish(printer, false),
        }
    }
}

impl Import {
    /// Reads one file at a time. If a file is rejected, the files before it stay imported.
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Make)?;
        let bar = printer.progress("importing", self.files.len() as u64);
        for file in &self.files {
            bar.set_message(file.display().to_string());
            let package = read(file)?;
            let document = package.document.clone();
            let stored =
                db.write_blocking(|tx| repository::upsert(tx, SystemClock.now(), &package));
            let (became, stats) = stored.map_err(|problem| refused(file, problem))?;
            bar.inc(1);
            let (id, title) = (document.record.id, document.title);
            bar.suspend(|| {
                printer.item(
                    || format!("{} {id} '{title}': {}", outcome_word(became), both(stats)),
                    || json!({ "id": id, "title": title, "written": outcome_word(became), "stats": stats }),
                );
            });
        }
        bar.finish_and_clear();
        let (many, s) = (self.files.len(), if self.files.len() == 1 { "" } else { "s" });
        printer.done(&format!("imported {many} framework{s}"));
        Ok(())
    }
}

fn outcome_word(became: WriteOutcome) -> &'static str {
    match became {
        WriteOutcome::Created => "created",
        WriteOutcome::Replaced | WriteOutcome::Unchanged => "replaced",
    }
}

fn both(stats: PackageCounts) -> String {
    [counted(stats.items, "item"), counted(stats.associations, "association")].join(", ")
}

/// Reads and checks a file.
fn read(file: &Path) -> Result<Package> {
    let name = file.display();
    let unreadable = |error: std::io::Error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound {
            Code::NotFound
        } else {
            Code::Failed
        };
        Failure::new(code, format!("'{name}' cannot be read: {}", io_reason(&error)))
    };
    let bytes = fs::metadata(file).map_err(unreadable)?.len();
    let most = limits::CASE_PACKAGE_MAX_BYTES;
    if usize::try_from(bytes).map_or(true, |bytes| bytes > most) {
        let message =
            format!("'{name}' is too large: it has {bytes} bytes, and the limit is {most}");
        return Err(Failure::failed(message));
    }
    let text = fs::read_to_string(file).map_err(unreadable)?;
    Package::read(&text).map_err(|problem| refused(file, problem))
}

/// Why a file was rejected, with its errors.
fn refused(file: &Path, problem: Problem) -> Failure {
    let mut failure = Failure::from(problem);
    failure.message = format!("'{}': {}", file.display(), failure.message);
    failure
}

/// Exports only what the standard defines.
fn reader() -> Reader {
    Reader { shape: Shape::V1p1, public_only: false, packages: String::new() }
}

impl Export {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let id = identifier(&self.id)?;
        let mut text = String::from("{");
        db.read_blocking(|tx| repository::write_package(tx, &reader(), &id, &mut text))?;
        text.push_str("}\n");
        let Some(out) = &self.output else {
            printer.text(&text);
            return Ok(());
        };
        whole(out, |mut file| file.write_all(text.as_bytes()).map_err(Problem::internal))?;
        let file = out.display().to_string();
        printer.answer(String::new, || json!({ "file": file, "bytes": text.len() }));
        printer.done(&format!("exported '{id}' to '{file}'"));
        Ok(())
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let found = db.read_blocking(repository::frameworks)?;
        printer.answer(|| framework_table(&found), || json!(found));
        Ok(())
    }
}

fn framework_table(frameworks: &[Framework]) -> String {
    let rows: Vec<Vec<String>> = frameworks
        .iter()
        .map(|one| {
            let public = if one.public { "public" } else { "" };
            vec![
                one.id.clone(),
                one.items.to_string(),
                one.associations.to_string(),
                public.to_owned(),
                one.title.clone(),
            ]
        })
        .collect();
    table(&["id", "items", "associations", "open", "title"], &rows)
}

impl One {
    fn publish(self, printer: &Printer, is_public: bool) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let id = identifier(&self.id)?;
        let named = id.clone();
        write(&db, move |tx| repository::publish(tx, SystemClock.now(), &named, is_public))?;
        printer.answer(String::new, || json!({ "id": id, "public": is_public }));
        let readers = if is_public { "everybody can read it" } else { "reading it needs a token" };
        printer.done(&format!("'{id}': {readers}"));
        Ok(())
    }
}
