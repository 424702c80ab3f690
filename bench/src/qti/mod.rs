//! `lyceum-bench qti`: what assessment content costs, in the library and over HTTP.

mod http;
mod library;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::machine::Machine;
use crate::report::Report;
use crate::roster::tools;

/// A choice item of 1.6 kB; its identifier is a verb of `load.lua`.
const ITEM: &str = include_str!("item.xml");

/// The item under a name.
pub(crate) fn item(identifier: &str) -> String {
    ITEM.replace("{id}", identifier)
}

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Seconds of each load
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Times that each pair is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// A short run: shows that everything works, measures little
    #[arg(long)]
    quick: bool,
    /// The library alone, without a server
    #[arg(long)]
    library: bool,
    /// The server's binary
    #[arg(long, default_value = "target/release/lyceum")]
    lyceum: PathBuf,
    /// Where databases go
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
}

impl Options {
    fn time(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { self.seconds })
    }

    fn rounds(&self) -> usize {
        if self.quick { 1 } else { self.rounds }
    }
}

/// Measures and reports. Errors: a tool is missing, or any request was not answered 2xx.
pub(crate) fn run(options: &Options) -> Result<()> {
    let machine = Machine::read()?;
    let mut report =
        Report { machine, sizes: [0, http::ITEMS], limits: Vec::new(), findings: Vec::new() };
    report.print_machine();
    report.add([library::reading(options)?, library::scoring(options)?]);
    std::fs::create_dir_all(&options.folder)?;
    if !options.library {
        tools::install()?;
        report.add(http::measure(options)?);
    }
    report.print_end();
    report.write(&options.folder.join("qti.json"))
}
