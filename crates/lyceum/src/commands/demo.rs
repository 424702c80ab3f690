//! `lyceum demo`

use std::io::BufWriter;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lyceum_access::{limits, person};
use lyceum_core::time::{Clock, SystemClock};
use lyceum_demo::generate;
use lyceum_roster::csv::ExportContent;
use serde_json::json;

use super::export::whole;
use crate::failure::Result;
use crate::printer::{Printer, counted};
use crate::settings::{DataArgs, Missing, reached_at, record_change, write};

/// The administrator of a demo, whom `cargo xtask demo` creates.
const ADMINISTRATOR: &str = "demo@example.org";

#[derive(Subcommand)]
pub(crate) enum Demo {
    /// Generate a realistic school network as OneRoster CSV. The same seed gives the same bytes
    Generate(Generate),
    /// Print a link that signs the administrator of a demo in to the console, once, within 10 minutes
    Link(Link),
}

#[derive(Args)]
pub(crate) struct Link {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Generate {
    /// Number of students
    #[arg(long, value_name = "N", default_value_t = 500)]
    students: u64,
    /// Seed of the generator
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Include files that OneRoster does not define: components, lessons and assessments
    #[arg(long)]
    complete: bool,
    /// The zip file to write. An existing file is replaced
    #[arg(long, value_name = "FILE.zip")]
    out: PathBuf,
}

impl Demo {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Generate(generate) => generate.run(printer),
            Self::Link(link) => link.run(printer),
        }
    }
}

impl Link {
    fn run(self, printer: &Printer) -> Result {
        let (loaded, db) = self.data.open_loaded(Missing::Refuse)?;
        let now = SystemClock.now();
        let link = write(&db, move |tx| {
            let person = person::require(tx, ADMINISTRATOR)?;
            record_change(tx, now, "demo.link", &person.email)?;
            person::new_entry_link(tx, now, &person, limits::DEMO_LINK_LIFETIME_S)
        })?;
        let link = format!("{}/console/enter?link={link}", reached_at(&loaded, &db)?);
        printer.answer(|| format!("{link}\n"), || json!({ "link": link }));
        let minutes = limits::DEMO_LINK_LIFETIME_S / 60;
        printer.done(&format!(
            "with this link {ADMINISTRATOR} signs in, once, within {minutes} minutes"
        ));
        Ok(())
    }
}

impl Generate {
    fn run(self, printer: &Printer) -> Result {
        let Self { students, seed, complete, out } = self;
        let content = if complete { ExportContent::Complete } else { ExportContent::Standard };
        let bar = printer.progress("generating", 0);
        let summary = whole(&out, |file| {
            generate(students, seed, content, BufWriter::new(file), |name| {
                bar.set_message(name);
                bar.tick();
            })
        })?;
        bar.finish_and_clear();
        let rows: u64 = summary.files.iter().map(|(_, rows)| rows).sum();
        let file = out.display().to_string();
        let files: serde_json::Map<_, _> =
            summary.files.iter().map(|(name, rows)| ((*name).to_owned(), json!(rows))).collect();
        printer.answer(String::new, || json!({ "file": file, "rows": files }));
        let (students, rows) = (counted(students, "student"), counted(rows, "row"));
        printer.done(&format!("wrote a network of {students}, {rows}, to '{file}'"));
        Ok(())
    }
}
